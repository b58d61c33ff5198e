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

const outputBytes: Record<string, number> = { f16: 2, bf16: 2, f32: 4, e4m3: 1 }

/**
 * Work of one product, spec/measurement: bytes = ceil(M K bitsA / 8) + ceil(N K bitsB / 8) + scale bytes
 * + M N sizeof(C).
 */
export function workOf(
  format: string,
  m: number,
  n: number,
  k: number,
  output: string,
  scaleLayout: string
): Work {
  const sizeOfC = outputBytes[output]
  if (!sizeOfC)
    throw new UserError('usage', `"${output}" is no output type. Use f16, bf16, f32 or e4m3.`)
  const block = findBlockFormat(format)
  const operands = operandBytes(block, m, n, k)
  const blocks = k / block.scaleBlockSize
  const layout = findLayout(scaleLayout)
  const paddedScales = paddedSize(layout, m, blocks) + paddedSize(layout, n, blocks)
  const c = m * n * sizeOfC
  return {
    flops: 2 * m * n * k,
    bytes: operands.elements + operands.scales + c,
    paddedBytes: operands.elements + paddedScales + c
  }
}
