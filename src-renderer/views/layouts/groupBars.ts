/** Scales of groups as bars along memory: where each begins, and where it would were all of them padded once. */
import { parseGroupRows } from '@shared/contract/groups'
import { groupScales, type GroupScales } from '@shared/layouts/groups'
import type { ScaleLayout } from '@shared/layouts/layout'

/** More are neither told apart as bars nor read as rows. */
export const mostGroupBars = 64
const mostRows = 1_048_576

export interface GroupBar extends GroupScales {
  group: number
  /** Shares of the whole, 0..1. */
  left: number
  width: number
  /** Where a kernel that pads once looks for its first scale; undefined where that is where it is. */
  once: number | undefined
}

/** '': nothing is typed. */
export function groupBars(
  typed: string,
  layout: ScaleLayout,
  columns: number
): { bars: GroupBar[]; bytes: number; problem?: string } {
  const none = { bars: [], bytes: 0 }
  if (typed.trim() === '') return none
  const rows = parseGroupRows(typed)
  if (!rows || rows.length > mostGroupBars || rows.some((count) => count > mostRows))
    return {
      ...none,
      problem: `Rows of up to ${mostGroupBars} groups are needed, such as 4, 4 or 2x300, 17.`
    }
  if (rows.every((count) => count === 0))
    return { ...none, problem: 'None of the groups has a row.' }
  const found = groupScales(layout, rows, columns)
  const last = found.at(-1)!
  const bytes = last.firstByte + last.bytes
  const bars = found.map((one, group): GroupBar => {
    const { firstByte, onceByte } = one
    const isElsewhere = onceByte !== undefined && onceByte !== firstByte
    return {
      ...{ ...one, group, left: firstByte / bytes, width: one.bytes / bytes },
      once: isElsewhere ? onceByte / bytes : undefined
    }
  })
  return { bars, bytes }
}
