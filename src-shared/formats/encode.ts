/**
 * Rounding of float32 values to codes: to nearest, ties to even. Above the largest value, 'saturate' takes the largest
 * (PTX cvt ... .satfinite), 'ml_dtypes' what ml_dtypes does: NaN for e4m3, infinity for e5m2. Formats without NaN give
 * zero with NaN's sign rule of ml_dtypes (code of -0), as their conversion instructions have nothing better.
 */
import { codeBytes, decodeTable, type NumberFormat, type NumberFormatName } from './numberFormat'

export const overflowRules = ['saturate', 'ml_dtypes'] as const
export type OverflowRule = (typeof overflowRules)[number]

interface Ladder {
  /** Non-negative finite values, ascending; index is the magnitude code. */
  values: Float64Array
  /** From here on a value rounds beyond the largest finite one. */
  overflowFrom: number
}

const ladders = new Map<NumberFormatName, Ladder>()

function ladderOf(format: NumberFormat): Ladder {
  let ladder = ladders.get(format.name)
  if (!ladder) {
    const half = decodeTable(format).slice(0, 2 ** (format.exponentBits + format.mantissaBits))
    const values = half.filter(Number.isFinite)
    const last = values.length - 1
    // The next value the format would have if its range went on; half way to it, a tie goes to the even code.
    const next = values[last]! + nextStep(values, format)
    ladder = { values, overflowFrom: (values[last]! + next) / 2 }
    ladders.set(format.name, ladder)
  }
  return ladder
}

function nextStep(values: Float64Array, format: NumberFormat): number {
  const last = values.length - 1
  return format.mantissaBits === 0 ? values[last]! : values[last]! - values[last - 1]!
}

function nanCode(format: NumberFormat): number {
  if (format.special === 'ieee') return codeOfInfinity(format) + 2 ** (format.mantissaBits - 1)
  return 2 ** (format.exponentBits + format.mantissaBits) - 1
}

function codeOfInfinity(format: NumberFormat): number {
  return (2 ** format.exponentBits - 1) << format.mantissaBits
}

/** Code of the float32 nearest to `value`. */
export function encode(
  format: NumberFormat,
  value: number,
  rule: OverflowRule = 'saturate'
): number {
  if (format.name === 'e8m0') return encodeE8m0(value, rule)
  const signBit = format.signBits ? 2 ** (format.exponentBits + format.mantissaBits) : 0
  if (Number.isNaN(value)) return format.special === 'none' ? signBit : nanCode(format)
  const negative = value < 0 || Object.is(value, -0)
  if (negative && !format.signBits) return 0
  const magnitude = roundMagnitude(format, Math.abs(value), rule)
  return negative ? magnitude + signBit : magnitude
}

function roundMagnitude(format: NumberFormat, value: number, rule: OverflowRule): number {
  const { values, overflowFrom } = ladderOf(format)
  const last = values.length - 1
  // A tie at the very top goes to the even code: down if the largest code is even, else beyond.
  const beyond = value > overflowFrom || (value === overflowFrom && last % 2 === 1)
  if (beyond) {
    if (rule === 'saturate' || format.special === 'none') return last
    return format.special === 'ieee' ? codeOfInfinity(format) : nanCode(format)
  }
  if (value >= values[last]!) return last
  let low = 0
  let high = last
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (values[middle]! <= value) low = middle
    else high = middle
  }
  const below = value - values[low]!
  const above = values[high]! - value
  if (below === above) return low % 2 === 0 ? low : high
  return below < above ? low : high
}

/** A tie goes up, zero and negatives have no code but NaN, as in ml_dtypes; saturating, they take the nearest. */
function encodeE8m0(value: number, rule: OverflowRule): number {
  if (Number.isNaN(value)) return 0xff
  if (value <= 0) return rule === 'saturate' ? 0 : 0xff
  if (value === Infinity) return rule === 'saturate' ? 0xfe : 0xff
  const floor = floorLog2(value)
  const exponent = value >= 1.5 * 2 ** floor ? floor + 1 : floor
  if (exponent > 127) return rule === 'saturate' ? 0xfe : 0xff
  return Math.max(0, exponent + 127)
}

/** Exact floor(log2(x)) for positive finite x. */
export function floorLog2(x: number): number {
  let exponent = Math.floor(Math.log2(x))
  if (2 ** exponent > x) exponent--
  else if (2 ** (exponent + 1) <= x) exponent++
  return exponent
}

/** Codes of many values. */
export function encodeAll(
  format: NumberFormat,
  values: ArrayLike<number>,
  rule: OverflowRule = 'saturate'
): Uint8Array | Uint16Array {
  const code = (value: number) => encode(format, value, rule)
  return codeBytes(format) === 1 ? Uint8Array.from(values, code) : Uint16Array.from(values, code)
}
