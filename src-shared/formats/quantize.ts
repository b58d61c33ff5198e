/**
 * Quantising a tensor to a block-scaled operand. MX: OCP Microscaling Formats v1.0 section 6.3. NVFP4: two levels, a
 * float32 scale for the tensor and an e4m3 scale for each block of 16.
 */
import { UserError } from '../errors'
import { encode, floorLog2 } from './encode'
import {
  decodeTable,
  largestExponent,
  limitsOf,
  numberFormats,
  type NumberFormat
} from './numberFormat'

/** How the exponent X of a block's e8m0 scale follows from the largest magnitude of the block. */
export const scaleRules = [
  /** OCP MX v1.0: floor(log2(max)) - emax; elements above the largest value saturate. */
  'floor',
  /** The smallest X with which no element saturates. */
  'ceil',
  /** As floor, with max first rounded to the element's precision, so that it saturates less often. */
  'even',
  /** The X with the least squared error, among floor's and its neighbours. */
  'mse'
] as const
export type ScaleRule = (typeof scaleRules)[number]

export interface Quantized {
  /** One code a byte, in the order of the input. */
  codes: Uint8Array
  /** One scale per block. */
  scales: Uint8Array
  /** NVFP4's scale for the tensor; 1 for MX. */
  tensorScale: number
}

const unitScale = 127
const nanScale = 0xff
/** NaN of ue4m3. */
const nanTensorBlock = 0x7f

/**
 * Quantises `values`, whose rows along K are whole blocks, to MX with e8m0 scales. A block with a NaN or an infinity gets
 * the NaN scale and zero elements; an all-zero block gets scale code 0.
 */
export function quantizeMx(
  values: ArrayLike<number>,
  element: NumberFormat,
  scaleBlockSize: number,
  rule: ScaleRule = 'floor'
): Quantized {
  const blocks = blockCount(values.length, scaleBlockSize)
  const codes = new Uint8Array(values.length)
  const scales = new Uint8Array(blocks)
  for (let block = 0; block < blocks; block++) {
    const start = block * scaleBlockSize
    const largest = largestMagnitude(values, start, scaleBlockSize)
    if (!Number.isFinite(largest)) scales[block] = nanScale
    else if (largest > 0) {
      const exponent = blockExponent(values, start, scaleBlockSize, largest, element, rule)
      scales[block] = exponent + unitScale
      writeBlock(values, start, scaleBlockSize, element, 2 ** exponent, codes)
    }
  }
  return { codes, scales, tensorScale: 1 }
}

/** How the e4m3 scale of an NVFP4 block follows from its values, once the tensor has its float32 scale t. */
export const nvfp4Rules = [
  /** e4m3(max / 6 / t), to nearest even: arXiv 2509.25149 "Pretraining Large Language Models with NVFP4". */
  'two-level',
  /** The smallest scale with which no element saturates. */
  'ceil',
  /** The scale with the least squared error within a factor of two of two-level's. */
  'mse'
] as const
export type Nvfp4Rule = (typeof nvfp4Rules)[number]

/** The counterpart of an MX rule; two-level already rounds to nearest even, and none rounds down. */
export function nvfp4RuleFor(rule: ScaleRule): Nvfp4Rule {
  return rule === 'ceil' || rule === 'mse' ? rule : 'two-level'
}

/** NVFP4's float32 scale for a tensor: its largest finite magnitude / (448 * 6); 1 for a tensor of zeros. */
export function nvfp4TensorScale(largest: number): number {
  const limit = limitsOf(numberFormats.ue4m3).largest * limitsOf(numberFormats.e2m1).largest
  // A float32 that rounds to zero would lose the tensor; the smallest one keeps it.
  return largest === 0 ? 1 : Math.max(Math.fround(largest / limit), 2 ** -149)
}

/**
 * Quantises to NVFP4: t = max |tensor| / (448 * 6); block scale s by the rule; element = e2m1(v / (s t)). A block with a
 * NaN or an infinity gets the NaN scale and does not count for t. A part of a tensor takes the t of the whole.
 */
export function quantizeNvfp4(
  values: ArrayLike<number>,
  rule: Nvfp4Rule = 'two-level',
  tensorScale = nvfp4TensorScale(finiteMaximum(values))
): Quantized {
  const scaleBlockSize = 16
  const element = numberFormats.e2m1
  const blocks = blockCount(values.length, scaleBlockSize)
  const codes = new Uint8Array(values.length)
  const scales = new Uint8Array(blocks)
  const scaleValues = decodeTable(numberFormats.ue4m3)
  for (let block = 0; block < blocks; block++) {
    const start = block * scaleBlockSize
    const most = largestMagnitude(values, start, scaleBlockSize)
    if (!Number.isFinite(most)) {
      scales[block] = nanTensorBlock
      continue
    }
    scales[block] = nvfp4BlockScale(values, start, scaleBlockSize, most, tensorScale, rule)
    const step = scaleValues[scales[block]!]! * tensorScale
    if (step > 0) writeBlock(values, start, scaleBlockSize, element, step, codes)
  }
  return { codes, scales, tensorScale }
}

const codesPerOctave = 2 ** numberFormats.ue4m3.mantissaBits
const largestScaleCode = nanTensorBlock - 1

function nvfp4BlockScale(
  values: ArrayLike<number>,
  start: number,
  count: number,
  most: number,
  tensorScale: number,
  rule: Nvfp4Rule
): number {
  const scaleValues = decodeTable(numberFormats.ue4m3)
  const exact = most / limitsOf(numberFormats.e2m1).largest / tensorScale
  const nearest = encode(numberFormats.ue4m3, exact)
  if (rule === 'two-level' || most === 0) return nearest
  if (rule === 'ceil') {
    return scaleValues[nearest]! < exact ? Math.min(nearest + 1, largestScaleCode) : nearest
  }
  let best = nearest
  let least = Infinity
  const last = Math.min(nearest + codesPerOctave, largestScaleCode)
  for (let code = Math.max(nearest - codesPerOctave, 1); code <= last; code++) {
    const step = scaleValues[code]! * tensorScale
    const error = squaredError(values, start, count, numberFormats.e2m1, step)
    if (error < least) [best, least] = [code, error]
  }
  return best
}

/** The numbers that a quantised tensor stands for. */
export function dequantize(
  { codes, scales, tensorScale }: Quantized,
  element: NumberFormat,
  scale: NumberFormat,
  scaleBlockSize: number
): Float64Array {
  const values = decodeTable(element)
  const scaleValues = decodeTable(scale)
  return Float64Array.from(codes, (code, i) => {
    return values[code]! * scaleValues[scales[Math.floor(i / scaleBlockSize)]!]! * tensorScale
  })
}

function blockCount(length: number, scaleBlockSize: number): number {
  if (length % scaleBlockSize !== 0) {
    throw new UserError(
      'usage',
      `${length} values do not divide into scale blocks of ${scaleBlockSize}; pad K to a multiple of it.`
    )
  }
  return length / scaleBlockSize
}

/** Largest magnitude among the finite values; 0 when there is none. */
export function finiteMaximum(values: ArrayLike<number>): number {
  let largest = 0
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!)
    if (magnitude > largest && magnitude < Infinity) largest = magnitude
  }
  return largest
}

/** NaN when the range holds one. */
function largestMagnitude(values: ArrayLike<number>, start: number, count: number): number {
  let largest = 0
  for (let i = start; i < start + count; i++) {
    const magnitude = Math.abs(values[i]!)
    if (!(magnitude <= largest)) largest = magnitude
    if (Number.isNaN(largest)) return NaN
  }
  return largest
}

function writeBlock(
  values: ArrayLike<number>,
  start: number,
  count: number,
  element: NumberFormat,
  step: number,
  codes: Uint8Array
): void {
  for (let i = start; i < start + count; i++) codes[i] = encode(element, values[i]! / step)
}

function blockExponent(
  values: ArrayLike<number>,
  start: number,
  count: number,
  largest: number,
  element: NumberFormat,
  rule: ScaleRule
): number {
  const clamp = (exponent: number) => Math.min(127, Math.max(-127, exponent))
  const emax = largestExponent(element)
  const floor = clamp(floorLog2(largest) - emax)
  switch (rule) {
    case 'floor':
      return floor
    case 'ceil':
      return clamp(largest / 2 ** floor > limitsOf(element).largest ? floor + 1 : floor)
    case 'even':
      return clamp(floorLog2(roundToPrecision(largest, element.mantissaBits)) - emax)
    case 'mse': {
      const candidates = [floor - 1, floor, floor + 1].map(clamp)
      const errors = candidates.map((exponent) =>
        squaredError(values, start, count, element, 2 ** exponent)
      )
      return candidates[errors.indexOf(Math.min(...errors))]!
    }
  }
}

/** To mantissaBits after the leading one, ties to even; the result may be the next power of two. */
function roundToPrecision(value: number, mantissaBits: number): number {
  const unit = 2 ** (floorLog2(value) - mantissaBits)
  const units = value / unit
  const below = Math.floor(units)
  const rest = units - below
  const up = rest > 0.5 || (rest === 0.5 && below % 2 === 1)
  return (up ? below + 1 : below) * unit
}

function squaredError(
  values: ArrayLike<number>,
  start: number,
  count: number,
  element: NumberFormat,
  step: number
): number {
  const table = decodeTable(element)
  let sum = 0
  for (let i = start; i < start + count; i++) {
    sum += (table[encode(element, values[i]! / step)]! * step - values[i]!) ** 2
  }
  return sum
}
