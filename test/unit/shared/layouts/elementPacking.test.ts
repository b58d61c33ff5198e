/** Element packings against hand-made bytes of their sources, in TypeScript and C++. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packFp4 } from '@shared/formats/pack'
import {
  bitsText,
  elementAtBit,
  elementBit,
  elementPackings,
  findElementPacking,
  groupText,
  packElements,
  repackElements,
  unpackElements
} from '@shared/layouts/elementPacking'
import { loadTestAddon } from '../../../support/addon'

const addon = loadTestAddon()
const pack = (name: string, codes: number[]) =>
  Array.from(packElements(findElementPacking(name), Uint8Array.from(codes)))
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('element packings', () => {
  it.each([4, 6])('of %i bits go into one another as through one code a byte', (bits) => {
    const some = elementPackings.filter(({ storageBits }) => storageBits === bits)
    const codes = Uint8Array.from({ length: 192 }, (_, i) => (i * 37 + (i >> 3)) % 2 ** bits)
    for (const from of some) {
      for (const to of some) {
        const packed = packElements(from, codes)
        expect(repackElements(from, to, packed)).toEqual(packElements(to, codes))
      }
    }
  })

  it('fp4: two in a byte, from either end', () => {
    expect(pack('fp4_low_first', [1, 2, 15, 0])).toEqual([0x21, 0x0f])
    expect(pack('fp4_high_first', [1, 2, 15, 0])).toEqual([0x12, 0xf0])
  })

  // What dequantize_row_mxfp4 and dequantize_row_nvfp4 of ggml read: y[j] = low nibble of byte j, y[j + n/2] the high one.
  it.each([
    ['fp4_halves_32', 32],
    ['fp4_halves_16', 16]
  ])('%s: a ggml block, element j beside element j + %i / 2', (name, block) => {
    const codes = upTo(2 * block).map((i) => (i * 7 + 3) % 16)
    const bytes = pack(name, codes)
    const read = new Array<number>(2 * block)
    for (let at = 0; at < 2 * block; at += block) {
      for (let j = 0; j < block / 2; j++) {
        read[at + j] = bytes[at / 2 + j]! & 0x0f
        read[at + j + block / 2] = bytes[at / 2 + j]! >> 4
      }
    }
    expect(read).toEqual(codes)
  })

  it('16 codes in 16 bytes, the rest padding', () => {
    const padded = pack(
      'fp4_align16',
      upTo(32).map((i) => i % 16)
    )
    expect(padded).toHaveLength(32)
    expect(padded.slice(0, 8)).toEqual([0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe])
    expect(padded.slice(8, 16)).toEqual(new Array(8).fill(0))
    expect(padded.slice(16, 24)).toEqual(padded.slice(0, 8))
    const six = pack('fp6_align16', upTo(16))
    expect(six.slice(0, 12)).toEqual(pack('fp6_dense', upTo(16)))
    expect(six.slice(12)).toEqual([0, 0, 0, 0])
  })

  it('containers of a byte: low bits, and 0b00ABCD00 for kind::f8f6f4', () => {
    expect(pack('fp4_byte', [0b1011])).toEqual([0b1011])
    expect(pack('fp4_byte_middle', [0b1011])).toEqual([0b101100])
    expect(pack('fp6_byte', [0b101011])).toEqual([0b101011])
  })

  it('fp6: four in three bytes, little-endian', () => {
    expect(pack('fp6_dense', [1, 2, 3, 63])).toEqual([0x81, 0x30, 0xfc])
  })

  it('C++ knows the same packings', () => {
    expect(addon.elementPackings()).toEqual(elementPackings.map(({ name }) => name))
  })

  it.each(elementPackings.map((packing) => [packing.name, packing] as const))(
    '%s: codes come back, bytes are those of C++, no bit has two codes',
    (name, packing) => {
      const codes = fc
        .uint8Array({ max: 2 ** packing.storageBits - 1, maxLength: 96 })
        .map((list) => list.subarray(list.length % packing.bits.length))
      fc.assert(
        fc.property(codes, (list) => {
          const packed = packElements(packing, list)
          expect(unpackElements(packing, packed)).toEqual(list)
          expect(addon.packElements(name, list)).toEqual(packed)
          expect(addon.unpackElements(name, packed)).toEqual(list)
        })
      )
      const count = 2 * packing.bits.length
      const used = upTo(packing.groupBytes * 16).map((bit) => elementAtBit(packing, bit))
      for (const index of upTo(count)) {
        const first = elementBit(packing, index)
        expect(used.slice(first, first + packing.storageBits).every((at) => at === index)).toBe(
          true
        )
      }
      expect(used.filter((at) => at !== undefined)).toHaveLength(count * packing.storageBits)
    }
  )

  it('the fast path of tensors is fp4_low_first', () => {
    const codes = Uint8Array.from(upTo(64).map((i) => (i * 5) % 16))
    expect(packElements(findElementPacking('fp4_low_first'), codes)).toEqual(packFp4(codes))
  })

  it('refuses unknown names and open groups, in both languages', () => {
    expect(() => findElementPacking('fp4')).toThrow(/Packings: fp4_low_first, /)
    expect(() => addon.packElements('fp4', new Uint8Array(2))).toThrow(/no element packing/)
    const message = /31 .*fp4_halves_32.* do not divide into groups of 32/
    const codes = new Uint8Array(31)
    expect(() => packElements(findElementPacking('fp4_halves_32'), codes)).toThrow(message)
    expect(() => addon.packElements('fp4_halves_32', codes)).toThrow(/31 .*groups of 32/)
    expect(() => unpackElements(findElementPacking('fp6_dense'), codes)).toThrow(/groups of 3/)
    expect(() => addon.unpackElements('fp6_dense', codes)).toThrow(/groups of 3/)
  })

  it('draws a group, high bits first', () => {
    const drawn = (name: string) => groupText(findElementPacking(name))
    expect(drawn('fp4_low_first')).toBe('1 0')
    expect(drawn('fp4_high_first')).toBe('0 1')
    expect(drawn('fp4_halves_16')).toBe('8 0 | 9 1 | 10 2 | 11 3 | 12 4 | 13 5 | 14 6 | 15 7')
    expect(drawn('fp4_byte_middle')).toBe('. 0 .')
    expect(drawn('fp6_dense')).toBe('1 0 | 2 1 | 3 2')
    expect(drawn('fp4_align16')).toMatch(/^1 0 \| 3 2 .* 15 14( \| \.){8}$/)
  })

  it('says in words which bits', () => {
    expect(bitsText(4, 4)).toBe('bits 4 to 7')
    expect(bitsText(6, 6)).toBe('bits 6 to 7 and 0 to 3 of the next')
  })
})
