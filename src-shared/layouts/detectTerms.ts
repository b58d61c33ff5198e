/**
 * The product as equations in the scales of one operand. For operand A and its row m:
 *   C[m, n] = sum over blocks b of scaleA[m, b] * term(m, n, b),
 *   term(m, n, b) = scaleB[n, b] * sum over k in b of A[m, k] * B[n, k],
 * and the same for B with the roles exchanged. A product so says, without any layout, what its scales may be.
 */
import { UserError } from '../errors'
import { checkShape, scaleCount, type BlockFormat } from '../formats/blockFormat'
import {
  codeBytes,
  codeCount,
  codesIn,
  decodeTable,
  isScaled,
  type NumberFormat
} from '../formats/numberFormat'
import { roundingOf, type Rounding } from './detectRounding'
import type { ScaleShape } from './layout'

export interface ProductOperands {
  format: BlockFormat
  m: number
  n: number
  k: number
  /** One code per byte, of bf16 in two, (M, K). */
  aCodes: Uint8Array
  /** One code per byte, (N, K). */
  bCodes: Uint8Array
  /** The operand whose scales are looked for. */
  side: 'a' | 'b'
  /** Linear scales of the other operand: (N, K / V) for side a, (M, K / V) for side b, none of an A without scales. */
  otherScales: Uint8Array
  /** C, (M, N), without a scale per tensor. */
  product: Float64Array | Float32Array
}

/** Elements of the product that belong to one row of the operand whose scales are looked for. */
export interface RowEquations {
  row: number
  /** Rows of the other operand: with `row` they name the elements of C. */
  others: Int32Array
  /** (others, blocks). */
  terms: Float64Array
  /** (others, blocks): the same sums over |A B|, which bound what rounding may do. */
  magnitudes: Float64Array
  /** C at each of the others. */
  targets: Float64Array
}

export interface ScaleEquations {
  /** The scale matrix that is looked for. */
  shape: ScaleShape
  /** Rows of the other operand. */
  others: number
  /** Value of every scale code; NaN for bytes that are none. */
  scaleValues: Float64Array
  rounding: Rounding
  of(row: number, others: Int32Array): RowEquations
}

/** Throws a UserError when an array does not have the size or holds a code that the format lacks. */
export function scaleEquations(operands: ProductOperands): ScaleEquations {
  const { format, m, n, k, side, product } = operands
  checkOperands(operands)
  const onA = side === 'a'
  const a = { codes: codesIn(format.a, operands.aCodes), values: valuesOf(format.a) }
  const b = { codes: operands.bCodes, values: valuesOf(format.b) }
  const [own, other] = onA ? [a, b] : [b, a]
  const isOtherScaled = isScaled(onA ? format.b : format.a)
  const block = format.scaleBlockSize
  const blocks = k / block
  const scaleValues = valuesOf(format.scale)

  function of(row: number, others: Int32Array): RowEquations {
    const terms = new Float64Array(others.length * blocks)
    const magnitudes = new Float64Array(others.length * blocks)
    const ownValues = new Float64Array(k)
    for (let at = 0; at < k; at++) ownValues[at] = own.values[own.codes[row * k + at]!]!
    for (let i = 0; i < others.length; i++) {
      const otherRow = others[i]!
      for (let b = 0; b < blocks; b++) {
        let sum = 0
        let magnitude = 0
        for (let at = b * block; at < (b + 1) * block; at++) {
          const both = ownValues[at]! * other.values[other.codes[otherRow * k + at]!]!
          sum += both
          magnitude += Math.abs(both)
        }
        const scale = isOtherScaled ? scaleValues[operands.otherScales[otherRow * blocks + b]!]! : 1
        terms[i * blocks + b] = sum * scale
        magnitudes[i * blocks + b] = magnitude * Math.abs(scale)
      }
    }
    const targets = new Float64Array(others.length)
    for (let i = 0; i < others.length; i++)
      targets[i] = product[onA ? row * n + others[i]! : others[i]! * n + row]!
    return { row, others, terms, magnitudes, targets }
  }
  return {
    shape: { rows: onA ? m : n, columns: blocks },
    others: onA ? n : m,
    scaleValues,
    rounding: roundingOf(product, k),
    of
  }
}

/** By byte, also for bytes that are no code: those are NaN. */
function valuesOf(format: NumberFormat): Float64Array {
  const table = decodeTable(format)
  const values = new Float64Array(Math.max(256, table.length)).fill(NaN)
  values.set(table)
  return values
}

function checkOperands(operands: ProductOperands): void {
  const { format, m, n, k, side, aCodes, bCodes, otherScales, product } = operands
  checkShape(format, m, n, k)
  const [otherName, axis] = side === 'a' ? ['B', 'N'] : ['A', 'M']
  const needed = scaleCount(format, side === 'a' ? 'b' : 'a', side === 'a' ? n : m, k)
  requireCount('The codes of A', aCodes.length, m * k * codeBytes(format.a), 'M x K')
  requireCount('The codes of B', bCodes.length, n * k, 'N x K')
  requireCount(`The scales of ${otherName}`, otherScales.length, needed, `${axis} x K / V`)
  requireCount('The product', product.length, m * n, 'M x N')
  // Every 16 bits are a code.
  if (codeBytes(format.a) === 1) requireCodes('A', aCodes, format.a)
  requireCodes('B', bCodes, format.b)
  requireCodes(`the scales of ${otherName}`, otherScales, format.scale)
}

function requireCount(what: string, found: number, wanted: number, size: string): void {
  if (found === wanted) return
  throw new UserError('usage', `${what}: ${found} values; ${size} needs ${wanted}.`)
}

function requireCodes(what: string, codes: Uint8Array, format: NumberFormat): void {
  const limit = codeCount(format)
  const wrong = limit < 256 ? codes.findIndex((code) => code >= limit) : -1
  if (wrong < 0) return
  throw new UserError(
    'usage',
    `Byte ${wrong} of ${what} is ${codes[wrong]}; ${format.name} has the codes 0 to ${limit - 1}.`
  )
}
