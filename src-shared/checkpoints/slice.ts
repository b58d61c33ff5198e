/** Reading a part of a block-scaled weight: values, and how often each code and scale occurs. */
import { UserError } from '../errors'
import { decodeTable } from '../formats/numberFormat'
import { unpackFp4 } from '../formats/pack'
import { readCodes, readRowScales, type ReadTensor } from './arrangement'
import { matrixCount, rowBytes, type BlockScaledWeight } from './conventions'
import { readTensorScales, tensorScaleAt } from './tensorScale'

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
  const scales = readRowScales(weight, matrix, rowFrom, rowTo, read)
  const tensorScale = tensorScaleAt(readTensorScales(weight, read), matrix)
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
  const stored = readCodes(weight, matrix, rowFrom, rowTo, read)
  for (let row = rowFrom; row < rowTo; row++) {
    const ofRow = stored.subarray((row - rowFrom) * bytes, (row - rowFrom + 1) * bytes)
    const codes = element.storageBits === 4 ? unpackFp4(ofRow) : ofRow
    for (let k = kFrom; k < kTo; k++) {
      const scaleCode = scales[(row - rowFrom) * scalesPerRow + Math.floor(k / scaleBlockSize)]!
      if (k === kFrom || k % scaleBlockSize === 0) slice.scaleCounts[scaleCode]!++
      // Of a code of six bits in a byte the upper two say nothing.
      const code = codes[k]! & (slice.codeCounts.length - 1)
      slice.codeCounts[code]!++
      const value = elementValues[code]! * (scaleValues[scaleCode] ?? NaN) * tensorScale
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
