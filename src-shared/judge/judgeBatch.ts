/** The mistake of a product of many matrices: looked for in a few of them, those that failed among them. */
import { broadcastBatch, matricesOf, matrixOfBatch } from '../batch'
import { scaleCount } from '../formats/blockFormat'
import { codeBytes } from '../formats/numberFormat'
import { findMistake, type Finding, type Judgement } from './findMistake'
import { finishOf } from './finish'
import { readingsOf, type JudgedOperands } from './operandReading'
import { agreement, compareSample, resultToJudge, spread, type Product } from './sampledProduct'

/** Operands of all matrices, one after another, those of an operand as its own batch has them. */
export interface JudgedBatch extends JudgedOperands {
  batchA: readonly number[]
  batchB: readonly number[]
}

interface Suspect {
  batch: number
  row: number
  col: number
}

/** Matrices of C that are looked at: of those that failed, and of all. */
const [ofFailed, ofAll] = [3, 3]
/** Pairs of matrices of A and B that are tried on one of C that nothing else explains. */
const mostPairs = 1024
/** Rows and columns by which a pair is told. */
const pairLook = 8

/** As findMistake, of C in as many matrices as the batches give; `output`: the type of C. */
export function judgeBatch(
  operands: JudgedBatch,
  product: Product,
  suspects: readonly Suspect[],
  output: string
): Judgement {
  const dims = broadcastBatch(operands.batchA, operands.batchB) ?? []
  const count = matricesOf(dims)
  const failed = [...new Set(suspects.map(({ batch }) => batch))].slice(0, ofFailed)
  const looked = [...new Set([...failed, ...spread(count, ofAll)])].sort((x, y) => x - y)
  const judged = looked.map((batch) => {
    const own = suspects.filter((suspect) => suspect.batch === batch)
    const [matrix, c] = [matrixOf(operands, dims, batch), productOf(operands, product, batch)]
    const { agrees, sampled, findings } = findMistake(matrix, c, own, output)
    const isUnexplained = agrees < 1 && findings.length === 0 && count > 1
    const other = isUnexplained ? otherMatrices(operands, dims, batch, c, output) : undefined
    return { batch, agrees, sampled, findings: other ? [other] : findings }
  })
  const sampled = judged.reduce((sum, one) => sum + one.sampled, 0)
  const agreeing = judged.reduce((sum, one) => sum + one.agrees * one.sampled, 0)
  const all = judged.flatMap(({ batch, findings }) =>
    findings.map((finding) => ({ batch, finding }))
  )
  const sentences = [...new Set(all.map(({ finding }) => finding.sentence))]
  const findings = sentences.map((sentence) => {
    const having = all.filter(({ finding }) => finding.sentence === sentence)
    const { finding } = having[0]!
    const agrees = Math.min(...having.map((one) => one.finding.agrees))
    if (having.length === judged.length || finding.kind === 'batch') return { ...finding, agrees }
    const where = having.map(({ batch }) => indexText(dims, batch)).join(', ')
    return { ...finding, agrees, sentence: `In matrix ${where} of C: ${sentence}` }
  })
  return { agrees: sampled === 0 ? 0 : agreeing / sampled, sampled, findings }
}

/** One matrix of C. */
export function productOf({ m, n }: JudgedOperands, product: Product, batch: number): Product {
  return product.subarray(batch * m * n, (batch + 1) * m * n)
}

/** The operands of one matrix of C; `a` and `b`: other matrices than those that broadcasting takes. */
export function matrixOf(
  operands: JudgedBatch,
  dims: readonly number[],
  batch: number,
  a = matrixOfBatch(operands.batchA, dims, batch),
  b = matrixOfBatch(operands.batchB, dims, batch)
): JudgedOperands {
  const { format, m, n, k, accumulator } = operands
  const scalesOf = (side: 'a' | 'b', rows: number) => scaleCount(format, side, rows, k)
  const cut = <T extends Uint8Array | Float32Array>(all: T, size: number, at: number) =>
    all.subarray(at * size, (at + 1) * size) as T
  return {
    ...operands,
    aCodes: cut(operands.aCodes, m * k * codeBytes(format.a), a),
    bCodes: cut(operands.bCodes, n * k, b),
    aScales: cut(operands.aScales, scalesOf('a', m), a),
    bScales: cut(operands.bScales, scalesOf('b', n), b),
    ...(accumulator && { accumulator: cut(accumulator, m * n, batch) })
  }
}

/** Whether a matrix of C is the product of other matrices of the operands than its own. */
function otherMatrices(
  operands: JudgedBatch,
  dims: readonly number[],
  batch: number,
  c: Product,
  output: string
): Finding | undefined {
  const { m, n, k, batchA, batchB } = operands
  const [countA, countB] = [matricesOf(batchA), matricesOf(batchB)]
  if (countA * countB > mostPairs) return undefined
  const result = resultToJudge(c, n, k, output)
  const look = { rows: spread(m, pairLook), columns: spread(n, pairLook) }
  for (let a = 0; a < countA; a++) {
    for (let b = 0; b < countB; b++) {
      const matrix = matrixOf(operands, dims, batch, a, b)
      const readings = readingsOf(matrix)
      const agrees = agreement(compareSample(readings, result, look, finishOf(matrix)), result)
      if (agrees < 1) continue
      const sentence =
        `Matrix ${indexText(dims, batch)} of C is what matrix ${indexText(batchA, a)} of A and ` +
        `${indexText(batchB, b)} of B give.`
      return { kind: 'batch', sentence, agrees, alike: [] }
    }
  }
  return undefined
}

/** '(1, 2)' */
function indexText(dims: readonly number[], at: number): string {
  const index: number[] = []
  let rest = at
  for (const extent of dims.toReversed()) {
    index.unshift(rest % extent)
    rest = Math.floor(rest / extent)
  }
  return `(${index.join(', ')})`
}
