import { rowsMultiplied } from '../contract/groups'
import { plainOperation, type Operation } from '../contract/operation'
import { UserError } from '../errors'
import { isScaled } from '../formats/numberFormat'
import { findBlockFormat, operandBytes } from '../formats/blockFormat'
import { findLayout } from '../layouts/registry'
import { paddedSize } from '../layouts/layout'
import { broadcastBatch, matricesOf } from '../batch'

export interface Work {
  /** 2 M N K for each matrix of C */
  flops: number
  /** Packed operands, logical scales, accumulator and C, each once: the least that memory must move. */
  bytes: number
  /** The same with scales as the kernel's layout pads them. */
  paddedBytes: number
}

/** Bytes of one element of C. */
export const outputBytes: Record<string, number> = { f16: 2, bf16: 2, f32: 4, e4m3: 1, e5m2: 1 }

/** What a kernel reads: the packed format with its scales, or elements converted beforehand. */
export interface Reads {
  scaleLayout: string
  /** Bits of a converted element; 0: the format's own. */
  operandBits: number
}

/** What is done: the type of C, and what the operation has beside the plain product. */
export type Asked = { output: string } & Partial<Operation>

/**
 * Work of one operation: bytes = ceil(M K bitsA / 8) + ceil(N K bitsB / 8) + scale bytes + M N sizeof(C), each operand as
 * often as its batch has it, and 4 M N for an accumulator. Of groups, M is the rows that are multiplied, without padding, and
 * B is read for those that have rows; scales of A are padded for each group. A baseline's is what it reads itself: its converted elements, and
 * no block scales.
 */
export function workOf(
  format: string,
  m: number,
  n: number,
  k: number,
  asked: Asked,
  { scaleLayout, operandBits }: Reads
): Work {
  const { output, accumulate, batchA, batchB, groups } = { ...plainOperation, ...asked }
  const sizeOfC = outputBytes[output]
  if (!sizeOfC)
    throw new UserError(
      'usage',
      `"${output}" is no output type. Use ${Object.keys(outputBytes).join(', ')}.`
    )
  // Rows of A that share a padding, and how many matrices there are of B.
  const segments = groups?.rows.filter((rows) => rows > 0) ?? onesOf(m, matricesOf(batchA))
  const ofB = groups ? segments.length : matricesOf(batchB)
  const matrices = matricesOf(broadcastBatch(batchA, batchB) ?? [])
  const rowsA = segments.reduce((sum, rows) => sum + rows, 0)
  const rowsB = n * ofB
  const rowsC = groups ? rowsMultiplied(groups) : matrices * m
  const flops = 2 * rowsC * n * k
  const c = rowsC * n * (sizeOfC + (accumulate ? 4 : 0))
  if (operandBits > 0) {
    const bytes = ((rowsA + rowsB) * k * operandBits) / 8 + c
    return { flops, bytes, paddedBytes: bytes }
  }
  const block = findBlockFormat(format)
  const operands = operandBytes(block, rowsA, rowsB, k)
  const blocks = k / block.scaleBlockSize
  const layout = findLayout(scaleLayout)
  const paddedScales =
    (isScaled(block.a)
      ? segments.reduce((sum, rows) => sum + paddedSize(layout, rows, blocks), 0)
      : 0) +
    paddedSize(layout, n, blocks) * ofB
  return {
    flops,
    bytes: operands.elements + operands.scales + c,
    paddedBytes: operands.elements + paddedScales + c
  }
}

const onesOf = (rows: number, count: number): number[] => Array.from({ length: count }, () => rows)
