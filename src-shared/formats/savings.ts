/** What a format saves: bytes of weights, or of both operands, as bars beside fp32, bf16 and fp8. */
import { matrixBytes, operandBytes, type BlockFormat } from './blockFormat'

export interface WeightMatrix {
  rows: number
  k: number
  /** How often a model has it. */
  count: number
}

export interface WeightSet {
  id: string
  title: string
  matrices: readonly WeightMatrix[]
}

/** Linear layers of a decoder: attention with grouped heads, gated MLP. Extents are those of the published config.json. */
function decoder(
  layers: number,
  hidden: number,
  keys: number,
  inner: number
): readonly WeightMatrix[] {
  return [
    { rows: hidden, k: hidden, count: 2 * layers },
    { rows: keys, k: hidden, count: 2 * layers },
    { rows: inner, k: hidden, count: 2 * layers },
    { rows: hidden, k: inner, count: layers }
  ]
}

export const weightSets: readonly WeightSet[] = [
  {
    id: 'llama-70b-gate',
    title: 'Llama 3 70B, MLP gate: 28,672 × 8,192',
    matrices: [{ rows: 28_672, k: 8192, count: 1 }]
  },
  {
    id: 'llama-70b',
    title: 'Llama 3 70B, all linear layers of 80 blocks',
    matrices: decoder(80, 8192, 1024, 28_672)
  },
  {
    id: 'llama-8b',
    title: 'Llama 3 8B, all linear layers of 32 blocks',
    matrices: decoder(32, 4096, 1024, 14_336)
  },
  { id: 'own', title: 'my own shape', matrices: [] }
]

export interface SavingsBar {
  id: string
  title: string
  elements: number
  scales: number
  /** Bits for each value, scales included, and bits of scales alone. */
  bits: number
  scaleBits: number
  /** Bytes of bf16 over these. */
  ofBf16: number
  blockScaled: boolean
}

const plain = [
  ['fp32', 'fp32', 32],
  ['bf16', 'bf16', 16],
  ['fp8', 'fp8, one scale a tensor', 8]
] as const

export interface Bytes {
  elements: number
  scales: number
}

/** Bars from bytes of each format; `values` is how many values there are. */
function bars(
  formats: readonly BlockFormat[],
  values: number,
  bytesOf: (format: BlockFormat) => Bytes
): SavingsBar[] {
  const bar = (id: string, title: string, bytes: Bytes, blockScaled: boolean): SavingsBar => ({
    id,
    title,
    ...bytes,
    bits: (8 * (bytes.elements + bytes.scales)) / values,
    scaleBits: (8 * bytes.scales) / values,
    ofBf16: (2 * values) / (bytes.elements + bytes.scales),
    blockScaled
  })
  const scaled = formats.map((format) => bar(format.id, format.id, bytesOf(format), true))
  return [
    ...plain.map(([id, title, bits]) =>
      bar(id, title, { elements: (values * bits) / 8, scales: 0 }, false)
    ),
    ...scaled.sort((one, other) => other.bits - one.bits)
  ]
}

const fits = (ks: readonly number[]) => (format: BlockFormat) =>
  ks.every((k) => k % format.scaleBlockSize === 0)

/** Weights as operand B. Formats whose blocks do not divide K are left out, as those that differ by their A alone. */
export function weightBars(
  formats: readonly BlockFormat[],
  matrices: readonly WeightMatrix[]
): SavingsBar[] {
  const sum = (of: (matrix: WeightMatrix) => number) =>
    matrices.reduce((total, matrix) => total + matrix.count * of(matrix), 0)
  return bars(
    formats.filter(fits(matrices.map(({ k }) => k))).filter(({ a, b }) => a === b),
    sum(({ rows, k }) => rows * k),
    (format) => ({
      elements: sum(({ rows, k }) => matrixBytes(format, 'b', rows, k).elements),
      scales: sum(({ rows, k }) => matrixBytes(format, 'b', rows, k).scales)
    })
  )
}

export interface OperandsBar extends SavingsBar {
  a: Bytes
  b: Bytes
}

/** Both operands of a product: A (M, K) and B (N, K). */
export function operandBars(
  formats: readonly BlockFormat[],
  m: number,
  n: number,
  k: number
): OperandsBar[] {
  const all = bars(formats.filter(fits([k])), (m + n) * k, (format) =>
    operandBytes(format, m, n, k)
  )
  return all.map((bar) => {
    const format = formats.find(({ id }) => id === bar.id)
    const side = (operand: 'a' | 'b', rows: number): Bytes =>
      format
        ? matrixBytes(format, operand, rows, k)
        : { elements: (rows * k * bar.bits) / 8, scales: 0 }
    return { ...bar, a: side('a', m), b: side('b', n) }
  })
}
