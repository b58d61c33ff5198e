/** Reading a part of a block-scaled weight: values, and how often each code and scale occurs. */
import { UserError } from '../errors'
import { decodeTable } from '../formats/numberFormat'
import { unpackFp4 } from '../formats/pack'
import type { TensorEntry } from '../formats/safetensors'
import { paddedSize, unpackScales } from '../layouts/layout'
import { matrixCount, rowBytes, type BlockScaledWeight } from './conventions'

/** Bytes from..to of a tensor. */
export type ReadTensor = (tensor: TensorEntry, from: number, to: number) => Uint8Array

export interface SliceRange {
  /** Which matrix along the leading extents, counted in row-major order. */
  matrix: number
  rowFrom: number
  rowTo: number
  kFrom: number
  kTo: number
}

export interface WeightSlice {
  /** (rowTo - rowFrom, kTo - kFrom), row-major. */
  values: Float64Array
  tensorScale: number
  /** How often each element code and each scale code occurs in the slice. */
  codeCounts: Uint32Array
  scaleCounts: Uint32Array
}

/** What values are multiplied by: the tensor's own scale or its reciprocal, 1 where there is none. */
export function readTensorScale(weight: BlockScaledWeight, read: ReadTensor): number {
  if (!weight.tensorScale) return 1
  const bytes = read(weight.tensorScale, 0, 4)
  const stored = new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true)
  return weight.convention.tensorScaleUse === 'divide' ? 1 / stored : stored
}

/** Linear scales (rows, K / V) of one matrix. */
export function readScales(
  weight: BlockScaledWeight,
  matrix: number,
  read: ReadTensor
): Uint8Array {
  const shape = { rows: weight.rows, columns: weight.k / weight.convention.scaleBlockSize }
  const size = paddedSize(weight.layout, shape.rows, shape.columns)
  const packed = read(weight.scales, matrix * size, (matrix + 1) * size)
  return unpackScales(weight.layout, shape, packed)
}

/** Linear scales of some rows; only a layout that mixes rows needs the whole matrix for them. */
function readRowScales(
  weight: BlockScaledWeight,
  { matrix, rowFrom, rowTo }: SliceRange,
  read: ReadTensor
): Uint8Array {
  const perRow = weight.k / weight.convention.scaleBlockSize
  if (weight.layout.name !== 'linear') {
    return readScales(weight, matrix, read).subarray(rowFrom * perRow, rowTo * perRow)
  }
  const start = matrix * weight.rows
  return read(weight.scales, (start + rowFrom) * perRow, (start + rowTo) * perRow)
}

/** Throws a UserError for a range outside the weight. */
export function readSlice(
  weight: BlockScaledWeight,
  range: SliceRange,
  read: ReadTensor
): WeightSlice {
  const { matrix, rowFrom, rowTo, kFrom, kTo } = range
  within(weight, 'Matrix', matrix, matrix + 1, matrixCount(weight))
  within(weight, 'Row', rowFrom, rowTo, weight.rows)
  within(weight, 'Column', kFrom, kTo, weight.k)
  const { element, scale, scaleBlockSize } = weight.convention
  const scales = readRowScales(weight, range, read)
  const tensorScale = readTensorScale(weight, read)
  const elementValues = decodeTable(element)
  const scaleValues = decodeTable(scale)
  const scalesPerRow = weight.k / scaleBlockSize
  const width = kTo - kFrom
  const slice: WeightSlice = {
    values: new Float64Array((rowTo - rowFrom) * width),
    tensorScale,
    codeCounts: new Uint32Array(2 ** element.storageBits),
    scaleCounts: new Uint32Array(256)
  }
  const bytes = rowBytes(weight)
  for (let row = rowFrom; row < rowTo; row++) {
    const start = (matrix * weight.rows + row) * bytes
    const stored = read(weight.codes, start, start + bytes)
    const codes = element.storageBits === 4 ? unpackFp4(stored) : stored
    for (let k = kFrom; k < kTo; k++) {
      const scaleCode = scales[(row - rowFrom) * scalesPerRow + Math.floor(k / scaleBlockSize)]!
      if (k === kFrom || k % scaleBlockSize === 0) slice.scaleCounts[scaleCode]!++
      slice.codeCounts[codes[k]!]!++
      const value = elementValues[codes[k]!]! * (scaleValues[scaleCode] ?? NaN) * tensorScale
      slice.values[(row - rowFrom) * width + k - kFrom] = value
    }
  }
  return slice
}

function within(
  { name }: BlockScaledWeight,
  what: string,
  from: number,
  to: number,
  limit: number
): void {
  if (from >= 0 && from < to && to <= limit) return
  throw new UserError(
    'usage',
    `${what} ${from} to ${to} lies outside "${name}", which has 0 to ${limit}.`
  )
}
