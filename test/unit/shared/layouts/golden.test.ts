import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  packedMap,
  packedOffset,
  packScales,
  paddedSize,
  scaleAt,
  unpackScales
} from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

interface GoldenMap {
  layout: string
  rows: number
  cols: number
  packed: number[]
}
const golden = JSON.parse(
  readFileSync('test/fixtures/golden/scale_layouts.json', 'utf8')
) as GoldenMap[]

describe('layouts against maps made with torch', () => {
  it.each(golden.map((map) => [`${map.layout} ${map.rows} x ${map.cols}`, map] as const))(
    '%s',
    (_name, { layout, rows, cols, packed }) => {
      expect(Array.from(packedMap(findLayout(layout), { rows, columns: cols }))).toEqual(packed)
    }
  )
})

/** spec formulas, written out by hand. */
const formulas: Record<string, (r: number, c: number, R: number, C: number) => number> = {
  linear: (r, c, _R, C) => r * C + c,
  nvidia_32_4_4: (r, c, _R, C) =>
    (((r / 128) | 0) * (C / 4) + ((c / 4) | 0)) * 512 +
    (r % 32) * 16 +
    (((r % 128) / 32) | 0) * 4 +
    (c % 4),
  cdna4_mfma32: (r, c, _R, C) =>
    ((r / 32) | 0) * 32 * C +
    ((c / 8) | 0) * 256 +
    (c % 2) * 128 +
    (r % 32) * 4 +
    (((c % 8) / 2) | 0),
  cdna4_mfma16: (r, c, _R, C) =>
    ((r / 32) | 0) * 32 * C +
    ((c / 8) | 0) * 256 +
    (c % 4) * 64 +
    (r % 16) * 4 +
    (((c % 8) / 4) | 0) * 2 +
    (((r % 32) / 16) | 0)
}
const padding: Record<string, [number, number]> = {
  linear: [1, 1],
  nvidia_32_4_4: [128, 4],
  cdna4_mfma32: [32, 8],
  cdna4_mfma16: [32, 8]
}

describe.each(layouts.map((layout) => [layout.name, layout] as const))('%s', (name, layout) => {
  const shapes = fc.record({
    rows: fc.integer({ min: 1, max: 300 }),
    columns: fc.integer({ min: 1, max: 40 })
  })

  it('gives the formula of its source, for sizes that do not divide too', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), fc.nat(), (shape, r, c) => {
        const row = r % shape.rows
        const column = c % shape.columns
        const [rowTile, columnTile] = padding[name]!
        const R = Math.ceil(shape.rows / rowTile) * rowTile
        const C = Math.ceil(shape.columns / columnTile) * columnTile
        expect(packedOffset(layout, shape, row, column)).toBe(formulas[name]!(row, column, R, C))
        expect(paddedSize(layout, shape.rows, shape.columns)).toBe(R * C)
      })
    )
  })

  it('unpacking undoes packing, and the inverse finds every scale', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const linear = Uint8Array.from({ length: shape.rows * shape.columns }, (_, i) => i * 37)
        const packed = packScales(layout, shape, linear, 0xee)
        expect(unpackScales(layout, shape, packed)).toEqual(linear)
        packedMap(layout, shape).forEach((index, offset) => {
          const found = scaleAt(layout, shape, offset)
          expect(found.padding).toBe(index < 0)
          if (!found.padding) expect(found.row * shape.columns + found.column).toBe(index)
        })
      }),
      { numRuns: 20 }
    )
  })
})
