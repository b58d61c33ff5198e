import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packedMap, paddedShape, scaleAt } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { describeStep, tileLoad, tileSpans } from '@shared/layouts/tileLoad'

const loadAt = (
  name: string,
  shape: { rows: number; columns: number },
  at: { row: number; column: number },
  tile: { rows: number; columns: number }
) => {
  const layout = findLayout(name)
  return tileLoad(layout, shape, tileSpans(layout, shape, at, tile))
}

describe('the loads of a tile', () => {
  it('nvidia_32_4_4: one tcgen05.cp for 512 bytes, four tensor-memory columns each', () => {
    const shape = { rows: 256, columns: 32 }
    const tile = { rows: 128, columns: 16 }
    const load = loadAt('nvidia_32_4_4', shape, { row: 200, column: 20 }, tile)
    const { rows, columns, steps, tmaBox } = load
    expect({ rows, columns }).toEqual({ rows: [128, 255], columns: [16, 31] })
    // The second row of tiles begins at 128 * 32 bytes, its fifth block 4 * 512 further on.
    expect(steps).toEqual([
      [6144, 6655],
      [6656, 7167],
      [7168, 7679],
      [7680, 8191]
    ])
    const second = describeStep(findLayout('nvidia_32_4_4'), shape, load, 1)
    expect(second).toMatchObject({ rows: [128, 255], columns: [20, 23] })
    expect(second.instruction).toContain('tensor-memory columns 4 to 7')
    expect(tmaBox).toEqual({ start: [0, 1, 4, 0, 0], box: [1, 1, 4, 2, 256] })
  })

  it('linear: a row at a time; a tile as wide as the matrix is cut there too', () => {
    const shape = { rows: 8, columns: 6 }
    const part = loadAt('linear', shape, { row: 5, column: 4 }, { rows: 2, columns: 3 })
    expect(part.steps).toEqual([
      [27, 29],
      [33, 35]
    ])
    const whole = loadAt('linear', shape, { row: 5, column: 4 }, { rows: 2, columns: 6 })
    expect([0, 1].map((i) => describeStep(findLayout('linear'), shape, whole, i).rows)).toEqual([
      [4, 4],
      [5, 5]
    ])
  })

  it('cdna4: 256 bytes, one word per lane', () => {
    const shape = { rows: 64, columns: 16 }
    const load = loadAt('cdna4_mfma16', shape, { row: 0, column: 0 }, { rows: 32, columns: 16 })
    expect(load.steps).toEqual([
      [0, 255],
      [256, 511]
    ])
    expect(describeStep(findLayout('cdna4_mfma16'), shape, load, 0).instruction).toContain(
      'lane L takes bytes 4 L'
    )
  })

  it.each(layouts.map((layout) => [layout.name, layout] as const))(
    '%s: every byte of the tile once, and none besides',
    (_, layout) => {
      const size = fc.record({
        rows: fc.integer({ min: 1, max: 200 }),
        columns: fc.integer({ min: 1, max: 40 })
      })
      const cut = fc.record({
        rows: fc.integer({ min: 1, max: 200 }),
        columns: fc.integer({ min: 1, max: 24 })
      })
      fc.assert(
        fc.property(size, cut, fc.nat(), fc.nat(), (shape, tile, r, c) => {
          const padded = paddedShape(layout, shape)
          const at = { row: r % padded.rows, column: c % padded.columns }
          const spans = tileSpans(layout, shape, at, tile)
          const { steps, rows, columns } = tileLoad(layout, shape, spans)
          const inTile = ({ row, column }: { row: number; column: number }) =>
            row >= rows[0] && row <= rows[1] && column >= columns[0] && column <= columns[1]
          expect(inTile(at)).toBe(true)
          const bytes = packedMap(layout, shape).length
          const wanted = Array.from({ length: bytes }, (__, i) => i).filter((offset) =>
            inTile(scaleAt(layout, shape, offset))
          )
          const walked = steps.flatMap(([first, last]) =>
            Array.from({ length: last - first + 1 }, (__, i) => first + i)
          )
          expect(walked).toEqual(wanted)
        }),
        { numRuns: 6 }
      )
    }
  )
})
