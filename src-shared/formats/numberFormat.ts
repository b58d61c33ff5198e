/**
 * Small floating-point number formats: OCP Microscaling Formats v1.0 section 5 (e2m1, e2m3, e3m2, e4m3, e5m2, e8m0),
 * the unsigned e4m3 that NVFP4 uses for its block scales, and bfloat16, whose elements carry no scale. A format is a row of facts; tables and rounding follow from it.
 */
import { UserError } from '../errors'

export type NumberFormatName =
  | 'e2m1'
  | 'e2m3'
  | 'e3m2'
  | 'e4m3'
  | 'e5m2'
  | 'e8m0'
  | 'ue4m3'
  | 'bf16'

/** What the codes at the top of the range mean. */
export type SpecialValues =
  /** Every code is a finite number. */
  | 'none'
  /** All exponent and mantissa bits set: NaN; no infinities. */
  | 'nan'
  /** As IEEE 754: exponent bits all set mean infinity (mantissa 0) or NaN. */
  | 'ieee'

export interface NumberFormat {
  name: NumberFormatName
  signBits: 0 | 1
  exponentBits: number
  mantissaBits: number
  bias: number
  special: SpecialValues
  /** Bits a code takes in memory; ue4m3 is kept in a byte whose sign bit is 0. */
  storageBits: number
}

const format = (
  name: NumberFormatName,
  [signBits, exponentBits, mantissaBits]: [0 | 1, number, number],
  bias: number,
  special: SpecialValues
): NumberFormat => ({
  name,
  signBits,
  exponentBits,
  mantissaBits,
  bias,
  special,
  storageBits: name === 'ue4m3' ? 8 : signBits + exponentBits + mantissaBits
})

export const numberFormats: Record<NumberFormatName, NumberFormat> = {
  e2m1: format('e2m1', [1, 2, 1], 1, 'none'),
  e2m3: format('e2m3', [1, 2, 3], 1, 'none'),
  e3m2: format('e3m2', [1, 3, 2], 3, 'none'),
  e4m3: format('e4m3', [1, 4, 3], 7, 'nan'),
  e5m2: format('e5m2', [1, 5, 2], 15, 'ieee'),
  e8m0: format('e8m0', [0, 8, 0], 127, 'nan'),
  ue4m3: format('ue4m3', [0, 4, 3], 7, 'nan'),
  bf16: format('bf16', [1, 8, 7], 127, 'ieee')
}

/** Elements of 16 bits reach as far as a float32 does and are multiplied as they are. */
export const isScaled = ({ storageBits }: NumberFormat): boolean => storageBits <= 8

/** Bytes of a code where operands are held plain: two, little-endian, for those of 16 bits. */
export const codeBytes = ({ storageBits }: NumberFormat): 1 | 2 => (storageBits > 8 ? 2 : 1)

/** Plain codes by index. */
export function codesIn(format: NumberFormat, bytes: Uint8Array): Uint8Array | Uint16Array {
  // A copy: a view of 16-bit words would have to begin at an even byte.
  return codeBytes(format) === 1 ? bytes : new Uint16Array(bytes.slice().buffer)
}

/** Throws a UserError for a name that is none. */
export function findNumberFormat(name: string): NumberFormat {
  if (Object.hasOwn(numberFormats, name)) return numberFormats[name as NumberFormatName]
  const known = Object.keys(numberFormats).join(', ')
  throw new UserError('usage', `"${name}" is no number format. Known: ${known}.`)
}

/** Codes of a format: 2 ^ storage bits, also for ue4m3, whose upper half is not used. */
export function codeCount(format: NumberFormat): number {
  return 2 ** (format.signBits + format.exponentBits + format.mantissaBits)
}

function decodeOne(format: NumberFormat, code: number): number {
  const { exponentBits, mantissaBits, bias, special, signBits } = format
  const magnitude = code & (2 ** (exponentBits + mantissaBits) - 1)
  const exponent = magnitude >> mantissaBits
  const mantissa = magnitude & (2 ** mantissaBits - 1)
  const topExponent = 2 ** exponentBits - 1
  const sign = signBits === 1 && code >> (exponentBits + mantissaBits) ? -1 : 1
  if (special === 'ieee' && exponent === topExponent) return mantissa === 0 ? sign * Infinity : NaN
  if (special === 'nan' && magnitude === 2 ** (exponentBits + mantissaBits) - 1) return NaN
  // e8m0 has no mantissa, and so no zero and no subnormals: code 0 is 2^-127.
  if (exponent === 0 && mantissaBits > 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits)
  return sign * (1 + mantissa / 2 ** mantissaBits) * 2 ** (exponent - bias)
}

const decodeTables = new Map<NumberFormatName, Float64Array>()

/** Value of every code, by code. */
export function decodeTable(format: NumberFormat): Float64Array {
  let table = decodeTables.get(format.name)
  if (!table) {
    table = Float64Array.from({ length: codeCount(format) }, (_, code) => decodeOne(format, code))
    decodeTables.set(format.name, table)
  }
  return table
}

export interface Limits {
  largest: number
  smallestNormal: number
  /** Distance of neighbours below the smallest normal; undefined where there are no subnormals. */
  subnormalStep: number | undefined
}

export function limitsOf(format: NumberFormat): Limits {
  const smallestExponent = format.mantissaBits > 0 ? 1 : 0
  return {
    largest: decodeTable(format).reduce((most, x) => (x > most && x < Infinity ? x : most), 0),
    smallestNormal: 2 ** (smallestExponent - format.bias),
    subnormalStep:
      format.mantissaBits > 0 ? 2 ** (1 - format.bias - format.mantissaBits) : undefined
  }
}

/** Exponent of the largest power of two in the format: emax of OCP MX v1.0 section 6.3. */
export function largestExponent(format: NumberFormat): number {
  return Math.floor(Math.log2(limitsOf(format).largest))
}
