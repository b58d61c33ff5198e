import { UserError } from '../errors'
import { findBlockFormat, operandBytes } from '../formats/blockFormat'
import { findLayout } from '../layouts/registry'
import { paddedSize } from '../layouts/layout'

export interface Work {
  /** 2 M N K */
  flops: number
  /** Packed operands, logical scales and C, each once: the least that memory must move. */
  bytes: number
  /** The same with scales as the kernel's layout pads them. */
  paddedBytes: number
}

/** Bytes of one element of C. */
export const outputBytes: Record<string, number> = { f16: 2, bf16: 2, f32: 4, e4m3: 1 }

/** What a kernel reads: the packed format with its scales, or elements converted beforehand. */
export interface Reads {
  scaleLayout: string
  /** Bits of a converted element; 0: the format's own. */
  operandBits: number
}

/**
 * Work of one product: bytes = ceil(M K bitsA / 8) + ceil(N K bitsB / 8) + scale bytes + M N sizeof(C). A baseline's is
 * what it reads itself: its converted elements, and no block scales.
 */
export function workOf(
  format: string,
  m: number,
  n: number,
  k: number,
  output: string,
  { scaleLayout, operandBits }: Reads
): Work {
  const sizeOfC = outputBytes[output]
  if (!sizeOfC)
    throw new UserError('usage', `"${output}" is no output type. Use f16, bf16, f32 or e4m3.`)
  const flops = 2 * m * n * k
  if (operandBits > 0) {
    const bytes = ((m * k + n * k) * operandBits) / 8 + m * n * sizeOfC
    return { flops, bytes, paddedBytes: bytes }
  }
  const block = findBlockFormat(format)
  const operands = operandBytes(block, m, n, k)
  const blocks = k / block.scaleBlockSize
  const layout = findLayout(scaleLayout)
  const paddedScales = paddedSize(layout, m, blocks) + paddedSize(layout, n, blocks)
  const c = m * n * sizeOfC
  return {
    flops,
    bytes: operands.elements + operands.scales + c,
    paddedBytes: operands.elements + paddedScales + c
  }
}
