/** Whether a row of C depends on which other rows it was computed with: equal rows of A and one B have to give equal bits. */
import { counted } from '../units'
import type { Dump } from './dump'

export interface InvarianceReport {
  /** Paths of the dumps; one path where both rows are in one. */
  between: string[]
  rows: number
  /** Rows whose bits differ. */
  differ: number
  sentence: string
}

/** Of every two dumps that have one B and rows of A in common, and of equal rows within one. */
export function batchInvariance(dumps: readonly Dump[]): InvarianceReport[] {
  const known = dumps.filter(({ whole, batch }) => whole && batch.length === 0)
  return known.flatMap((one, at) =>
    known.slice(at).flatMap((other) => (isSameB(one, other) ? compare(one, other) : []))
  )
}

function isSameB(one: Dump, other: Dump): boolean {
  const [a, b] = [one.whole!.operands, other.whole!.operands]
  return (
    one.format === other.format &&
    one.output === other.output &&
    a.n === b.n &&
    a.k === b.k &&
    (a.tensorScaleA ?? 1) * (a.tensorScaleB ?? 1) ===
      (b.tensorScaleA ?? 1) * (b.tensorScaleB ?? 1) &&
    !a.accumulator &&
    !b.accumulator &&
    isSame(a.bCodes, b.bCodes) &&
    isSame(a.bScales, b.bScales)
  )
}

const isSame = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

function compare(one: Dump, other: Dump): InvarianceReport[] {
  const rows = rowsByContent(one)
  const { n } = one
  let [count, differ, first] = [0, 0, '']
  for (let row = 0; row < other.m; row++) {
    const known = rows.get(contentOf(other, row))
    if (known === undefined || (one === other && known === row)) continue
    count++
    if (isSameRow(one.whole!.product, known * n, other.whole!.product, row * n, n)) continue
    first ||= one === other ? `rows ${known} and ${row}` : `row ${row}`
    differ++
  }
  if (count === 0) return []
  const between = [...new Set([one.path, other.path])]
  const where = between.map((path) => path.split(/[/\\]/).at(-1)).join(' and ')
  const sentence =
    differ === 0
      ? `${where}: ${counted(count, 'row')} of A that both have, with equal bits in C.`
      : `${where}: not batch-invariant: ${differ} of ${counted(count, 'row')} that A has twice differ in C, the first of them ${first}.`
  return [{ between, rows: count, differ, sentence }]
}

/** The first row of each content. */
function rowsByContent(dump: Dump): Map<string, number> {
  const rows = new Map<string, number>()
  for (let row = dump.m - 1; row >= 0; row--) rows.set(contentOf(dump, row), row)
  return rows
}

function contentOf({ whole, k, format }: Dump, row: number): string {
  const blocks = k / format.scaleBlockSize
  const { aCodes, aScales } = whole!.operands
  const codes = aCodes.subarray(row * k, (row + 1) * k)
  return `${codes.join()};${aScales.subarray(row * blocks, (row + 1) * blocks).join()}`
}

function isSameRow(
  one: Float64Array,
  at: number,
  other: Float64Array,
  otherAt: number,
  n: number
): boolean {
  for (let column = 0; column < n; column++)
    if (!Object.is(one[at + column], other[otherAt + column])) return false
  return true
}
