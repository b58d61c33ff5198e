/** The scale of a whole tensor, or one for each matrix of it, beside the scales of its blocks. */
import { decodeFloats } from '../formats/floatTensor'
import type { ReadTensor } from './arrangement'
import type { TensorScaleUse } from './convention'
import type { BlockScaledWeight } from './conventions'

/** Largest e2m1 times largest e4m3: what TransformerEngine divides the largest magnitude by. */
const largestNvfp4 = 6 * 448

/** What values are multiplied by, from what is stored. */
export function factorOf(use: TensorScaleUse, stored: number): number {
  if (use === 'divide') return 1 / stored
  return use === 'amax' ? stored / largestNvfp4 : stored
}

/** The float32 to store. */
export function storedOf(use: TensorScaleUse, factor: number): number {
  if (use === 'divide') return Math.fround(1 / factor)
  return Math.fround(use === 'amax' ? factor * largestNvfp4 : factor)
}

/** The factor that a reader finds when it is stored in float32. */
export const asRead = (use: TensorScaleUse, factor: number) => factorOf(use, storedOf(use, factor))

/** Factors of the matrices: one for all, or one for each. 1 where the weight has none. */
export function readTensorScales(weight: BlockScaledWeight, read: ReadTensor): number[] {
  const { tensorScale, convention } = weight
  if (!tensorScale) return [1]
  const bytes = read(tensorScale, 0, tensorScale.end - tensorScale.start)
  const stored = decodeFloats(tensorScale.dtype, bytes)
  return Array.from(stored, (value) => factorOf(convention.tensorScaleUse!, value))
}

/** The factor of one matrix. */
export function tensorScaleAt(factors: readonly number[], matrix: number): number {
  return factors.length === 1 ? factors[0]! : factors[matrix]!
}

export function storedBytes(use: TensorScaleUse, factors: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(factors, (factor) => storedOf(use, factor)).buffer)
}
