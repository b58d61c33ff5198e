import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutText } from '@shared/layouts/describe'
import {
  packedMap,
  packedOffset,
  packScales,
  unpackScales,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()

interface GoldenMap {
  layout: string
  rows: number
  cols: number
  packed: number[]
}
const golden = ['golden/scale_layouts.json', 'layouts/scale_layouts_more.json'].flatMap(
  (file) => JSON.parse(readFileSync(`test/fixtures/${file}`, 'utf8')) as GoldenMap[]
)

/** Offsets, inverse, padded size, packing and unpacking of one layout and shape, C++ next to TypeScript. */
function compare(name: string, layout: ScaleLayout, shape: ScaleShape): void {
  const { rows, columns } = shape
  const map = packedMap(layout, shape)
  const offsets = new Int32Array(rows * columns)
  map.forEach((index, offset) => {
    if (index >= 0) offsets[index] = offset
  })
  expect(addon.layoutOffsets(name, rows, columns)).toEqual(offsets)
  expect(addon.layoutIndices(name, rows, columns)).toEqual(map)
  const linear = Uint8Array.from({ length: rows * columns }, (_, i) => (i * 37 + 1) & 255)
  const packed = packScales(layout, shape, linear)
  expect(addon.packScales(name, rows, columns, linear)).toEqual(packed)
  expect(addon.unpackScales(name, rows, columns, packed)).toEqual(linear)
  expect(unpackScales(layout, shape, packed)).toEqual(linear)
}

describe('built-in layouts in C++', () => {
  it('are those of the registry, digit for digit', () => {
    expect(addon.layouts()).toEqual(layouts.map(layoutText))
  })

  it.each(golden.map((map) => [`${map.layout} ${map.rows} x ${map.cols}`, map] as const))(
    '%s as torch and numpy have it',
    (_name, { layout, rows, cols, packed }) => {
      expect(Array.from(addon.layoutIndices(layout, rows, cols))).toEqual(packed)
    }
  )

  it.each(layouts.map((layout) => [layout.name, layout] as const))(
    '%s agrees with TypeScript on sizes that do not divide',
    (name, layout) => {
      for (const rows of [1, 31, 128, 257]) {
        for (const columns of [1, 3, 8, 13]) compare(name, layout, { rows, columns })
      }
    }
  )

  it('go by their other names, the same as in TypeScript', () => {
    const others =
      'cublas_128x4 cutile_swizzle_32_4_4 flashinfer_128x4 triton_gfx1250 triton_gfx950 ' +
      'aiter_e8m0_shuffle aiter_f4_mxfp4 aiter_f4_nvfp4'
    for (const name of others.split(' ')) compare(name, findLayout(name), { rows: 40, columns: 9 })
  })
})

describe('layouts of users', () => {
  /** Digits of one axis, most significant first: the extents inside a tile. */
  const tile = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 4 })
  const written = (prefix: string, extents: number[]) =>
    [0, ...extents].map((extent, i) => `${prefix}${i}:${extent}`)
  const userLayout = fc.tuple(tile, tile).chain(([row, column]) => {
    const rows = written('r', row)
    const columns = written('c', column)
    const names = [...rows, ...columns].map((digit) => digit.split(':')[0]!)
    return fc
      .shuffledSubarray(names, { minLength: names.length, maxLength: names.length })
      .map((order) =>
        JSON.stringify({
          name: 'mine',
          rows: rows.join(' '),
          columns: columns.join(' '),
          order: order.join(' ')
        })
      )
  })
  const extent = fc.integer({ min: 1, max: 40 })

  it('are the same in C++, whatever their digits and their order', () => {
    fc.assert(
      fc.property(userLayout, extent, extent, (json, rows, columns) => {
        const layout = parseUserLayout(json, 'mine.json')
        compare(layoutText(layout), layout, { rows, columns })
      }),
      { numRuns: 60 }
    )
  })

  it('come back from their text', () => {
    fc.assert(
      fc.property(userLayout, extent, extent, extent, extent, (json, rows, columns, r, c) => {
        const layout = parseUserLayout(json, 'mine.json')
        const back = findLayout(layoutText(layout))
        expect(layoutText(back)).toBe(layoutText(layout))
        const at = [{ rows, columns }, r % rows, c % columns] as const
        expect(packedOffset(back, ...at)).toBe(packedOffset(layout, ...at))
      })
    )
  })

  it.each([
    ['mine = a:0', 'it is not written as name = row digits | column digits | order'],
    ['mine = a:0 | b:0 | a b = c', 'is no usable layout'],
    ['mine = a:3 | b:0 | a b', 'one digit must have extent 0 (the rest)'],
    ['mine = a:0 c:0 | b:0 | a b c', '"a" and "c" both have extent 0'],
    ['mine = a:0 | a:0 | a a', 'the digit "a" appears twice'],
    ['mine = a:0 | b:0 | a b c', 'order names "c", which is no digit of rows or columns'],
    ['mine = a:0 | b:0 | a', 'order must name "b" exactly once'],
    ['mine = a:0 x:512 y:512 | b:0 | a b x y', 'tile of more than 65536']
  ])('"%s" is refused alike', (text, message) => {
    expect(() => addon.layoutOffsets(text, 4, 4)).toThrow(message)
    expect(() => findLayout(text)).toThrow(message)
  })
})

describe('bad input', () => {
  it.each([
    ['spiral', 1, 1, /"spiral" is no scale layout. Layouts: linear, nvidia_32_4_4,/],
    ['linear', 0, 1, /rows must be a whole number from 1 to 32768/],
    ['linear', 1, 32769, /cols must be a whole number from 1 to 32768/],
    ['big = a:0 b:65536 | c:0 d:65536 | a b c d', 1, 1, /big takes 4294967296 bytes/]
  ])('%s %i x %i is refused', (name, rows, cols, message) => {
    expect(() => addon.layoutOffsets(name, rows, cols)).toThrow(message)
    expect(() => addon.packScales(name, rows, cols, new Uint8Array(1))).toThrow(message)
  })

  it('scales of another size are refused', () => {
    const few = new Uint8Array(511)
    expect(() => addon.packScales('nvidia_32_4_4', 128, 4, few)).toThrow(/Uint8Array of 512 bytes/)
    expect(() => addon.unpackScales('nvidia_32_4_4', 1, 1, few)).toThrow(/of 512 bytes/)
    const words = new Int16Array(512) as unknown as Uint8Array
    expect(() => addon.packScales('nvidia_32_4_4', 128, 4, words)).toThrow(/Uint8Array of 512/)
  })
})
