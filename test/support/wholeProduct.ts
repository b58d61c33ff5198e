/** Products of the whole operation in float64, by plain loops: C = output scale x (A x B + accumulator), batch by batch. */
import { broadcastBatch, matricesOf, matrixOfBatch } from '../../src-shared/batch'
import { decodeTable } from '../../src-shared/formats/numberFormat'
import type { JudgedBatch } from '../../src-shared/judge/judgeBatch'

export interface Wrong {
  /** Which matrix of B a matrix of C is made of. */
  b?: (matrix: number) => number
  added?: (value: number, matrix: number) => number
  outputScale?: number
}

export function wholeProduct(operands: JudgedBatch, wrong: Wrong = {}): Float64Array {
  const { format, m, n, k, batchA, batchB, accumulator } = operands
  const dims = broadcastBatch(batchA, batchB)!
  const { b = (matrix) => matrixOfBatch(batchB, dims, matrix) } = wrong
  const { added = (value) => value, outputScale = operands.outputScale ?? 1 } = wrong
  const [ofA, ofB, ofScale] = [format.a, format.b, format.scale].map(decodeTable)
  const blocks = k / format.scaleBlockSize
  const c = new Float64Array(matricesOf(dims) * m * n)
  for (let place = 0; place < c.length; place++) {
    const matrix = Math.floor(place / (m * n))
    const row = matrixOfBatch(batchA, dims, matrix) * m + (Math.floor(place / n) % m)
    const column = b(matrix) * n + (place % n)
    let sum = 0
    for (let at = 0; at < k; at++) {
      const block = Math.floor(at / format.scaleBlockSize)
      const left =
        ofA![operands.aCodes[row * k + at]!]! * ofScale![operands.aScales[row * blocks + block]!]!
      const right =
        ofB![operands.bCodes[column * k + at]!]! *
        ofScale![operands.bScales[column * blocks + block]!]!
      sum += left * right
    }
    c[place] = outputScale * (sum + added(accumulator?.[place] ?? 0, matrix))
  }
  return c
}

/** Numbers without a pattern that rows, columns or matrices could share (Knuth's multiplicative hash). */
export const scattered = (index: number, seed: number): number =>
  ((index * 2654435761 + seed * 40503) >>> 7) % 4096
