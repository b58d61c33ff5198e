/**
 * The quantiser lab: what a format and a scale rule do to values. Seeded, so a table can be made again; errors are
 * against the float32 values that went in.
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'
import { checkShape, quantisedOperand, type BlockFormat } from './blockFormat'
import { encode } from './encode'
import { errorProfile, type ErrorProfile } from './errorProfile'
import type { TensorSample } from './floatTensor'
import { decodeTable, isScaled, limitsOf, numberFormats, type NumberFormat } from './numberFormat'
import {
  dequantize,
  nvfp4RuleFor,
  quantizeMx,
  quantizeNvfp4,
  type Nvfp4Rule,
  type Quantized,
  type ScaleRule
} from './quantize'

/** NVFP4 has rules of its own; those of an MX exponent stand for their counterparts. */
export type ComparedRule = ScaleRule | Nvfp4Rule

/** Quantising, by whichever engine: whole blocks of values to codes and scales. */
export type Quantize = (
  form: Pick<BlockFormat, 'scale' | 'scaleBlockSize'> & { element: NumberFormat },
  values: Float64Array,
  rule: ScaleRule
) => Promise<Quantized>

/** In TypeScript: what the addon is held against. */
export const referenceQuantize: Quantize = async (form, values, rule) =>
  form.scale === numberFormats.ue4m3
    ? quantizeNvfp4(values, nvfp4RuleFor(rule))
    : quantizeMx(values, form.element, form.scaleBlockSize, rule)

function quantizeBy(
  format: BlockFormat,
  operand: 'a' | 'b',
  values: Float64Array | Float32Array,
  rule: ComparedRule,
  quantize: Quantize
): Promise<Quantized> {
  const { scale, scaleBlockSize } = format
  const form = { element: format[operand], scale, scaleBlockSize }
  return quantize(form, Float64Array.from(values), rule === 'two-level' ? 'floor' : rule)
}

const restore = (format: BlockFormat, operand: 'a' | 'b', quantized: Quantized) =>
  dequantize(quantized, format[operand], format.scale, format.scaleBlockSize)

export const distributions = ['normal', 'uniform', 'laplace', 'outliers'] as const
/** outliers: N(0, 1) with one value in 128 multiplied by 30, as activations of language models have them. */
export type Distribution = (typeof distributions)[number]

export interface QuantizationError {
  /** Signal to quantisation noise, 10 log10(sum x^2 / sum (x - q)^2), in dB; Infinity for no error. */
  sqnr: number
  /** Largest |x - q|. */
  maxError: number
  /** Share of elements beyond the largest value of the format at their block's scale: 0 to 1. */
  clippedShare: number
  /** Values that are NaN or infinite; they and the others of their blocks do not count above. */
  bad: number
}

/** Deterministic draws in (0, 1): a 32-bit mix of seed and counter. */
function uniform(seed: number, counter: number): number {
  let x = (Math.imul(seed, 0x9e3779b9) ^ Math.imul(counter + 1, 0x85ebca6b)) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (((x ^ (x >>> 16)) >>> 0) + 0.5) / 2 ** 32
}

export function drawValues(distribution: Distribution, count: number, seed: number): Float32Array {
  const normal = (i: number) =>
    Math.sqrt(-2 * Math.log(uniform(seed, 2 * i))) *
    Math.cos(2 * Math.PI * uniform(seed, 2 * i + 1))
  const laplace = (i: number) => {
    const u = uniform(seed, i) - 0.5
    return -Math.sign(u) * Math.log(1 - 2 * Math.abs(u))
  }
  const draw: Record<Distribution, (i: number) => number> = {
    normal,
    uniform: (i) => 2 * uniform(seed, i) - 1,
    laplace,
    outliers: (i) => normal(i) * (uniform(seed + 1, i) < 1 / 128 ? 30 : 1)
  }
  return Float32Array.from({ length: count }, (_, i) => draw[distribution](i))
}

/** Throws a UserError for a name that is none. */
export function findDistribution(name: string): Distribution {
  return knownName(name, distributions, 'distribution', 'Distributions')
}

/** The largest magnitude that element i can have and be stored without clipping. */
export function clipLimits(
  format: BlockFormat,
  operand: 'a' | 'b',
  { scales, tensorScale }: Quantized
): (i: number) => number {
  const scaleValues = decodeTable(format.scale)
  const { largest } = limitsOf(format[operand])
  return (i) => {
    const scale = scaleValues[scales[Math.floor(i / format.scaleBlockSize)]!]!
    // Rounding of the tensor's float32 scale must not count as clipping.
    return largest * scale * tensorScale * (1 + 1e-6)
  }
}

/** Error of values against what codes and scales stand for. */
export function quantizationError(
  format: BlockFormat,
  operand: 'a' | 'b',
  values: ArrayLike<number>,
  quantized: Quantized
): QuantizationError {
  const restored = restore(format, operand, quantized)
  const limit = clipLimits(format, operand, quantized)
  let signal = 0
  let noise = 0
  let maxError = 0
  let clipped = 0
  let bad = 0
  let counted = 0
  restored.forEach((value, i) => {
    if (!Number.isFinite(values[i]!)) bad++
    // A bad value makes its whole block NaN.
    if (!Number.isFinite(value)) return
    counted++
    const error = Math.abs(values[i]! - value)
    signal += values[i]! ** 2
    noise += error ** 2
    maxError = Math.max(maxError, error)
    if (Math.abs(values[i]!) > limit(i)) clipped++
  })
  const sqnr = noise === 0 ? Infinity : 10 * Math.log10(signal / noise)
  return { sqnr, maxError, clippedShare: counted === 0 ? 0 : clipped / counted, bad }
}

/** The same of the operand that is quantised, and how the errors spread, when that is asked for. */
function errorsOf(
  format: BlockFormat,
  values: ArrayLike<number>,
  quantized: Quantized,
  profiled: boolean
): QuantizationError & { profile?: ErrorProfile } {
  const operand = quantisedOperand(format)
  const error = quantizationError(format, operand, values, quantized)
  if (!profiled) return error
  return { ...error, profile: errorProfile(values, restore(format, operand, quantized)) }
}

/** Error of the quantised operand's format on values of one's own, cut to whole blocks. Throws a UserError for fewer than a block. */
export async function compareValues(
  format: BlockFormat,
  rule: ScaleRule,
  values: Float32Array | Float64Array,
  quantize: Quantize,
  profiled = false
): Promise<QuantizationError & { profile?: ErrorProfile }> {
  const block = format.scaleBlockSize
  const whole = values.subarray(0, values.length - (values.length % block))
  if (whole.length === 0) {
    throw new UserError(
      'usage',
      `${values.length} values are less than a block of ${block}, which ${format.id} needs.`
    )
  }
  const quantized = await quantizeBy(format, quantisedOperand(format), whole, rule, quantize)
  return errorsOf(format, whole, quantized, profiled)
}

export interface ProductAccuracy {
  k: number
  /** Norm-wise error of the product: ||C - Cq|| / ||C||. */
  relativeError: number
}

const productRows = 16

/** Error of a 16 x 16 product of quantised operands against the product of the values, for growing K. */
export function productAccuracy(
  format: BlockFormat,
  rule: ComparedRule,
  distribution: Distribution,
  ks: readonly number[],
  seed: number,
  quantize: Quantize
): Promise<ProductAccuracy[]> {
  return Promise.all(
    ks.map(async (k) => {
      checkShape(format, productRows, productRows, k)
      const a = drawValues(distribution, productRows * k, seed)
      const b = drawValues(distribution, productRows * k, seed + 1000)
      return { k, relativeError: await productError(format, rule, a, b, k, quantize) }
    })
  )
}

/** Each value as the nearest of a format that has no scales. */
function roundedTo(format: NumberFormat, values: ArrayLike<number>): Float64Array {
  const table = decodeTable(format)
  return Float64Array.from(values, (value) => table[encode(format, value)]!)
}

/** || C - Cq || / || C || of A (rows, K) and B (rows, K); A and B are values, Cq is of both quantised. */
async function productError(
  format: BlockFormat,
  rule: ComparedRule,
  a: Float64Array | Float32Array,
  b: Float64Array | Float32Array,
  k: number,
  quantize: Quantize
): Promise<number> {
  const stored = async (operand: 'a' | 'b', values: Float64Array | Float32Array) =>
    isScaled(format[operand])
      ? restore(format, operand, await quantizeBy(format, operand, values, rule, quantize))
      : roundedTo(format[operand], values)
  const [aq, bq] = [await stored('a', a), await stored('b', b)]
  let signal = 0
  let noise = 0
  for (let m = 0; m < a.length / k; m++) {
    for (let n = 0; n < b.length / k; n++) {
      const exact = dot(a, b, m * k, n * k, k)
      signal += exact ** 2
      noise += (exact - dot(aq, bq, m * k, n * k, k)) ** 2
    }
  }
  return Math.sqrt(noise / signal)
}

/**
 * Products of a tensor with itself: its first rows by the next, as many as 16, at each K that it reaches. None where a value
 * is NaN or infinite.
 */
async function tensorProducts(
  format: BlockFormat,
  rule: ComparedRule,
  { values, rows, k: width }: TensorSample,
  ks: readonly number[],
  quantize: Quantize
): Promise<ProductAccuracy[]> {
  const count = Math.min(productRows, Math.floor(rows / 2))
  if (count === 0 || !values.every(Number.isFinite)) return []
  const part = (first: number, k: number) =>
    Float64Array.from({ length: count * k }, (_, i) => {
      return values[(first + Math.floor(i / k)) * width + (i % k)]!
    })
  const fitting = ks.filter((k) => k <= width && k % format.scaleBlockSize === 0)
  return Promise.all(
    fitting.map(async (k) => ({
      k,
      relativeError: await productError(format, rule, part(0, k), part(count, k), k, quantize)
    }))
  )
}

function dot(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  aFrom: number,
  bFrom: number,
  k: number
): number {
  let sum = 0
  for (let i = 0; i < k; i++) sum += a[aFrom + i]! * b[bFrom + i]!
  return sum
}

export interface ComparisonRow extends QuantizationError {
  format: string
  rule: ComparedRule
  /** The distribution, or the tensor. */
  distribution: string
  product: ProductAccuracy[]
  /** When asked for. */
  profile?: ErrorProfile | undefined
}

const sampleRows = 64
const sampleK = 256

/** Formats x rules x distributions, the operand that is quantised: one row each. */
export async function compareFormats(
  formats: readonly BlockFormat[],
  rules: readonly ScaleRule[],
  chosen: readonly Distribution[],
  ks: readonly number[],
  seed: number,
  quantize: Quantize,
  profiled = false
): Promise<ComparisonRow[]> {
  const rows: ComparisonRow[] = []
  for (const distribution of chosen) {
    const values = drawValues(distribution, sampleRows * sampleK, seed)
    for (const format of formats) {
      for (const rule of rulesOf(format, rules)) {
        const quantized = await quantizeBy(format, quantisedOperand(format), values, rule, quantize)
        const error = errorsOf(format, values, quantized, profiled)
        const product = await productAccuracy(format, rule, distribution, ks, seed, quantize)
        rows.push({ format: format.id, rule, distribution, ...error, product })
      }
    }
  }
  return rows
}

/** Formats x rules on rows of a real tensor, as the operand that is quantised; products of its rows with one another. */
export async function compareTensor(
  formats: readonly BlockFormat[],
  rules: readonly ScaleRule[],
  sample: TensorSample,
  ks: readonly number[],
  quantize: Quantize,
  profiled = false
): Promise<ComparisonRow[]> {
  const rows: ComparisonRow[] = []
  for (const format of formats) {
    for (const rule of rulesOf(format, rules)) {
      const operand = quantisedOperand(format)
      const quantized = await quantizeBy(format, operand, sample.values, rule, quantize)
      const error = errorsOf(format, sample.values, quantized, profiled)
      const product = await tensorProducts(format, rule, sample, ks, quantize)
      rows.push({ format: format.id, rule, distribution: sample.name, ...error, product })
    }
  }
  return rows
}

function rulesOf(format: BlockFormat, rules: readonly ScaleRule[]): readonly ComparedRule[] {
  return format.tensorScale ? [...new Set(rules.map(nvfp4RuleFor))] : rules
}
