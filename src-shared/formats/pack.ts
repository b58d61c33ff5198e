/** Codes in memory: fp4 two in a byte, the one of even index along K in the low nibble; fp6 four in three bytes. */
import { UserError } from '../errors'

function groupsOf(count: number, size: number, what: string): number {
  if (count % size !== 0) {
    throw new UserError('usage', `${count} ${what} do not divide into groups of ${size}.`)
  }
  return count / size
}

export function packFp4(codes: Uint8Array): Uint8Array {
  const packed = new Uint8Array(groupsOf(codes.length, 2, 'fp4 codes'))
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

/** Little-endian: code i of a group of four takes bits 6 i to 6 i + 5 of its 24. */
export function packFp6(codes: Uint8Array): Uint8Array {
  const groups = groupsOf(codes.length, 4, 'fp6 codes')
  const packed = new Uint8Array(groups * 3)
  for (let g = 0; g < groups; g++) {
    let word = 0
    for (let i = 0; i < 4; i++) word |= (codes[4 * g + i]! & 63) << (6 * i)
    for (let i = 0; i < 3; i++) packed[3 * g + i] = (word >> (8 * i)) & 255
  }
  return packed
}

export function unpackFp6(packed: Uint8Array): Uint8Array {
  const groups = groupsOf(packed.length, 3, 'bytes of fp6 codes')
  const codes = new Uint8Array(groups * 4)
  for (let g = 0; g < groups; g++) {
    const word = packed[3 * g]! | (packed[3 * g + 1]! << 8) | (packed[3 * g + 2]! << 16)
    for (let i = 0; i < 4; i++) codes[4 * g + i] = (word >> (6 * i)) & 63
  }
  return codes
}
