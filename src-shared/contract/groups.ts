/**
 * The groups of a grouped product (the experts of a layer): each has rows of A and C, and a matrix of B of its own. One
 * definition for jobs, steps, shapes, files and the engine; native/core/groups.h has the same.
 */
import * as v from 'valibot'
import { counted } from '../units'

/**
 * Where the rows of a group stand in A and C:
 * 'contiguous': one segment after the other, each begun at a multiple of `alignment`; the rows behind a group up to the next
 *   segment are padding (DeepGEMM's row index holds -1 there);
 * 'masked': group g has the rows from g * maxRows on, of which the first `rows[g]` count (for CUDA graphs);
 * 'offsets': one behind the other without padding, told by their cumulative ends (torch's grouped_mm).
 */
export const groupLayouts = ['contiguous', 'masked', 'offsets'] as const
export type GroupLayout = (typeof groupLayouts)[number]

export const mostGroups = 4096
/** Of segments, where nothing else is said: what DeepGEMM's kernels of sm_90 want. */
export const usualAlignment = 128
const mostRows = 1_048_576
const rowCount = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(mostRows))

export const groupsSchema = v.pipe(
  v.strictObject({
    layout: v.picklist(groupLayouts),
    /** Rows of each group; 0 for an empty one. */
    rows: v.pipe(v.array(rowCount), v.minLength(1), v.maxLength(mostGroups)),
    alignment: v.optional(v.pipe(rowCount, v.minValue(1)), usualAlignment),
    /** Rows that a masked group has room for; 0: as many as the largest has. */
    maxRows: v.optional(rowCount, 0)
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && problemOfGroups(settled(dataset.value))
    if (message) addIssue({ message })
  }),
  v.transform(settled)
)

export interface Groups {
  layout: GroupLayout
  rows: number[]
  alignment: number
  maxRows: number
}

/** What another layout has no use for stands as nothing, so that equal groups are equal. */
function settled({ layout, rows, alignment, maxRows }: Groups): Groups {
  return {
    ...{ layout, rows },
    alignment: layout === 'contiguous' ? alignment : 1,
    maxRows: layout === 'masked' ? maxRows || Math.max(...rows) : 0
  }
}

/** What is wrong with groups, in a sentence; undefined: nothing. */
function problemOfGroups(groups: Groups): string | undefined {
  const { layout, rows, maxRows } = groups
  const over = layout === 'masked' ? rows.findIndex((count) => count > maxRows) : -1
  if (over >= 0)
    return `group ${over} has ${counted(rows[over]!, 'row')}, and a masked group has room for ${maxRows}`
  if (rows.every((count) => count === 0)) return 'none of the groups has a row'
  const { total } = segmentsOf(groups)
  if (total > mostRows)
    return `the groups have ${total} rows together; at most ${mostRows} are taken`
  return undefined
}

export interface Segment {
  /** Among the rows of A and C. */
  firstRow: number
  rows: number
}

/** Where each group stands, and how many rows A and C have with their padding. */
export function segmentsOf({ layout, rows, alignment, maxRows }: Groups): {
  segments: Segment[]
  total: number
} {
  let total = 0
  const segments = rows.map((count) => {
    const segment = { firstRow: total, rows: count }
    if (layout === 'contiguous') total += Math.ceil(count / alignment) * alignment
    else total += layout === 'masked' ? maxRows : count
    return segment
  })
  return { segments, total }
}

/** M of a grouped product. */
export const rowsOfAll = (groups: Groups): number => segmentsOf(groups).total

/** Rows that are multiplied: padding is none of them. */
export const rowsMultiplied = ({ rows }: Groups): number =>
  rows.reduce((sum, count) => sum + count, 0)

/** '4x8192, 17, 0': rows of one number after another put together. */
export function groupRowsText(rows: readonly number[]): string {
  const runs: { rows: number; times: number }[] = []
  for (const count of rows) {
    const last = runs.at(-1)
    if (last?.rows === count) last.times++
    else runs.push({ rows: count, times: 1 })
  }
  return runs.map(({ rows: count, times }) => (times > 1 ? `${times}x${count}` : count)).join(',')
}

/** The rows of each group as a person writes them, '2x300,0,17'; undefined for what is none, or too many. */
export function parseGroupRows(text: string): number[] | undefined {
  const rows: number[] = []
  const words = text.split(/[\s,;]+/).filter(Boolean)
  for (const word of words) {
    const [, times = '1', count] = /^(?:(\d+)[xX])?(\d+)$/.exec(word) ?? []
    if (count === undefined || rows.length + Number(times) > mostGroups) return undefined
    rows.push(...Array.from({ length: Number(times) }, () => Number(count)))
  }
  return rows.length > 0 ? rows : undefined
}

const mostShown = 6

/** '4 groups of 8192 rows, contiguous', '3 groups, 20 rows of 120, masked' */
export function groupsText(groups: Groups): string {
  const { layout, rows, alignment } = groups
  const isEven = rows.every((count) => count === rows[0])
  const words = groupRowsText(rows)
  const of = isEven
    ? ` of ${counted(rows[0]!, 'row')}`
    : words.split(',').length <= mostShown
      ? ` of ${words.replaceAll(',', ', ')} rows`
      : `, ${rowsMultiplied(groups)} rows in all`
  const aligned = layout === 'contiguous' && alignment !== usualAlignment ? ` in ${alignment}s` : ''
  return `${counted(rows.length, 'group')}${of}, ${layout}${aligned}`
}

/** What tells products of one format apart: extents, and groups, which may differ at the same extents. */
export const shapeKey = ({ m, n, k, groups }: Shaped): string =>
  [m, n, k, ...(groups ? [JSON.stringify(groups)] : [])].join(' ')

/** What is multiplied; with groups, M is their rows with padding. */
export interface Shaped {
  m: number
  n: number
  k: number
  groups?: Groups | undefined
}
