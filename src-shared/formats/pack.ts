/**
 * Two fp4 codes in a byte, the one of even index along K in the low nibble: what checkpoints and kernels hold. Written out
 * because whole tensors go through it; every other order is in src-shared/layouts/elementPacking.ts.
 */
import { UserError } from '../errors'

export function packFp4(codes: Uint8Array): Uint8Array {
  if (codes.length % 2 !== 0) {
    throw new UserError('usage', `${codes.length} fp4 codes do not divide into groups of 2.`)
  }
  const packed = new Uint8Array(codes.length / 2)
  for (let i = 0; i < packed.length; i++) {
    packed[i] = (codes[2 * i]! & 15) | ((codes[2 * i + 1]! & 15) << 4)
  }
  return packed
}

export function unpackFp4(packed: Uint8Array): Uint8Array {
  const codes = new Uint8Array(packed.length * 2)
  for (let i = 0; i < packed.length; i++) {
    codes[2 * i] = packed[i]! & 15
    codes[2 * i + 1] = packed[i]! >> 4
  }
  return codes
}
