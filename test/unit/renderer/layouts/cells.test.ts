import { describe, expect, it } from 'vitest'
import { fragmentPlace, fragments, runLength } from '@shared/layouts/fragments'
import { findLayout } from '@shared/layouts/registry'
import { tileLoad, tileSpans } from '@shared/layouts/tileLoad'
import {
  clampElement,
  fragmentCells,
  fragmentFrom,
  fragmentGrid,
  fragmentSummary
} from '../../../../src-renderer/views/layouts/fragmentCells'
import { scaleCells } from '../../../../src-renderer/views/layouts/scaleCells'

describe('cells of a fragment', () => {
  it('name lane and registers, and mark the selected lane', () => {
    const cell = fragmentCells(fragmentFrom('m16n8k64', 'A', ''), 13)
    expect(cell(11, 5)).toMatchObject({
      text: 'T13 r3',
      words: 'T13 r3: m 11, k 40 to 47',
      mark: 'step'
    })
    expect(cell(11, 4).mark).toBeUndefined()
    expect(cell(11, 4).hue).not.toBe(cell(11, 5).hue)
    // 16 elements of 8 bits fill four registers; 32 of 6 bits fill six.
    expect(fragmentCells(fragmentFrom('16x16x128', 'A', '8'), 0)(0, 4).text).toBe('T0 r4–7')
    expect(fragmentCells(fragmentFrom('16x16x128', 'B', '6'), 0)(2, 1).text).toBe('T18 r0–5')
    expect(fragmentCells(fragmentFrom('32x32x64', 'C', ''), 0)(13, 5).words).toBe(
      'T37 r5: m 13, n 5'
    )
  })

  it.each(fragments.map((one) => [`${one.shape} ${one.operand} ${one.bits}`, one] as const))(
    '%s: the grid holds every element in a cell of its lane',
    (_, fragment) => {
      const { rows, columns } = fragmentGrid(fragment)
      expect(rows * columns * runLength(fragment)).toBe(fragment.outerExtent * fragment.innerExtent)
      const cell = fragmentCells(fragment, 0)
      for (let inner = 0; inner < fragment.innerExtent; inner += 3) {
        const { lane } = fragmentPlace(fragment, rows - 1, inner)
        expect(cell(rows - 1, Math.floor(inner / runLength(fragment))).text).toMatch(`T${lane} r`)
      }
    }
  )

  it('an address that says nothing falls back', () => {
    const { shape, operand, bits } = fragmentFrom('x', 'D', '7')
    expect([shape, operand, bits]).toEqual(['m16n8k64', 'A', 4])
    expect(fragmentFrom('16x16x128', 'B', '4').bits).toBe(4)
    expect(clampElement(fragmentFrom('', 'B', ''), { row: 99, column: 99 })).toEqual({
      row: 7,
      column: 63
    })
    expect(fragmentSummary(fragmentFrom('', '', ''))).toBe(
      '32 elements of 4 bits a lane, in 4 registers'
    )
  })
})

it('cells of a walked tile are marked by their load', () => {
  const layout = findLayout('nvidia_32_4_4')
  const shape = { rows: 250, columns: 16 }
  const tile = { rows: 128, columns: 8 }
  const load = tileLoad(layout, shape, tileSpans(layout, shape, { row: 130, column: 2 }, tile))
  const cells = scaleCells({ layout, shape, bytes: undefined, walked: { load, step: 1 } })
  expect(cells.matrix(130, 2).mark).toBe('tile')
  expect(cells.matrix(130, 4)).toMatchObject({ mark: 'step', text: '2592' })
  expect(cells.matrix(130, 8).mark).toBeUndefined()
  expect(cells.matrix(2, 4).mark).toBeUndefined()
  expect(cells.memory(162, 0)).toMatchObject({ mark: 'step', text: '130,4' })
  expect(cells.memory(162, 0)!.words).toBe(
    '130,4: byte 2592, row 130, scale column 4, in this load'
  )
  expect(cells.memory(256, 0)).toBeUndefined()
  const bytes = new Uint8Array(4096).fill(0x7f)
  const plain = scaleCells({ layout, shape, bytes, walked: undefined })
  expect(plain.matrix(255, 0)).toMatchObject({ text: '7F', padding: true, mark: undefined })
})
