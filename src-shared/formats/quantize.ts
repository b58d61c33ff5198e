/**
 * Quantisation of real tensors to block-scaled formats. A tensor is (rows, K) row-major; each run of V elements along K
 * shares a scale. MX formats: OCP Microscaling Formats v1.0 section 6.3; NVFP4: a block scale and one float32 a tensor.
 */
import { UserError } from '../errors'
import { checkShape, type BlockFormat } from './blockFormat'
import { encode, floorLog2 } from './encode'
import { decodeTable, largestExponent, limitsOf, type NumberFormat } from './numberFormat'

export const scaleRules = ['floor', 'ceil', 'even', 'mse'] as const
/**
 * floor: OCP MX, 2^(floor(log2 max) - emax), large elements saturate. ceil: the smallest power of two with which none
 * does. even: the block's maximum is rounded to the element's mantissa before its exponent is taken. mse: the scale near
 * the floor rule's with the least squared error.
 */
export type ScaleRule = (typeof scaleRules)[number]

export interface QuantizedOperand {
  /** One code a byte, (rows, K). */
  codes: Uint8Array
  /** Scale codes, (rows, K / V). */
  scales: Uint8Array
  /** The float32 of the whole tensor; 1 where the format has none. */
  tensorScale: number
}

const nanScale = { e8m0: 0xff, ue4m3: 0x7f }
const maxE8m0Exponent = 127

/** Throws a UserError unless the values fill (rows, k) and k divides into blocks. */
export function quantize(
  format: BlockFormat,
  operand: 'a' | 'b',
  values: ArrayLike<number>,
  rows: number,
  k: number,
  rule: ScaleRule = 'floor'
): QuantizedOperand {
  checkShape(format, rows, rows, k)
  if (values.length !== rows * k) {
    throw new UserError(
      'usage',
      `${values.length} values do not fill ${rows} x ${k}; ${rows * k} are needed.`
    )
  }
  const element = format[operand]
  const blockSize = format.scaleBlockSize
  const tensorScale = format.tensorScale ? tensorScaleOf(values, blockSize, element) : 1
  const codes = new Uint8Array(rows * k)
  const scales = new Uint8Array((rows * k) / blockSize)
  const block = new Float64Array(blockSize)
  for (let b = 0; b < scales.length; b++) {
    for (let i = 0; i < blockSize; i++) block[i] = values[b * blockSize + i]!
    const largest = largestMagnitude(block)
    if (!Number.isFinite(largest)) {
      scales[b] = nanScale[format.scale.name as keyof typeof nanScale]
      continue
    }
    if (largest === 0) continue
    scales[b] = format.tensorScale
      ? twoLevelScale(block, largest, element, format.scale, tensorScale, rule)
      : sharedScale(block, largest, element, format.scale, rule)
    const divisor = decodeTable(format.scale)[scales[b]!]! * tensorScale
    if (divisor === 0) continue
    for (let i = 0; i < blockSize; i++) {
      codes[b * blockSize + i] = encode(element, block[i]! / divisor)
    }
  }
  return { codes, scales, tensorScale }
}

/** The values that codes and scales stand for; a NaN scale makes its block NaN. */
export function dequantize(
  format: BlockFormat,
  operand: 'a' | 'b',
  quantized: QuantizedOperand
): Float64Array {
  const elements = decodeTable(format[operand])
  const scaleValues = decodeTable(format.scale)
  const { codes, scales, tensorScale } = quantized
  return Float64Array.from(
    codes,
    (code, i) =>
      elements[code]! * scaleValues[scales[Math.floor(i / format.scaleBlockSize)]!]! * tensorScale
  )
}

/** Infinity when the block holds a NaN or an infinity. */
function largestMagnitude(block: Float64Array): number {
  let largest = 0
  for (const value of block) {
    if (!Number.isFinite(value)) return Infinity
    largest = Math.max(largest, Math.abs(value))
  }
  return largest
}

/** max |tensor| / (largest scale x largest element) as float32; blocks that are not finite do not count. */
function tensorScaleOf(
  values: ArrayLike<number>,
  blockSize: number,
  element: NumberFormat
): number {
  let largest = 0
  for (let from = 0; from < values.length; from += blockSize) {
    let inBlock = 0
    for (let i = from; i < from + blockSize; i++) {
      const magnitude = Math.abs(values[i]!)
      inBlock = Number.isFinite(magnitude) ? Math.max(inBlock, magnitude) : Infinity
      if (inBlock === Infinity) break
    }
    if (inBlock < Infinity) largest = Math.max(largest, inBlock)
  }
  if (largest === 0) return 1
  const smallestFloat32 = 2 ** -149
  return Math.max(Math.fround(largest / (448 * limitsOf(element).largest)), smallestFloat32)
}

function sharedScale(
  block: Float64Array,
  largest: number,
  element: NumberFormat,
  scale: NumberFormat,
  rule: ScaleRule
): number {
  const codeOf = (exponent: number) =>
    Math.min(Math.max(exponent, -maxE8m0Exponent), maxE8m0Exponent) + scale.bias
  const floor = floorLog2(largest) - largestExponent(element)
  if (rule === 'floor') return codeOf(floor)
  if (rule === 'ceil') {
    return codeOf(largest > limitsOf(element).largest * 2 ** floor ? floor + 1 : floor)
  }
  if (rule === 'even') {
    const significand = largest / 2 ** floorLog2(largest)
    return codeOf(significand >= 2 - 2 ** -(element.mantissaBits + 1) ? floor + 1 : floor)
  }
  const candidates = [floor, floor + 1, floor - 1, floor + 2].map(codeOf)
  return leastError(block, candidates, element, (code) => 2 ** (code - scale.bias))
}

function twoLevelScale(
  block: Float64Array,
  largest: number,
  element: NumberFormat,
  scale: NumberFormat,
  tensorScale: number,
  rule: ScaleRule
): number {
  const nearest = encode(scale, largest / limitsOf(element).largest / tensorScale)
  if (rule !== 'mse') return nearest
  const table = decodeTable(scale)
  const candidates = [0, 1, -1, 2, -2, 3, -3]
    .map((step) => nearest + step)
    .filter((code) => code > 0 && code < nanScale.ue4m3)
  return leastError(block, candidates, element, (code) => table[code]! * tensorScale)
}

/** The first candidate scale code whose rounding leaves the least squared error. */
function leastError(
  block: Float64Array,
  candidates: number[],
  element: NumberFormat,
  valueOf: (scaleCode: number) => number
): number {
  const table = decodeTable(element)
  let best = candidates[0] ?? 0
  let bestError = Infinity
  for (const candidate of candidates) {
    const scale = valueOf(candidate)
    let error = 0
    for (const value of block)
      error += (value - table[encode(element, value / scale)]! * scale) ** 2
    if (error < bestError) {
      best = candidate
      bestError = error
    }
  }
  return best
}
