import { describe, expect, it } from 'vitest'
import { detectLayout } from '@shared/layouts/detect'
import { defects, mistakenMap, type Defect } from '@shared/layouts/detectCandidates'
import { packedMap, packScales, type ScaleShape } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

/** Scales as quantised weights have them: exponents near a centre, sum of four uniform draws. */
function scalesOf({ rows, columns }: ScaleShape, seed: number): Uint8Array {
  let state = seed * 2654435761 + 1
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return Uint8Array.from({ length: rows * columns }, () =>
    Math.round(120 + 3 * (draw() + draw() + draw() + draw() - 2))
  )
}

const shapes: ScaleShape[] = [
  { rows: 128, columns: 4 },
  { rows: 128, columns: 16 },
  { rows: 256, columns: 8 },
  { rows: 100, columns: 5 },
  { rows: 200, columns: 24 },
  { rows: 384, columns: 12 },
  { rows: 33, columns: 9 },
  { rows: 512, columns: 8 }
]

const sameMap = (a: Int32Array, b: Int32Array) =>
  a.length === b.length && a.every((index, i) => index === b[i])

it('names the layout of all of 1000 buffers, and only layouts with the same map besides', () => {
  for (let i = 0; i < 1000; i++) {
    const layout = layouts[i % layouts.length]!
    const shape = shapes[Math.floor(i / layouts.length) % shapes.length]!
    const linear = scalesOf(shape, i)
    const found = detectLayout(packScales(layout, shape, linear, i & 255), linear, shape)
    expect(found.verdict).toBe('layout')
    const named = [found, ...found.alike].map((one) => one.layout)
    expect(named).toContain(layout.name)
    const map = packedMap(layout, shape)
    for (const name of named) expect(sameMap(packedMap(findLayout(name), shape), map)).toBe(true)
  }
})

describe.each(Object.keys(defects) as Defect[])('the mistake "%s"', (defect) => {
  it('is named for every layout that can suffer it', () => {
    let tried = 0
    for (const layout of layouts) {
      for (const shape of shapes) {
        const map = mistakenMap(layout, shape, defect)
        if (!map) continue
        const linear = scalesOf(shape, tried++)
        const packed = Uint8Array.from(map, (index) => (index < 0 ? 0 : linear[index]!))
        const found = detectLayout(packed, linear, shape)
        // A mistake can make the bytes of another layout: then that layout is what they are.
        if (found.verdict === 'layout') {
          expect(sameMap(packedMap(findLayout(found.layout), shape), map)).toBe(true)
          continue
        }
        expect(found.verdict).toBe('defect')
        const named = [found, ...found.alike]
        expect(named).toContainEqual(expect.objectContaining({ layout: layout.name, defect }))
        for (const one of named) {
          const other = mistakenMap(findLayout(one.layout), shape, one.defect!)!
          expect(sameMap(other, map)).toBe(true)
        }
      }
    }
    expect(tried).toBeGreaterThan(8)
  })
})

it('gives the nearest layout and the first wrong scale when bytes were damaged', () => {
  const shape = { rows: 256, columns: 8 }
  const linear = scalesOf(shape, 5)
  const packed = packScales(findLayout('nvidia_32_4_4'), shape, linear)
  packed[700]! ^= 0x80
  const found = detectLayout(packed, linear, shape)
  expect(found).toMatchObject({ verdict: 'nearest', layout: 'nvidia_32_4_4' })
  expect(found.agreement).toBeCloseTo(2047 / 2048, 6)
  const { offset, row, column, expected } = found.firstDifference!
  expect([offset, expected ^ 0x80]).toEqual([700, found.firstDifference!.found])
  expect(expected).toBe(linear[row * 8 + column])
})

it('refuses linear scales of another size', () => {
  const run = () => detectLayout(new Uint8Array(4), new Uint8Array(3), { rows: 2, columns: 2 })
  expect(run).toThrow('The linear scales have 3 bytes; 2 x 2 needs 4.')
})
