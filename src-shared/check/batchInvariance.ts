/** Whether a row of C depends on which other rows it was computed with: equal rows of A and one B have to give equal bits. */
import { scaleCount } from '../formats/blockFormat'
import { codeBytes } from '../formats/numberFormat'
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
  const rows = rowsByHash(one)
  const { n } = one
  let [count, differ, first] = [0, 0, '']
  for (let row = 0; row < other.m; row++) {
    const known = rows
      .get(hashOf(other, row))
      ?.find((candidate) => isSameInput(one, candidate, other, row))
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

/** Rows in order, by a hash of their codes and scales: a row itself would be as large a key as A has bytes. */
function rowsByHash(dump: Dump): Map<number, number[]> {
  const rows = new Map<number, number[]>()
  for (let row = 0; row < dump.m; row++) {
    const hash = hashOf(dump, row)
    const alike = rows.get(hash)
    if (alike) alike.push(row)
    else rows.set(hash, [row])
  }
  return rows
}

/** Codes and scales of a row of A. */
function inputOf({ whole, k, format }: Dump, row: number): Uint8Array[] {
  const [bytes, scales] = [k * codeBytes(format.a), scaleCount(format, 'a', 1, k)]
  const { aCodes, aScales } = whole!.operands
  return [
    aCodes.subarray(row * bytes, (row + 1) * bytes),
    aScales.subarray(row * scales, (row + 1) * scales)
  ]
}

/** FNV-1a of 32 bits (draft-eastlake-fnv). */
function hashOf(dump: Dump, row: number): number {
  let hash = 0x811c9dc5
  for (const bytes of inputOf(dump, row))
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}

function isSameInput(one: Dump, row: number, other: Dump, otherRow: number): boolean {
  const wanted = inputOf(other, otherRow)
  return inputOf(one, row).every((bytes, at) => isSame(bytes, wanted[at]!))
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
