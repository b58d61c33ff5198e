/**
 * The block-scaled formats: a pair of element types and a scale rule, which scale and how many elements along K share one.
 * OCP Microscaling Formats v1.0 section 6 (MX), NVIDIA's NVFP4 (two levels: a scale per 16 elements and a float32 per tensor).
 * Pairs that people use have a short name; every other pair that an instruction takes is named by its elements.
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'
import { isScaled, numberFormats, type NumberFormat, type NumberFormatName } from './numberFormat'

export interface BlockFormat {
  id: string
  title: string
  a: NumberFormat
  b: NumberFormat
  scale: NumberFormat
  /** Elements along K that share one scale: V. */
  scaleBlockSize: number
  /** Width-specific work metric of a Proton profile: by the wider operand. */
  flopsMetric: 'flops4' | 'flops8' | 'flops16'
  /** True: operands also carry one float32 scale per tensor. */
  tensorScale: boolean
}

function row(
  id: string,
  title: string,
  a: NumberFormatName,
  b: NumberFormatName,
  scale: NumberFormatName,
  scaleBlockSize: number
): BlockFormat {
  const wide = Math.max(numberFormats[a].storageBits, numberFormats[b].storageBits)
  return {
    id,
    title,
    a: numberFormats[a],
    b: numberFormats[b],
    scale: numberFormats[scale],
    scaleBlockSize,
    flopsMetric: wide === 4 ? 'flops4' : wide === 16 ? 'flops16' : 'flops8',
    tensorScale: scale === 'ue4m3'
  }
}

export const blockFormats: readonly BlockFormat[] = [
  row('nvfp4', 'NVFP4', 'e2m1', 'e2m1', 'ue4m3', 16),
  row('mxfp4', 'MXFP4', 'e2m1', 'e2m1', 'e8m0', 32),
  row('mxfp4_b16', 'FP4 with E8M0 per 16', 'e2m1', 'e2m1', 'e8m0', 16),
  row('mxfp8', 'MXFP8 E4M3', 'e4m3', 'e4m3', 'e8m0', 32),
  row('mxfp8_e5m2', 'MXFP8 E5M2', 'e5m2', 'e5m2', 'e8m0', 32),
  row('mxfp8_e4m3_e5m2', 'MXFP8 E4M3 x E5M2', 'e4m3', 'e5m2', 'e8m0', 32),
  row('mixed', 'MXFP8 x MXFP4', 'e4m3', 'e2m1', 'e8m0', 32),
  row('mxfp6_e2m3', 'MXFP6 E2M3', 'e2m3', 'e2m3', 'e8m0', 32),
  row('mxfp6_e3m2', 'MXFP6 E3M2', 'e3m2', 'e3m2', 'e8m0', 32),
  // W4A16: activations as they are, without scales, by quantised weights.
  row('w4a16_mxfp4', 'BF16 x MXFP4', 'bf16', 'e2m1', 'e8m0', 32),
  row('w4a16_nvfp4', 'BF16 x NVFP4', 'bf16', 'e2m1', 'ue4m3', 16)
]

/** The operand that is quantised: A, or B where A carries no scales. */
export const quantisedOperand = ({ a }: BlockFormat): 'a' | 'b' => (isScaled(a) ? 'a' : 'b')

/** Scales of `rows` rows of an operand along K: none of an A that carries none. */
export function scaleCount(
  format: BlockFormat,
  operand: 'a' | 'b',
  rows: number,
  k: number
): number {
  return isScaled(format[operand]) ? (rows * k) / format.scaleBlockSize : 0
}

/** Which elements may stand under a scale, in any pair. */
interface ScaleRule {
  scale: NumberFormatName
  scaleBlockSize: number
  elements: readonly NumberFormatName[]
}

/**
 * PTX ISA, mma with .block_scale: .kind::mxf8f6f4 mixes five types under ue8m0 per 32; .kind::mxf4nvf4 takes e2m1 under
 * ue8m0 or ue4m3 per 16. cuda.tile.mma_scaled defines the same for e2m1. No definition has ue4m3 per 32.
 */
export const pairRules: readonly ScaleRule[] = [
  { scale: 'e8m0', scaleBlockSize: 32, elements: ['e4m3', 'e5m2', 'e2m3', 'e3m2', 'e2m1'] },
  { scale: 'e8m0', scaleBlockSize: 16, elements: ['e2m1'] },
  { scale: 'ue4m3', scaleBlockSize: 16, elements: ['e2m1'] }
]

/** 'e5m2xe2m1' under e8m0 per 32, which needs no saying; 'e2m1xe2m1-ue4m3-16' in full. */
function pairName(a: string, b: string, scale: string, scaleBlockSize: number): string {
  return scale === 'e8m0' && scaleBlockSize === 32
    ? `${a}x${b}`
    : fullName(a, b, scale, scaleBlockSize)
}
const fullName = (a: string, b: string, scale: string, scaleBlockSize: number) =>
  `${a}x${b}-${scale}-${scaleBlockSize}`

const sameRule = (f: BlockFormat, a: string, b: string, scale: string, scaleBlockSize: number) =>
  f.a.name === a && f.b.name === b && f.scale.name === scale && f.scaleBlockSize === scaleBlockSize

/** Pairs that have no short name. */
export const pairFormats: readonly BlockFormat[] = pairRules.flatMap(
  ({ scale, scaleBlockSize, elements }) =>
    elements.flatMap((a) =>
      elements
        .filter((b) => !blockFormats.some((f) => sameRule(f, a, b, scale, scaleBlockSize)))
        .map((b) => {
          const id = pairName(a, b, scale, scaleBlockSize)
          return row(id, `${a.toUpperCase()} x ${b.toUpperCase()}`, a, b, scale, scaleBlockSize)
        })
    )
)

/** Short names first, then the other pairs. */
export const everyBlockFormat: readonly BlockFormat[] = [...blockFormats, ...pairFormats]

/** Throws a UserError for an id that is none. A pair may be written in full, or as it is where it has a short name. */
export function findBlockFormat(id: string): BlockFormat {
  const known = everyBlockFormat.find((format) => format.id === id) ?? formatOfPair(id)
  if (known) return known
  const ids = everyBlockFormat.map((format) => format.id)
  const listed = blockFormats.map((format) => format.id)
  const all = 'Formats, or all of them with "all", every pair with "pairs"'
  const found = knownName(id, ids, 'block-scaled format', all, [...listed, pairHint])
  return everyBlockFormat.find((format) => format.id === found)!
}

const pairHint = 'pairs such as e5m2xe2m1'

/**
 * 'e4m3xe2m1' and 'e4m3xe2m1-e8m0-32' are both "mixed"; undefined for what is no pair of elements. Throws a UserError for a
 * scale that the pair may not have.
 */
export function formatOfPair(id: string): BlockFormat | undefined {
  const parts = /^(\w+?)x(\w+)(?:-(\w+)-(\d+))?$/.exec(id.toLowerCase())
  if (!parts) return undefined
  const [, a, b, scale = 'e8m0', size = '32'] = parts
  const isElement = (name: string | undefined) => pairRules[0]!.elements.some((e) => e === name)
  if (!isElement(a) || !isElement(b)) return undefined
  return matchBlockFormat(a!, b!, scale, Number(size))
}

/** The format of operands that a file describes by element and scale names. */
export function matchBlockFormat(
  a: string,
  b: string,
  scale: string,
  scaleBlockSize: number
): BlockFormat {
  // An nvfp4 scale is an e4m3 without sign; files name it either way.
  const scaleName = scale === 'e4m3' ? 'ue4m3' : scale
  const found = everyBlockFormat.find((f) => sameRule(f, a, b, scaleName, scaleBlockSize))
  if (found) return found
  const rules = pairRules.map(
    (r) => `${r.scale} per ${r.scaleBlockSize} (${r.elements.join(', ')})`
  )
  throw new UserError(
    'usage',
    `No format has A ${a}, B ${b} and a ${scale} scale per ${scaleBlockSize} elements. Scales: ${rules.join('; ')}.`
  )
}

/** Throws a UserError unless M, N, K are whole and positive and K is a multiple of the scale block. */
export function checkShape(format: BlockFormat, m: number, n: number, k: number): void {
  for (const [name, value] of Object.entries({ M: m, N: n, K: k })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new UserError('usage', `${name}=${value} is no size; a whole number above 0 is needed.`)
    }
  }
  const block = format.scaleBlockSize
  if (k % block !== 0) {
    const near = Math.max(block, Math.round(k / block) * block)
    throw new UserError(
      'usage',
      `K=${k} is not a multiple of the scale block size ${block} of ${format.id}; the nearest is ${near}.`
    )
  }
}

/** Throws a UserError unless rows of N codes of B, as (K, N) has them, fill whole bytes. */
export function checkRowsOfN({ b }: BlockFormat, n: number): void {
  const group = b.storageBits === 4 ? 2 : b.storageBits === 6 ? 4 : 1
  if (n % group === 0) return
  throw new UserError(
    'usage',
    `B as (K, N) packs ${group} codes of ${b.name} along N; N=${n} is no multiple of that.`
  )
}

/** Bytes of one packed operand of rows x K: elements ceil(rows K bits / 8), and one byte for each scale, unpadded; an A of 16 bits has none. */
export function matrixBytes(
  format: BlockFormat,
  operand: 'a' | 'b',
  rows: number,
  k: number
): { elements: number; scales: number } {
  return {
    elements: Math.ceil((rows * k * format[operand].storageBits) / 8),
    scales: scaleCount(format, operand, rows, k)
  }
}

/** The same of A (M, K) and B (N, K) together. */
export function operandBytes(
  format: BlockFormat,
  m: number,
  n: number,
  k: number
): { elements: number; scales: number } {
  const [a, b] = [matrixBytes(format, 'a', m, k), matrixBytes(format, 'b', n, k)]
  return { elements: a.elements + b.elements, scales: a.scales + b.scales }
}
