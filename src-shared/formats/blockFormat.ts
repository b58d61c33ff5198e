/**
 * The block-scaled formats: which elements, which scale, how many elements along K share one. OCP Microscaling Formats
 * v1.0 section 6 (MX), NVIDIA's NVFP4 (two levels: a scale per 16 elements and a float32 per tensor).
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'
import { numberFormats, type NumberFormat, type NumberFormatName } from './numberFormat'

export interface BlockFormat {
  id: string
  title: string
  a: NumberFormat
  b: NumberFormat
  scale: NumberFormat
  /** Elements along K that share one scale: V. */
  scaleBlockSize: number
  /** Width-specific work metric of a Proton profile: by the wider operand. */
  flopsMetric: 'flops4' | 'flops8'
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
    flopsMetric: wide === 4 ? 'flops4' : 'flops8',
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
  row('mxfp6_e3m2', 'MXFP6 E3M2', 'e3m2', 'e3m2', 'e8m0', 32)
]

/** Throws a UserError for an id that is none. */
export function findBlockFormat(id: string): BlockFormat {
  const ids = blockFormats.map((format) => format.id)
  const found = knownName(id, ids, 'block-scaled format', 'Formats, or all of them with "all"')
  return blockFormats.find((format) => format.id === found)!
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
  const found = blockFormats.find(
    (f) =>
      f.a.name === a &&
      f.b.name === b &&
      f.scale.name === scaleName &&
      f.scaleBlockSize === scaleBlockSize
  )
  if (found) return found
  throw new UserError(
    'usage',
    `No format has A ${a}, B ${b} and a ${scale} scale per ${scaleBlockSize} elements.`
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

/** Bytes of one packed operand of rows x K: elements ceil(rows K bits / 8), and one byte for each scale, unpadded. */
export function matrixBytes(
  format: BlockFormat,
  operand: 'a' | 'b',
  rows: number,
  k: number
): { elements: number; scales: number } {
  return {
    elements: Math.ceil((rows * k * format[operand].storageBits) / 8),
    scales: (rows * k) / format.scaleBlockSize
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
