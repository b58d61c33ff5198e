/** C as another program kept it, as bytes of the type that it is judged as. */
import { UserError } from '../errors'
import { decodeFloats } from '../formats/floatTensor'
import { decodeTable, numberFormats } from '../formats/numberFormat'
import type { NamedArray } from '../formats/npy'

type ResultType = 'f16' | 'bf16' | 'f32' | 'e4m3' | 'e5m2'

const isEightBits = (type: ResultType): type is 'e4m3' | 'e5m2' =>
  type === 'e4m3' || type === 'e5m2'

const kept: Record<string, ResultType> = {
  F16: 'f16',
  BF16: 'bf16',
  F32: 'f32',
  F64: 'f32',
  F8_E4M3: 'e4m3',
  F8_E5M2: 'e5m2'
}

/** The type of C when none is said. Throws a UserError for values that are no numbers of C. */
export function outputTypeOf({ dtype }: NamedArray, path: string): ResultType {
  const type = kept[dtype]
  if (type) return type
  throw new UserError(
    'usage',
    `${path}: C is ${dtype}; float16, bfloat16, float32, float64, F8_E4M3 or F8_E5M2 is needed.`
  )
}

/** Bytes of C, little-endian. Throws a UserError when a value is none of that type: C was not written in it. */
export function bytesOfResult(array: NamedArray, type: ResultType, path: string): Uint8Array {
  const { dtype, bytes } = array
  if (kept[dtype] === type && dtype !== 'F64') return bytes
  if (isEightBits(type) || isEightBits(outputTypeOf(array, path))) {
    throw new UserError('usage', `${path}: C is ${dtype} and cannot be judged as ${type}.`)
  }
  const values = decodeFloats(dtype, bytes)
  // float64 is rounded: nobody's kernel writes it, and float32 is what it was before it was kept.
  if (type === 'f32') return new Uint8Array(Float32Array.from(values).buffer)
  const codes = Uint16Array.from(values, type === 'bf16' ? bfloat16Code : float16Code)
  const again = decodeFloats(type === 'bf16' ? 'BF16' : 'F16', new Uint8Array(codes.buffer))
  const wrong = values.findIndex((value, i) => !Object.is(value + 0, again[i]! + 0))
  if (wrong < 0) return new Uint8Array(codes.buffer)
  throw new UserError(
    'usage',
    `${path}: element ${wrong} of C is ${values[wrong]}, which is no ${type}; C was not written in it.`
  )
}

/** Values of C as bytes of its type. */
export function valuesOfResult(bytes: Uint8Array, type: ResultType): Float64Array {
  if (!isEightBits(type)) return decodeFloats(type.toUpperCase(), bytes)
  const values = decodeTable(numberFormats[type])
  return Float64Array.from(bytes, (code) => values[code]!)
}

const word = new DataView(new ArrayBuffer(4))

function bfloat16Code(value: number): number {
  word.setFloat32(0, value)
  return word.getUint16(0)
}

/** For values that float16 has; what comes out for others is another value. */
function float16Code(value: number): number {
  if (Number.isNaN(value)) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size > 65504) return sign | 0x7c00
  const exponent = Math.max(-14, Math.floor(Math.log2(size)))
  const units = Math.round(size * 2 ** (10 - exponent))
  return units < 1024 ? sign | units : sign | ((exponent + 15) << 10) | (units - 1024)
}
