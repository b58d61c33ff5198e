/** Rows of a block-scaled weight as real numbers, spread over it: values to study, as those of a tensor of real numbers. */
import { sampledRows, type TensorSample } from '../formats/floatTensor'
import type { ReadTensor } from './arrangement'
import { matrixCount, type BlockScaledWeight } from './conventions'
import { readSlice } from './slice'

export interface WeightSamplePlan {
  weight: BlockScaledWeight
  k: number
  rows: { matrix: number; row: number }[]
}

/** Throws a UserError for a weight without whole blocks along K. */
export function planWeightSample(weight: BlockScaledWeight): WeightSamplePlan {
  const { rows, k } = sampledRows(weight.name, matrixCount(weight) * weight.rows, weight.k)
  return {
    weight,
    k,
    rows: rows.map((row) => ({ matrix: Math.floor(row / weight.rows), row: row % weight.rows }))
  }
}

/** The values of one of its rows, (k). */
export function readSampledRow(
  { weight, k }: WeightSamplePlan,
  { matrix, row }: WeightSamplePlan['rows'][number],
  read: ReadTensor
): Float64Array {
  const range = { matrix, rowFrom: row, rowTo: row + 1, kFrom: 0, kTo: k }
  return readSlice(weight, range, read).values
}

/** The sample, from its rows in order. */
export function weightSample(
  { weight, k }: WeightSamplePlan,
  rows: readonly Float64Array[]
): TensorSample {
  const values = new Float64Array(rows.length * k)
  rows.forEach((row, at) => values.set(row, at * k))
  const ofRows = matrixCount(weight) * weight.rows
  return { name: weight.name, values, rows: rows.length, k, ofRows, ofK: weight.k }
}
