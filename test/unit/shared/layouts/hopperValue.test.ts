import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  interleaveCodes,
  packHopperValues,
  separateCodes,
  unpackHopperValues,
  type MmaVersion
} from '@shared/layouts/hopperValue'

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
})

it('every byte survives interleaving; loose bytes are refused', () => {
  const bytes = Uint8Array.from({ length: 1024 }, (_, i) => (i * 73 + (i >> 8)) & 255)
  expect(separateCodes(interleaveCodes(bytes))).toEqual(bytes)
  expect(() => interleaveCodes(new Uint8Array(5))).toThrow('5 bytes do not divide into words of 4')
})
