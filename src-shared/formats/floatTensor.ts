/** Real numbers in tensors of a .safetensors file, a few whole rows of them: a tensor may be larger than the memory. */
import { UserError } from '../errors'
import type { TensorEntry } from './safetensors'

const decoders: Record<string, { bytes: number; read: (view: DataView, at: number) => number }> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => float16(view.getUint16(at, true)) },
  BF16: { bytes: 2, read: (view, at) => bfloat16(view.getUint16(at, true)) }
}

const bits = new DataView(new ArrayBuffer(4))

function bfloat16(code: number): number {
  bits.setUint32(0, code << 16)
  return bits.getFloat32(0)
}

/** IEEE 754 binary16. */
function float16(code: number): number {
  const sign = code & 0x8000 ? -1 : 1
  const exponent = (code >> 10) & 31
  const mantissa = code & 1023
  if (exponent === 31) return mantissa ? NaN : sign * Infinity
  if (exponent === 0) return sign * mantissa * 2 ** -24
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15)
}

/** Of real numbers. */
export const isFloatDtype = (dtype: string) => Object.hasOwn(decoders, dtype)

/** Holds real numbers, at least one. */
export const isFloatTensor = ({ dtype, start, end }: TensorEntry) =>
  isFloatDtype(dtype) && end > start

/** Values of the bytes of a tensor of a dtype for which isFloatDtype holds. */
export function decodeFloats(dtype: string, bytes: Uint8Array): Float64Array {
  const decoder = decoders[dtype]!
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values = new Float64Array(bytes.length / decoder.bytes)
  for (let i = 0; i < values.length; i++) values[i] = decoder.read(view, i * decoder.bytes)
  return values
}

export interface TensorSample {
  name: string
  /** (rows, k), row-major. */
  values: Float64Array
  rows: number
  k: number
  /** Of the tensor: all extents but the last as rows. */
  ofRows: number
  ofK: number
}

export interface SamplePlan {
  tensor: TensorEntry
  k: number
  ofRows: number
  ofK: number
  /** Bytes from..to of the tensor, one range a row, spread evenly over all rows. */
  ranges: { from: number; to: number }[]
}

const mostRows = 64
const mostK = 16_384
/** Every scale block size divides it. */
const wholeBlocks = 32

/** Which bytes of a tensor a sample needs. Throws a UserError for a tensor without whole blocks along K. */
export function planSample(tensor: TensorEntry): SamplePlan {
  const decoder = Object.hasOwn(decoders, tensor.dtype) ? decoders[tensor.dtype] : undefined
  if (!decoder) {
    throw new UserError(
      'usage',
      `"${tensor.name}" is ${tensor.dtype}; values are read from ${Object.keys(decoders).join(', ')}.`
    )
  }
  const ofK = tensor.shape.at(-1) ?? 1
  const ofRows = (tensor.end - tensor.start) / decoder.bytes / ofK
  const { rows, k } = sampledRows(tensor.name, ofRows, ofK)
  const ranges = rows.map((row) => {
    const from = row * ofK * decoder.bytes
    return { from, to: from + k * decoder.bytes }
  })
  return { tensor, k, ofRows, ofK, ranges }
}

/** Some rows of (ofRows, ofK), spread evenly, and how much of each. Throws a UserError without whole blocks along K. */
export function sampledRows(
  name: string,
  ofRows: number,
  ofK: number
): { rows: number[]; k: number } {
  const k = Math.min(mostK, ofK - (ofK % wholeBlocks))
  if (k === 0) {
    throw new UserError(
      'usage',
      `"${name}" has ${ofK} values along K, less than a block of ${wholeBlocks}.`
    )
  }
  const count = Math.min(mostRows, ofRows)
  return { rows: Array.from({ length: count }, (_, i) => Math.floor((i * ofRows) / count)), k }
}

/** The sample, from the bytes of its ranges. */
export function decodeSample(plan: SamplePlan, pieces: readonly Uint8Array[]): TensorSample {
  const { tensor, k, ofRows, ofK } = plan
  const values = new Float64Array(pieces.length * k)
  pieces.forEach((piece, row) => values.set(decodeFloats(tensor.dtype, piece), row * k))
  return { name: tensor.name, values, rows: pieces.length, k, ofRows, ofK }
}

/** A sample as the contract carries it. */
export function tensorValues({ values, ...shape }: TensorSample) {
  return { kind: 'tensor' as const, ...shape, bytes: bytesOf(values) }
}

/** A copy of the values as bytes. */
export function bytesOf(values: Float64Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(values.slice().buffer)
}
