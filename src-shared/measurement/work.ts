import { plainOperation, type Operation } from '../contract/operation'
import { UserError } from '../errors'
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
 * often as its batch has it, and 4 M N for an accumulator. A baseline's is what it reads itself: its converted elements, and
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
  const { output, accumulate, batchA, batchB } = { ...plainOperation, ...asked }
  const sizeOfC = outputBytes[output]
  if (!sizeOfC)
    throw new UserError(
      'usage',
      `"${output}" is no output type. Use ${Object.keys(outputBytes).join(', ')}.`
    )
  const matrices = matricesOf(broadcastBatch(batchA, batchB) ?? [])
  const [rowsA, rowsB] = [m * matricesOf(batchA), n * matricesOf(batchB)]
  const flops = 2 * m * n * k * matrices
  const c = matrices * m * n * (sizeOfC + (accumulate ? 4 : 0))
  if (operandBits > 0) {
    const bytes = ((rowsA + rowsB) * k * operandBits) / 8 + c
    return { flops, bytes, paddedBytes: bytes }
  }
  const block = findBlockFormat(format)
  const operands = operandBytes(block, rowsA, rowsB, k)
  const blocks = k / block.scaleBlockSize
  const layout = findLayout(scaleLayout)
  const paddedScales =
    paddedSize(layout, m, blocks) * matricesOf(batchA) +
    paddedSize(layout, n, blocks) * matricesOf(batchB)
  return {
    flops,
    bytes: operands.elements + operands.scales + c,
    paddedBytes: operands.elements + paddedScales + c
  }
}
