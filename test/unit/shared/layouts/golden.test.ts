import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  batchedOffset,
  batchedScaleAt,
  packBatch,
  unpackBatch,
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
const golden = ['golden/scale_layouts.json', 'layouts/scale_layouts_more.json'].flatMap(
  (file) => JSON.parse(readFileSync(`test/fixtures/${file}`, 'utf8')) as GoldenMap[]
)

describe('layouts against maps made with torch and numpy', () => {
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
    (((r % 32) / 16) | 0),
  flashinfer_8x4: (r, c, _R, C) =>
    ((r / 8) | 0) * 8 * C + ((c / 4) | 0) * 32 + (r % 8) * 4 + (c % 4),
  deepgemm_ue8m0: (r, c, R) => ((c / 4) | 0) * R * 4 + r * 4 + (c % 4),
  triton_blackwell: (r, c, _R, C) =>
    ((r / 128) | 0) * 128 * C +
    ((c / 4) | 0) * 512 +
    (r % 32) * 16 +
    (((r % 128) / 32) | 0) * 4 +
    (c % 4),
  triton_hopper_4warps: (r, c, _R, C) => hopper(r, c, C, 4),
  triton_hopper_8warps: (r, c, _R, C) => hopper(r, c, C, 8),
  aiter_gfx1250_n32k4: (r, c, _R, C) => tiles(r, c, C, 32, 4),
  aiter_gfx1250_n32k8: (r, c, _R, C) => tiles(r, c, C, 32, 8),
  aiter_gfx1250_n16k4: (r, c, _R, C) => tiles(r, c, C, 16, 4),
  aiter_kwidth8: (r, c, _R, C) => kWidth(r, c, C, 8),
  aiter_kwidth16: (r, c, _R, C) => kWidth(r, c, C, 16),
  aiter_gfx1250_gate_up: (r, c, R, C) => tiles(gateUpRow(r, R), c, C, 32, 4),
  // Row i of gate and row i of up take the places of rows i and i + 16 of a tile of 32.
  aiter_gfx950_gate_up: (r, c, R, C) => {
    const i = r % (R / 2)
    const row = Math.floor(i / 16) * 32 + (i % 16) + (r < R / 2 ? 0 : 16)
    return formulas.cdna4_mfma16!(row, c, R, C)
  },
  linear_128x4: (r, c, _R, C) => r * C + c,
  nunchaku_micro: (r, c, _R, C) =>
    Math.floor(r / 128) * 128 * C +
    Math.floor(c / 4) * 512 +
    (r % 8) * 64 +
    (Math.floor(r / 8) % 4) * 16 +
    (Math.floor(r / 32) % 4) * 4 +
    (c % 4)
}

/** Tiles of rows x columns, each row-major. */
const tiles = (r: number, c: number, C: number, rows: number, columns: number) =>
  Math.floor(r / rows) * rows * C +
  Math.floor(c / columns) * rows * columns +
  (r % rows) * columns +
  (c % columns)

/** 128-row tiles in which rows r, r + 32, r + 64, r + 96 lie side by side, so many columns of each. */
const kWidth = (r: number, c: number, C: number, width: number) =>
  Math.floor(r / 128) * 128 * C +
  Math.floor(c / width) * 128 * width +
  (r % 32) * 4 * width +
  (Math.floor(r / 32) % 4) * width +
  (c % width)

const gateUpRow = (r: number, R: number) => 2 * (r % (R / 2)) + Math.floor(r / (R / 2))

/** A warp's 32 rows come from two halves of the tile, 16 rows each. */
function hopper(r: number, c: number, C: number, warps: number): number {
  const inTile = r % (32 * warps)
  const half = Math.floor(inTile / (16 * warps))
  const warp = Math.floor(inTile / 16) % warps
  const quarter = Math.floor(r / 8) % 2
  return (
    (Math.floor(r / (32 * warps)) * warps + warp) * 32 * C +
    Math.floor(c / 2) * 64 +
    half * 32 +
    (r % 8) * 4 +
    (c % 2) * 2 +
    quarter
  )
}

const padding: Record<string, [number, number]> = {
  linear: [1, 1],
  nvidia_32_4_4: [128, 4],
  cdna4_mfma32: [32, 8],
  cdna4_mfma16: [32, 8],
  flashinfer_8x4: [8, 4],
  deepgemm_ue8m0: [4, 4],
  triton_blackwell: [128, 8],
  triton_hopper_4warps: [128, 2],
  triton_hopper_8warps: [256, 2],
  aiter_gfx1250_n32k4: [32, 4],
  aiter_gfx1250_n32k8: [32, 8],
  aiter_gfx1250_n16k4: [16, 4],
  aiter_kwidth8: [128, 8],
  aiter_kwidth16: [128, 16],
  aiter_gfx1250_gate_up: [32, 4],
  aiter_gfx950_gate_up: [32, 8],
  linear_128x4: [128, 4],
  nunchaku_micro: [128, 4]
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
        const map = packedMap(layout, shape)
        const offsets = [...map.keys()].filter((offset) => offset % 7 === 0)
        const found = offsets.map((offset) => {
          const { row, column, padding } = scaleAt(layout, shape, offset)
          return padding ? -1 : row * shape.columns + column
        })
        expect(found).toEqual(offsets.map((offset) => map[offset]))
      }),
      { numRuns: 20 }
    )
  })
})

it('matrices of a batch follow one another, each padded by itself', () => {
  // FlashInfer get_sf_out_offset_128x4 with a batch index, 200 rows and 9 columns: 2 x 3 tiles of 512 bytes.
  const layout = findLayout('flashinfer_128x4')
  const shape = { rows: 200, columns: 9 }
  const inMatrix = (3 + 2) * 512 + (150 % 32) * 16 + Math.floor((150 % 128) / 32) * 4
  expect(batchedOffset(layout, shape, 2, 150, 8)).toBe(2 * 6 * 512 + inMatrix)
  expect(batchedScaleAt(layout, shape, 2 * 6 * 512 + inMatrix)).toMatchObject({
    batch: 2,
    row: 150,
    column: 8,
    padding: false
  })
  const linear = Uint8Array.from({ length: 3 * 200 * 9 }, (_, i) => (i * 7919) & 255)
  const packed = packBatch(layout, shape, linear)
  expect(packed).toHaveLength(3 * 6 * 512)
  for (const [batch, row, column] of [
    [0, 0, 0],
    [1, 199, 8],
    [2, 150, 8]
  ] as const) {
    const at = batchedOffset(layout, shape, batch, row, column)
    expect(packed[at]).toBe(linear[(batch * 200 + row) * 9 + column])
  }
  expect(unpackBatch(layout, shape, packed)).toEqual(linear)
})
