/** Where the values of a weight are: real numbers, or block-scaled tensors. */
import { isFloatTensor } from '../formats/floatTensor'
import type { TensorEntry } from '../formats/safetensors'
import { rowBytes, type BlockScaledWeight } from './conventions'

/** A weight, whatever its values are stored as. */
export interface WeightSource {
  name: string
  /** Extents before the rows. */
  leading: readonly number[]
  rows: number
  k: number
  stored: { real: TensorEntry } | { blocks: BlockScaledWeight }
}

export function weightSource(blocks: BlockScaledWeight): WeightSource {
  const { name, leading, rows, k } = blocks
  return { name, leading, rows, k, stored: { blocks } }
}

export const floatSuffix = '.weight'

/** A matrix X.weight of F64, F32, F16 or BF16 with whole blocks along K, as the weight X; undefined for all else. */
export function floatSource(tensor: TensorEntry, scaleBlockSize: number): WeightSource | undefined {
  return tensor.name.endsWith(floatSuffix)
    ? floatMatrix(tensor, tensor.name.slice(0, -floatSuffix.length), scaleBlockSize)
    : undefined
}

/** The same for a tensor of any name, which stands for the weight `name`. */
export function floatMatrix(
  tensor: TensorEntry,
  name: string,
  scaleBlockSize: number
): WeightSource | undefined {
  const { shape } = tensor
  const k = shape.at(-1) ?? 0
  const fits = shape.length >= 2 && k % scaleBlockSize === 0
  if (!isFloatTensor(tensor) || !fits) return undefined
  return { name, leading: shape.slice(0, -2), rows: shape.at(-2)!, k, stored: { real: tensor } }
}

/** Rows of all matrices. */
export function totalRows({ leading, rows }: Pick<WeightSource, 'leading' | 'rows'>): number {
  return leading.reduce((product, extent) => product * extent, rows)
}

/** Bytes that hold one row's values in the plain form, scales left out. */
export function bytesPerRow({ stored, leading, rows }: WeightSource): number {
  if ('blocks' in stored) return rowBytes(stored.blocks)
  return (stored.real.end - stored.real.start) / totalRows({ leading, rows })
}
