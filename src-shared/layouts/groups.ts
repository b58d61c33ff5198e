/**
 * Scales of A in groups (the experts of a layer), as layouts that pad have them: each group padded on its own, one after the
 * other, so that where one begins depends on the rows of every group before it. A kernel that takes them to be padded once
 * for all looks elsewhere (flashinfer#3562).
 */
import { packedMap, packedOffset, paddedSize, type ScaleLayout, type ScaleShape } from './layout'

export interface GroupScales {
  /** Among the rows of all groups, without padding. */
  firstRow: number
  rows: number
  /** Where its packed scales begin, and how many bytes they take. */
  firstByte: number
  bytes: number
  /** Where its first scale would lie, were the rows of all groups padded once; undefined for an empty group. */
  onceByte: number | undefined
}

/** `groups`: the rows of each; `columns`: K / V. */
export function groupScales(
  layout: ScaleLayout,
  groups: readonly number[],
  columns: number
): GroupScales[] {
  const all = { rows: groups.reduce((sum, rows) => sum + rows, 0), columns }
  let [firstRow, firstByte] = [0, 0]
  return groups.map((rows) => {
    const bytes = rows === 0 ? 0 : paddedSize(layout, rows, columns)
    const onceByte = rows === 0 ? undefined : packedOffset(layout, all, firstRow, 0)
    const found = { firstRow, rows, firstByte, bytes, onceByte }
    firstRow += rows
    firstByte += bytes
    return found
  })
}

/**
 * For every packed position the index row * columns + column of its scale among the rows of all groups, -1 for padding.
 * `mapOf`: how one group is packed; undefined from it where it cannot be.
 */
export function groupedMap(
  groups: readonly number[],
  columns: number,
  mapOf: (shape: ScaleShape) => Int32Array | undefined
): Int32Array | undefined {
  const parts: Int32Array[] = []
  let firstRow = 0
  for (const rows of groups) {
    if (rows === 0) continue
    const first = firstRow * columns
    const own = mapOf({ rows, columns })
    if (!own) return undefined
    parts.push(own.map((index) => (index < 0 ? -1 : first + index)))
    firstRow += rows
  }
  const map = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    map.set(part, at)
    at += part.length
  }
  return map
}

/** The layout with each group padded on its own. */
export const groupedLayoutMap = (
  layout: ScaleLayout,
  groups: readonly number[],
  columns: number
): Int32Array => groupedMap(groups, columns, (shape) => packedMap(layout, shape))!
