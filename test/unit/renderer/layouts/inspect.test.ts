import { describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { numberFormats } from '@shared/formats/numberFormat'
import { packedMap } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import {
  clampPosition,
  compareLayouts,
  locate
} from '../../../../src-renderer/views/layouts/inspect'
import { columnsOf, shapeFrom } from '../../../../src-renderer/views/layouts/layoutForm'
import { decodeBytes, parseHex, sizeNote } from '../../../../src-renderer/views/layouts/scaleBytes'

const nvidia = findLayout('nvidia_32_4_4')
const linear = findLayout('linear')
const shape = { rows: 200, columns: 6 }

describe('a position', () => {
  it('has its byte, its block and every view', () => {
    const found = locate(nvidia, shape, { row: 35, column: 5 }, 16)
    // Row 35 is group 1, row 3 of it; column 5 is tile 1: 512 + 3 * 16 + 1 * 4 + 1.
    expect(found.offset).toBe(565)
    expect(found.elements).toEqual([80, 95])
    expect(found.views[0]).toMatchObject({ name: '5D', coordinates: [0, 1, 3, 1, 1] })
    expect(found.readers[0]).toMatchObject({ lanes: [3, 35, 67, 99], column: 5, byte: 1 })
    expect(locate(nvidia, shape, { row: 0, column: 7 }, 16).linearIndex).toBeUndefined()
    expect(clampPosition(nvidia, shape, { row: 999, column: 99 })).toEqual({ row: 255, column: 7 })
  })
})

it('compares layouts byte by byte', () => {
  expect(compareLayouts(nvidia, nvidia, shape)?.different).toBe(0)
  const found = compareLayouts(nvidia, linear, { rows: 128, columns: 4 })
  expect(found?.first).toEqual({
    offset: 4,
    scales: [
      { row: 32, column: 0 },
      { row: 1, column: 0 }
    ]
  })
})

it('reads hex and says in words what is wrong with it', () => {
  expect(parseHex('7f 0x80,\n81').value).toEqual(Uint8Array.of(0x7f, 0x80, 0x81))
  expect(parseHex('7g').problem).toContain('"g" is no hex digit')
  expect(parseHex('7f8').problem).toContain('one is missing')
  expect(sizeNote(3, nvidia, shape)).toContain('do not fit')
  expect(sizeNote(2048, nvidia, shape)).toContain('with its padding')
})

it('decodes bytes in both orders', () => {
  const bytes = new Uint8Array(2048).fill(0x80)
  const rows = decodeBytes(bytes, numberFormats.e8m0, nvidia, shape, 16)
  expect(rows[4]).toMatchObject({
    offset: 4,
    hex: '80',
    value: 2,
    packed: '32, 0',
    linear: '0, 4'
  })
})

it('places the layout once for all bytes of a file, not once a byte', () => {
  let looks = 0
  const watched = {
    ...nvidia,
    get order() {
      looks++
      return nvidia.order
    }
  }
  const large = { rows: 4096, columns: 16 }
  const bytes = new Uint8Array(65_536).map((_, i) => i % 251)
  const rows = decodeBytes(bytes, numberFormats.e8m0, watched, large, 65_536)
  expect(looks).toBeLessThan(10)
  expect(rows).toHaveLength(65_536)
  const map = packedMap(nvidia, large)
  for (const offset of [0, 4, 513, 40_000, 65_535]) {
    const index = map[offset]!
    expect(rows[offset]!.packed).toBe(`${Math.floor(index / 16)}, ${index % 16}`)
  }
})

it('takes K in whole blocks and an address that says nothing', () => {
  const format = findBlockFormat('nvfp4')
  expect(columnsOf('96', format).value).toBe(6)
  expect(columnsOf('100', format).problem).toContain('the nearest is 96')
  expect(shapeFrom('x', '')).toEqual({ rows: 256, columns: 16 })
})
