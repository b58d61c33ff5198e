import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packedOffset } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { wordOperations } from '@shared/layouts/wordOperations'
import { refusalOf } from '../../../../src-renderer/views/layouts/inspect'
import { extentOf, placeIn, swizzleOf } from '../../../../src-renderer/views/layouts/swizzle'
import { inkOn, swizzleRamp } from '../../../../src-renderer/views/layouts/swizzleColours'
import {
  cellAt,
  cellRect,
  cellTexts,
  copyOffsets,
  framesOf,
  hueNames,
  lineMarks,
  oneFrame,
  wayOf
} from '../../../../src-renderer/views/layouts/swizzleScene'
import { cellsIn, wordOf } from '../../../../src-renderer/views/layouts/swizzleMarks'
import { contrast, oklabDistance } from '../support/colourVision'

const of = (name: string) => swizzleOf(findLayout(name))!
const titles = (name: string) => of(name).steps.map(({ title }) => title)

describe('a swizzle', () => {
  it('is one move for nvidia_32_4_4: row groups go beside one another', () => {
    expect(titles('nvidia_32_4_4')).toEqual([
      'Matrix',
      'Reshape',
      'Permute',
      'Flatten',
      'Tensor memory'
    ])
    const { steps, hueOf, shadeOf, lineBytes } = of('nvidia_32_4_4')
    expect(steps[2]!.about).toBe('row group goes from the rows to the columns')
    expect([hueOf, shadeOf, lineBytes]).toEqual(['row group', 'column in tile', 16])
    expect(extentOf(steps[3]!)).toEqual({ x: { cells: 16, gaps: 0 }, y: { cells: 32, gaps: 0 } })
  })

  it('is two moves for cdna4_mfma16, one for mfma32, none for 8x4 tiles', () => {
    expect(titles('cdna4_mfma16').filter((title) => title === 'Permute')).toHaveLength(2)
    expect(titles('cdna4_mfma32').filter((title) => title === 'Permute')).toHaveLength(1)
    expect(titles('flashinfer_8x4')).toEqual(['Matrix', 'Flatten'])
    expect(swizzleOf(findLayout('linear'))).toBeUndefined()
  })

  it.each(layouts.filter((layout) => swizzleOf(layout)))(
    '$name ends at the bytes of memory',
    (layout) => {
      const { steps, cells, tile, lineBytes } = swizzleOf(layout)!
      const flat = steps.find(({ title }) => title === 'Flatten')!
      for (const cell of cells) {
        const { x, y } = placeIn(flat, cell)
        expect(y.index * lineBytes + x.index).toBe(
          packedOffset(layout, tile, cell.row, cell.column)
        )
        const start = placeIn(steps[0]!, cell)
        expect([start.y.index, start.x.index]).toEqual([cell.row, cell.column])
        expect(cell.hue).toBeLessThan(4)
        expect(cell.shade).toBeLessThan(4)
      }
      // Every step shows every scale once.
      for (const step of steps) {
        const places = cells.map((cell) => {
          const { x, y } = placeIn(step, cell)
          return `${x.index},${y.index}`
        })
        expect(new Set(places).size).toBe(cells.length)
      }
    }
  )
})

describe('its scene', () => {
  const swizzle = of('nvidia_32_4_4')
  const frames = framesOf(swizzle, 1200, 400)

  it('finds every cell where it is drawn, in every frame', () => {
    for (const cell of swizzle.cells.filter((_, i) => i % 37 === 0)) {
      for (const { x, y } of wayOf(swizzle, frames, cell)) {
        expect(cellAt(swizzle, frames, x, y)).toBe(cell)
      }
    }
    expect(cellAt(swizzle, frames, 1, 1)).toBeUndefined()
  })

  it('stands between two steps halfway through a morph', () => {
    const cell = swizzle.cells[200]!
    const at = (step: number) => cellRect(swizzle, oneFrame(swizzle, step, 800, 400), cell)
    expect(at(1.5).x).toBeCloseTo((at(1).x + at(2).x) / 2)
    expect(at(1.5).height).toBeCloseTo((at(1).height + at(2).height) / 2)
  })

  it('names every second, fourth, eighth line and so on, as far apart as names need', () => {
    const rows = frames.map((frame) =>
      lineMarks(swizzle, frame, ({ row }, _step, copy) => String(row + 32 * copy))
    )
    for (const marks of rows)
      for (const [at, { y }] of marks.entries())
        if (at > 0) expect(Math.abs(y - marks[at - 1]!.y)).toBeGreaterThan(20)
    expect(rows[0]!.map(({ text }) => Number(text))).toEqual([0, 16, 32, 48, 64, 80, 96, 112])
    expect(rows[4]!.map(({ text }) => Number(text))).toEqual([0, 16, 32, 48, 64, 80, 96, 112])
  })

  it('names each hue once, on a cell of it, and none that is in pieces', () => {
    for (const frame of frames) {
      const names = hueNames(swizzle, frame)
      expect(names.map(({ text }) => text)).toEqual(['g0', 'g1', 'g2', 'g3'])
      for (const { x, y, cell, text } of names) {
        expect(cellAt(swizzle, frames, x, y)!.hue).toBe(cell.hue)
        expect(text).toBe(`g${cell.hue}`)
      }
    }
    const cdna4 = of('cdna4_mfma16')
    const named = framesOf(cdna4, 1200, 400).map((frame) => hueNames(cdna4, frame).length)
    // Between the matrix and memory its bytes of a word lie in pieces.
    expect(named).toEqual([4, 4, 0, 0, 4])
    expect(hueNames(cdna4, oneFrame(cdna4, 0.5, 800, 400))).toEqual([])
  })

  it('stays within its frames, and copies tensor memory four times', () => {
    for (const frame of frames) {
      const offsets = copyOffsets(swizzle, frame)
      expect(offsets).toHaveLength(frame.step === 4 ? 4 : 1)
      for (const cell of swizzle.cells) {
        const rect = cellRect(swizzle, frame, cell)
        expect(rect.x + rect.width).toBeLessThanOrEqual(frame.area.x + frame.area.width)
        expect(rect.y + rect.height + offsets.at(-1)!).toBeLessThanOrEqual(400)
      }
    }
  })
})

describe('its colours', () => {
  const css = readFileSync('src-renderer/design/tokens.css', 'utf8')
  it.each(['light', 'dark'])('%s: ink can be read, and groups differ for every eye', (theme) => {
    const block = new RegExp(`\\[data-theme='${theme}'\\] \\{([^}]*)\\}`).exec(css)![1]!
    const ramp = swizzleRamp((name) => new RegExp(`${name}: (#[0-9a-f]{6})`).exec(block)![1]!)
    for (const { fill, ink } of ramp.flat()) {
      expect(ink).toBe(inkOn(fill))
      expect(contrast(fill, ink)).toBeGreaterThanOrEqual(4.5)
    }
    for (const eye of ['none', 'protan', 'deutan', 'tritan'] as const) {
      for (const shade of [0, 1, 2, 3]) {
        for (const [one, other] of [
          [0, 1],
          [0, 2],
          [0, 3],
          [1, 2],
          [1, 3],
          [2, 3]
        ] as const) {
          const distance = oklabDistance(ramp[one]![shade]!.fill, ramp[other]![shade]!.fill, eye)
          expect(distance).toBeGreaterThan(4.5)
        }
      }
    }
  })
})

it('numbers the operations that one load of a CDNA4 lane feeds', () => {
  const operations = wordOperations(findLayout('cdna4_mfma16'), { row: 21, column: 5 }, 32)
  expect(operations.map(({ operation }) => operation)).toEqual([0, 2, 1, 3])
  expect(operations[3]).toEqual({ byte: 3, operation: 3, rows: [16, 31], k: [128, 255] })
  const of32 = wordOperations(findLayout('cdna4_mfma32'), { row: 21, column: 5 }, 32)
  expect(of32.map(({ operation }) => operation)).toEqual([0, 1, 2, 3])
  expect(of32[2]).toEqual({ byte: 2, operation: 2, rows: [0, 31], k: [128, 191] })
  expect(wordOperations(findLayout('nvidia_32_4_4'), { row: 0, column: 0 }, 32)).toEqual([])
  expect(refusalOf('cdna4_mfma16', 16)).toContain('no CDNA4 instruction reads it')
  expect(refusalOf('cdna4_mfma16', 32)).toBeUndefined()
})

describe('texts in the cells', () => {
  const swizzle = of('nvidia_32_4_4')
  const flatten = swizzle.steps.findIndex(({ title }) => title === 'Flatten')
  const textOf = ({ row, column }: { row: number; column: number }) =>
    String(packedOffset(findLayout('nvidia_32_4_4'), { rows: 128, columns: 4 }, row, column))

  it('stand in the middle of every cell of a step that has room, in the order of memory', () => {
    const frame = oneFrame(swizzle, flatten, 1140, 500)
    const texts = cellTexts(swizzle, frame, textOf)
    expect(texts).toHaveLength(512)
    const heights = [...new Set(texts.map(({ y }) => Math.round(y)))].sort((a, b) => a - b)
    expect(heights).toHaveLength(32)
    const second = texts.filter(({ y }) => Math.round(y) === heights[1])
    second.sort((a, b) => a.x - b.x)
    expect(second.map(({ text }) => Number(text))).toEqual(
      Array.from({ length: 16 }, (_, i) => 16 + i)
    )
    for (const { cell, x, y } of second) {
      const rect = cellRect(swizzle, frame, cell)
      expect(x).toBeCloseTo(rect.x + rect.width / 2, 9)
      expect(y).toBeCloseTo(rect.y + rect.height / 2, 9)
    }
  })

  it('are left out while cells move, and where a text is wider or higher than its cell', () => {
    expect(cellTexts(swizzle, oneFrame(swizzle, flatten - 0.5, 1140, 500), textOf)).toEqual([])
    expect(cellTexts(swizzle, oneFrame(swizzle, flatten, 320, 500), textOf)).toEqual([])
    expect(cellTexts(swizzle, oneFrame(swizzle, flatten, 1140, 300), textOf)).toEqual([])
    expect(cellTexts(swizzle, oneFrame(swizzle, 0, 1140, 500), textOf)).toEqual([])
  })
})

describe('marks on a swizzle', () => {
  const shape = { rows: 128, columns: 4 }
  const marked = (name: string) => {
    const layout = findLayout(name)
    const swizzle = of(name)
    const offsetOf = ({ row, column }: { row: number; column: number }) =>
      packedOffset(layout, shape, row, column)
    const at = (row: number, column: number) =>
      swizzle.cells.find((cell) => cell.row === row && cell.column === column)!
    return { swizzle, offsetOf, at }
  }

  it('rings the scales that a lane reads with one: a row of nvidia_32_4_4, four operations of cdna4_mfma32', () => {
    const nvidia = marked('nvidia_32_4_4')
    const row = wordOf(nvidia.swizzle, nvidia.at(37, 2), nvidia.offsetOf)
    expect(row.map((cell) => [cell.row, cell.column])).toEqual([
      [37, 0],
      [37, 1],
      [37, 2],
      [37, 3]
    ])
    const layout = findLayout('cdna4_mfma32')
    const swizzle = of('cdna4_mfma32')
    const wide = { rows: swizzle.tile.rows, columns: swizzle.tile.columns }
    const words = wordOf(swizzle, swizzle.cells[0]!, (cell) =>
      packedOffset(layout, wide, cell.row, cell.column)
    )
    expect(words.map(({ row, column }) => [row, column]).sort()).toEqual(
      wordOperations(layout, swizzle.cells[0]!, 32)
        .map(({ rows, k }) => [rows[0], k[0] / 32])
        .sort()
    )
  })

  it('brightens what a load brings and nothing else', () => {
    const { swizzle, offsetOf, at } = marked('nvidia_32_4_4')
    const loaded = cellsIn(swizzle, [16, 31], offsetOf)
    expect(loaded.size).toBe(16)
    expect(loaded.has(at(1, 0))).toBe(true)
    expect(loaded.has(at(97, 3))).toBe(true)
    expect(loaded.has(at(0, 3))).toBe(false)
    expect(cellsIn(swizzle, [0, 511], offsetOf).size).toBe(swizzle.cells.length)
  })
})
