/** A sample of C, compared with what a reading of the operands gives there. */
import { roundingOf, type Rounding } from '../layouts/detectRounding'
import type { Finish } from './finish'
import type { Mistake } from './mistakes'
import { readRow, type OperandReading } from './operandReading'

export type Product = Float64Array | Float32Array

export interface Sample {
  rows: readonly number[]
  columns: readonly number[]
}

/** A mistake is named when it gives this share of a sample; the sums themselves may stray a little. */
export const enough = 0.97

/** One element of the sample: what C holds and what exact arithmetic gives. */
export interface Compared {
  row: number
  column: number
  found: number
  exact: number
  /** Sum of the |terms| of `exact`. */
  magnitude: number
}

export interface ResultToJudge {
  product: Product
  n: number
  rounding: Rounding
}

/** `output`: the type that C is known to be of; absent: as its values are. */
export const resultToJudge = (
  product: Product,
  n: number,
  k: number,
  output?: string
): ResultToJudge => ({
  ...{ product, n },
  rounding: roundingOf(product, k, output)
})

/** Each element of the sample that the reading can say; those whose row or column leaves the operand's memory are left out. */
export function compareSample(
  { a, b, writtenAt }: Pick<Mistake, 'a' | 'b' | 'writtenAt'>,
  { product, n }: ResultToJudge,
  { rows, columns }: Sample,
  { factor, outputScale, accumulatorAt }: Finish
): Compared[] {
  const left = readRows(a, rows)
  const right = readRows(b, columns)
  const compared: Compared[] = []
  for (const [row, ofA] of left) {
    for (const [column, ofB] of right) {
      let sum = 0
      let magnitude = 0
      for (let k = 0; k < ofA.length; k++) {
        const term = ofA[k]! * ofB[k]!
        sum += term
        magnitude += Math.abs(term)
      }
      const found = product[writtenAt?.(row, column) ?? row * n + column]!
      const added = accumulatorAt?.(row, column) ?? 0
      const exact = outputScale * (factor * sum + added)
      const size = Math.abs(outputScale) * (Math.abs(factor) * magnitude + Math.abs(added))
      compared.push({ row, column, found, exact, magnitude: size })
    }
  }
  return compared
}

function readRows(reading: OperandReading, rows: readonly number[]): Map<number, Float64Array> {
  const read = rows.map((row) => [row, readRow(reading, row)] as const)
  return new Map(read.filter((entry): entry is [number, Float64Array] => entry[1] !== undefined))
}

/** Share of the elements that agree within rounding, 0..1; 0 for none. */
export function agreement(compared: readonly Compared[], { rounding }: ResultToJudge): number {
  const agreeing = compared.filter(({ found, exact, magnitude }) =>
    rounding.agrees(found, exact, magnitude)
  )
  return compared.length === 0 ? 0 : agreeing.length / compared.length
}

/** `count` indices below `extent`: both ends, and between them steps that fall on odd and even, early and late ones. */
export function spread(extent: number, count: number): number[] {
  if (extent <= count) return Array.from({ length: extent }, (_, i) => i)
  const step = (extent - 1) / (count - 1)
  const indices = Array.from({ length: count }, (_, i) =>
    Math.min(extent - 1, Math.round(i * step))
  )
  return [...new Set(indices)]
}
