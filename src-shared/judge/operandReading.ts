/**
 * An operand as a kernel reads it: which code and which scale it takes for an element, and what these bytes mean to it. The
 * right reading is `readingOf`; a mistake is the same reading with something changed.
 */
import type { BlockFormat } from '../formats/blockFormat'
import { codesIn, decodeTable, isScaled, type NumberFormat } from '../formats/numberFormat'

export interface JudgedOperands {
  format: BlockFormat
  m: number
  n: number
  k: number
  /** One code per byte, (M, K); of bf16 one in two bytes. */
  aCodes: Uint8Array
  /** One code per byte, (N, K). */
  bCodes: Uint8Array
  /** Linear, (M, K / V); empty where A carries none. */
  aScales: Uint8Array
  /** Linear, (N, K / V). */
  bScales: Uint8Array
  tensorScaleA?: number
  tensorScaleB?: number
  /** (M, N), added to the product. */
  accumulator?: Float32Array
  /** What C is multiplied by before it is rounded; absent: 1. */
  outputScale?: number
}

export interface OperandReading {
  rows: number
  k: number
  /** Elements along K that share one scale. */
  block: number
  codes: Uint8Array | Uint16Array
  scales: Uint8Array
  /** Position in `codes`. */
  codeAt(row: number, k: number): number
  /** Position in `scales`; undefined where the reading leaves them. */
  scaleAt(row: number, block: number): number | undefined
  element: Float64Array
  scale: Float64Array
  /** Elements from here on are not multiplied. */
  kEnd: number
  /** Of a row, (K), where they are known without codes and scales. */
  valuesOfRow?(row: number): Float64Array
}

export type Side = 'a' | 'b'

/** Value of every byte, or of every 16 bits; NaN for those that are no code. */
export function valuesOf(format: NumberFormat): Float64Array {
  const table = decodeTable(format)
  const values = new Float64Array(Math.max(256, table.length)).fill(NaN)
  values.set(table)
  return values
}

/** An operand without scales is read as if one of 1 stood for all of it. */
const noScales = {
  scales: Uint8Array.of(0),
  scaleAt: () => 0,
  scale: new Float64Array(256).fill(1)
}

export function readingOf(operands: JudgedOperands, side: Side): OperandReading {
  const { format, k } = operands
  const onA = side === 'a'
  const block = format.scaleBlockSize
  const blocks = k / block
  const element = onA ? format.a : format.b
  return {
    rows: onA ? operands.m : operands.n,
    ...{ k, block, kEnd: k },
    codes: codesIn(element, onA ? operands.aCodes : operands.bCodes),
    scales: onA ? operands.aScales : operands.bScales,
    codeAt: (row, at) => row * k + at,
    scaleAt: (row, at) => row * blocks + at,
    element: valuesOf(element),
    scale: valuesOf(format.scale),
    ...(!isScaled(element) && noScales)
  }
}

/** Both operands as they are. */
export const readingsOf = (operands: JudgedOperands): { a: OperandReading; b: OperandReading } => ({
  a: readingOf(operands, 'a'),
  b: readingOf(operands, 'b')
})

/** A row of the operand, scales applied, (K); undefined when the reading leaves the operand's memory. */
export function readRow(reading: OperandReading, row: number): Float64Array | undefined {
  if (reading.valuesOfRow) return reading.valuesOfRow(row)
  // Readings come in many shapes of object: their members are looked up once for a row.
  const { codes, scales, element, block, kEnd } = reading
  const values = new Float64Array(reading.k)
  for (let first = 0; first < kEnd; first += block) {
    const at = reading.scaleAt(row, first / block)
    if (at === undefined || at >= scales.length) return undefined
    const scale = reading.scale[scales[at]!]!
    const end = Math.min(first + block, kEnd)
    for (let k = first; k < end; k++) {
      const code = codes[reading.codeAt(row, k)]
      if (code === undefined) return undefined
      values[k] = scale * element[code]!
    }
  }
  return values
}
