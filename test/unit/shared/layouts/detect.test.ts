import { describe, expect, it, vi } from 'vitest'
import { detectLayout } from '@shared/layouts/detect'
import { detectionLines } from '@shared/layouts/detectWords'
import { defects, mistakenMap, type Defect } from '@shared/layouts/detectCandidates'
import { packedMap, packScales, unpackScales, type ScaleShape } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

// Every layout with every mistake: seconds on an idle machine.
vi.setConfig({ testTimeout: 120_000 })

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
          const padded = found.padded ?? shape
          const unpacked = unpackScales(findLayout(found.layout), padded, packed)
          for (let i = 0; i < linear.length; i++) {
            const [row, column] = [Math.floor(i / shape.columns), i % shape.columns]
            if (unpacked[row * padded.columns + column] !== linear[i]) expect.unreachable()
          }
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

describe('padding and length apart from order', () => {
  const shape = { rows: 300, columns: 8 }
  const linear = scalesOf(shape, 11)

  it('names the layout and what the rows were padded to, as aiter pads them to 256', () => {
    const aiter = { rows: 512, columns: 8 }
    const whole = new Uint8Array(aiter.rows * aiter.columns)
    whole.set(linear)
    const packed = packScales(findLayout('cdna4_mfma16'), aiter, whole)
    const found = detectLayout(packed, linear, shape)
    expect(found).toMatchObject({ verdict: 'layout', layout: 'cdna4_mfma16', padded: aiter })
    expect(found.firstDifference).toBeUndefined()
    expect(detectionLines(found, packed.length, shape)).toEqual([
      'cdna4_mfma16, padded to 512 x 8: all 300 x 8 scales lie where it puts them.'
    ])
  })

  it('a row of scales with a longer pitch is linear, padded', () => {
    const packed = new Uint8Array(300 * 16)
    for (let row = 0; row < 300; row++) packed.set(linear.subarray(row * 8, row * 8 + 8), row * 16)
    expect(detectLayout(packed, linear, shape)).toMatchObject({
      verdict: 'layout',
      layout: 'linear',
      padded: { rows: 300, columns: 16 }
    })
  })

  const packed = packScales(findLayout('nvidia_32_4_4'), shape, linear)

  it('bytes behind the layout are bytes behind it', () => {
    const longer = new Uint8Array(packed.length + 100)
    longer.set(packed)
    const found = detectLayout(longer, linear, shape)
    expect(found).toMatchObject({ verdict: 'length', layout: 'nvidia_32_4_4', agreement: 1 })
    expect(detectionLines(found, longer.length, shape)).toEqual([
      'nvidia_32_4_4: the order is right and the length is not: all 300 x 8 scales lie where it puts them, and 100 bytes follow that it has no use for.',
      `It takes ${packed.length} bytes; there are ${longer.length}.`,
      'The same bytes: triton_blackwell.'
    ])
  })

  it('a buffer cut off is cut off, and one cut to less than half is not judged so', () => {
    const shorter = packed.subarray(0, packed.length - 700)
    const found = detectLayout(shorter, linear, shape)
    expect(found).toMatchObject({ verdict: 'length', layout: 'nvidia_32_4_4' })
    expect(found.agreement).toBeLessThan(1)
    expect(detectionLines(found, shorter.length, shape)[0]).toContain('the rest is cut off')
    expect(detectLayout(packed.subarray(0, 900), linear, shape).verdict).toBe('nearest')
  })

  it('one wrong byte in a longer buffer is a wrong byte', () => {
    const longer = new Uint8Array(packed.length + 100)
    longer.set(packed)
    longer[40]! ^= 0x80
    expect(detectLayout(longer, linear, shape)).toMatchObject({
      verdict: 'nearest',
      layout: 'nvidia_32_4_4',
      firstDifference: { offset: 40 }
    })
  })
})

it('refuses linear scales of another size', () => {
  const run = () => detectLayout(new Uint8Array(4), new Uint8Array(3), { rows: 2, columns: 2 })
  expect(run).toThrow('The linear scales have 3 bytes; 2 x 2 needs 4.')
})
