/**
 * Weights in another format: values are decoded and quantised anew, some rows at a time. What that loses is measured on
 * the result, by `conversionError`.
 */
import { UserError } from '../errors'
import { decodeFloats, isFloatTensor } from '../formats/floatTensor'
import { packFp4 } from '../formats/pack'
import {
  finiteMaximum,
  nvfp4RuleFor,
  nvfp4TensorScale,
  quantizeMx,
  quantizeNvfp4,
  type ScaleRule
} from '../formats/quantize'
import type { TensorEntry } from '../formats/safetensors'
import { packScales, paddedShape, type ScaleLayout } from '../layouts/layout'
import type { BlockScaledWeight, Convention } from './conventions'
import { codesShape, type ConvertedTensor } from './convert'
import { readSlice, type ReadTensor } from './slice'

/** The values of a weight, whatever they are stored as. */
export interface WeightSource {
  name: string
  leading: readonly number[]
  rows: number
  k: number
  /** Values (rowTo - rowFrom, k) of one matrix along the leading extents, row-major. */
  readRows(matrix: number, rowFrom: number, rowTo: number): Float64Array
}

export function weightSource(weight: BlockScaledWeight, read: ReadTensor): WeightSource {
  const { name, leading, rows, k } = weight
  return {
    name,
    leading,
    rows,
    k,
    readRows: (matrix, rowFrom, rowTo) =>
      readSlice(weight, { matrix, rowFrom, rowTo, kFrom: 0, kTo: k }, read).values
  }
}

export const floatSuffix = '.weight'

/** A matrix X.weight of F64, F32, F16 or BF16 with whole blocks along K, as the weight X; undefined for all else. */
export function floatSource(
  tensor: TensorEntry,
  scaleBlockSize: number,
  read: ReadTensor
): WeightSource | undefined {
  return tensor.name.endsWith(floatSuffix)
    ? floatMatrix(tensor, tensor.name.slice(0, -floatSuffix.length), scaleBlockSize, read)
    : undefined
}

/** The same for a tensor of any name, which stands for the weight `name`. */
export function floatMatrix(
  tensor: TensorEntry,
  name: string,
  scaleBlockSize: number,
  read: ReadTensor
): WeightSource | undefined {
  const { shape, start, end } = tensor
  const k = shape.at(-1) ?? 0
  const fits = shape.length >= 2 && k % scaleBlockSize === 0
  if (!isFloatTensor(tensor) || !fits) return undefined
  const rows = shape.at(-2)!
  const leading = shape.slice(0, -2)
  const rowBytes = (end - start) / (rows * countOf(leading))
  return {
    name,
    leading,
    rows,
    k,
    readRows: (matrix, rowFrom, rowTo) => {
      const first = matrix * rows
      return decodeFloats(
        tensor.dtype,
        read(tensor, (first + rowFrom) * rowBytes, (first + rowTo) * rowBytes)
      )
    }
  }
}

const countOf = (leading: readonly number[]) => leading.reduce((product, n) => product * n, 1)

/** Values that are decoded at once. */
const chunkValues = 2 ** 20

function* chunksOf(source: WeightSource): Generator<Float64Array> {
  const step = Math.max(1, Math.floor(chunkValues / source.k))
  for (let matrix = 0; matrix < countOf(source.leading); matrix++) {
    for (let row = 0; row < source.rows; row += step) {
      yield source.readRows(matrix, row, Math.min(row + step, source.rows))
    }
  }
}

/**
 * The tensors of the weight in a convention. Their pieces are to be taken in this order: codes fill in the scales.
 * Throws a UserError when K has no whole blocks.
 */
export function requantizeWeight(
  source: WeightSource,
  to: Convention,
  layout: ScaleLayout,
  rule: ScaleRule
): ConvertedTensor[] {
  const { name, leading, rows, k } = source
  const { element, scaleBlockSize } = to
  if (k % scaleBlockSize !== 0) {
    throw new UserError(
      'usage',
      `"${name}" has K=${k}, which has no whole blocks of ${scaleBlockSize} for ${to.name}.`
    )
  }
  const shape = { rows, columns: k / scaleBlockSize }
  const matrixScales = rows * shape.columns
  const padded = paddedShape(layout, shape)
  const matrices = countOf(leading)
  // Held from the codes' pieces to the scales'; those of all weights at once could be gigabytes.
  let scales = new Uint8Array()
  let tensorScale = 1
  const quantize = (values: Float64Array) =>
    to.tensorScaleUse
      ? quantizeNvfp4(values, nvfp4RuleFor(rule), tensorScale)
      : quantizeMx(values, element, scaleBlockSize, rule)
  const codes: ConvertedTensor = {
    name: name + to.codesSuffix,
    dtype: to.codesDtypes[0]!,
    shape: codesShape(to, leading, rows, k),
    byteLength: (matrices * rows * k * element.storageBits) / 8,
    *pieces() {
      if (to.tensorScaleUse) tensorScale = storedTensorScale(source, to)
      scales = new Uint8Array(matrices * matrixScales)
      let at = 0
      for (const values of chunksOf(source)) {
        const quantized = quantize(values)
        scales.set(quantized.scales, at)
        at += quantized.scales.length
        yield element.storageBits === 4 ? packFp4(quantized.codes) : quantized.codes
      }
    }
  }
  const packed: ConvertedTensor = {
    name: name + to.scalesSuffix,
    dtype: to.scalesDtypes[0]!,
    shape: [...leading, padded.rows, padded.columns],
    byteLength: matrices * padded.rows * padded.columns,
    *pieces() {
      for (let at = 0; at < scales.length; at += matrixScales) {
        yield packScales(layout, shape, scales.subarray(at, at + matrixScales))
      }
      scales = new Uint8Array()
    }
  }
  if (!to.tensorScaleSuffix) return [codes, packed]
  const factor: ConvertedTensor = {
    name: name + to.tensorScaleSuffix,
    dtype: 'F32',
    shape: [1],
    byteLength: 4,
    *pieces() {
      const stored = to.tensorScaleUse === 'divide' ? 1 / tensorScale : tensorScale
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setFloat32(0, stored, true)
      yield bytes
    }
  }
  return [codes, packed, factor]
}

/** As a reader of the file finds it: where the reciprocal is stored in float32, the reciprocal of that. */
function storedTensorScale(source: WeightSource, to: Convention): number {
  let largest = 0
  for (const values of chunksOf(source)) largest = Math.max(largest, finiteMaximum(values))
  const scale = nvfp4TensorScale(largest)
  return to.tensorScaleUse === 'divide' ? 1 / Math.fround(1 / scale) : scale
}

export interface ConversionError {
  /** Every value is the same; NaN stands for NaN. */
  exact: boolean
  /** 10 log10(sum x^2 / sum (x - y)^2) in dB; Infinity when exact. */
  sqnr: number
  /** Largest |x - y|; Infinity where one of the two is NaN. */
  maxError: number
}

/** Every value of a weight against what became of it. */
export function conversionError(original: WeightSource, converted: WeightSource): ConversionError {
  let signal = 0
  let noise = 0
  let maxError = 0
  const others = chunksOf(converted)
  for (const values of chunksOf(original)) {
    const result = others.next().value as Float64Array
    for (let i = 0; i < values.length; i++) {
      const [x, y] = [values[i]!, result[i]!]
      if (Number.isFinite(x)) signal += x * x
      if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue
      const error = Number.isNaN(x - y) ? Infinity : Math.abs(x - y)
      noise += error * error
      if (error > maxError) maxError = error
    }
  }
  const sqnr = maxError === 0 ? Infinity : 10 * Math.log10(signal / noise)
  return { exact: maxError === 0, sqnr, maxError }
}
