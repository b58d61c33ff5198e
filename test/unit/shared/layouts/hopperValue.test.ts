import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  hopperValuePlace,
  interleaveCodes,
  packHopperValues,
  separateCodes,
  unpackHopperValues,
  type MmaVersion
} from '@shared/layouts/hopperValue'
import { loadTestAddon } from '../../../support/addon'

const addon = loadTestAddon()

interface Golden {
  mma: MmaVersion
  rows: number
  columns: number
  bytes: number
  sha256: string
}
const golden = JSON.parse(
  readFileSync('test/fixtures/layouts/hopper_value.json', 'utf8')
) as Golden[]

it.each(golden)('mma $mma, $rows x $columns bytes, as numpy does, and back', (one) => {
  const shape = { rows: one.rows, columns: one.columns }
  const packed = Uint8Array.from(
    { length: one.rows * one.columns },
    (_, i) => (i * 41 + Math.floor(i / 7)) & 255
  )
  const swizzled = packHopperValues(one.mma, shape, packed)
  expect(swizzled.length).toBe(one.bytes)
  expect(createHash('sha256').update(swizzled).digest('hex')).toBe(one.sha256)
  expect(unpackHopperValues(one.mma, shape, swizzled)).toEqual(packed)
  expect(addon.packHopperValues(one.mma, one.rows, one.columns, packed)).toEqual(swizzled)
  expect(addon.unpackHopperValues(one.mma, one.rows, one.columns, swizzled)).toEqual(packed)
})

it('C++ refuses another MMA version and another size', () => {
  expect(() => addon.packHopperValues(4, 2, 2, new Uint8Array(4))).toThrow(/MMA version 4/)
  expect(() => addon.packHopperValues(3, 2, 2, new Uint8Array(5))).toThrow(/5 bytes given; .* 4/)
  expect(() => addon.unpackHopperValues(3, 2, 2, new Uint8Array(4))).toThrow(/takes 16384/)
})

it('every byte survives interleaving; loose bytes are refused', () => {
  const bytes = Uint8Array.from({ length: 1024 }, (_, i) => (i * 73 + (i >> 8)) & 255)
  expect(separateCodes(interleaveCodes(bytes))).toEqual(bytes)
  expect(() => interleaveCodes(new Uint8Array(5))).toThrow('5 bytes do not divide into words of 4')
})

it.each([2, 3] as const)('mma %s: every bit of a value is where hopperValuePlace says', (mma) => {
  const shape = { rows: 300, k: 150 }
  const bytes = { rows: 300, columns: 75 }
  let seed = 5
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  for (let i = 0; i < 40; i++) {
    const [row, k] = [random(300), random(150)]
    const place = hopperValuePlace(mma, shape, row, k)
    for (let bit = 0; bit < 4; bit++) {
      const packed = new Uint8Array(300 * 75)
      packed[place.packedByte] = 1 << (bit + 4 * place.nibble)
      expect(place.packedByte).toBe(row * 75 + Math.floor(k / 2))
      const swizzled = packHopperValues(mma, bytes, packed)
      expect(swizzled.length).toBe(place.size)
      const at = swizzled.findIndex((byte) => byte !== 0)
      const set = (at % 2) * 8 + Math.log2(swizzled[at]!)
      expect([at - (at % 2), set]).toEqual([place.offset, place.bits[3 - bit]])
    }
  }
})

it.each([
  [{ rows: 4, k: 7 }, 0, 0, 'K = 7: two fp4 values share a byte, so K must be even.'],
  [{ rows: 4, k: 8 }, 4, 0, 'Row 4, column 0 lies outside 4 x 8 fp4 values.']
])('hopperValuePlace refuses %j', (shape, row, k, message) => {
  expect(() => hopperValuePlace(3, shape, row, k)).toThrow(message)
})
