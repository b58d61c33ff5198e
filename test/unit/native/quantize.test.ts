/** Quantising in C++ against src-shared/formats/quantize.ts, byte for byte: every element format, rule and edge. */
import fc from 'fast-check'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { decodeFloats } from '@shared/formats/floatTensor'
import { numberFormats, type NumberFormat } from '@shared/formats/numberFormat'
import { packFp4 } from '@shared/formats/pack'
import {
  finiteMaximum,
  nvfp4RuleFor,
  nvfp4TensorScale,
  quantizeMx,
  quantizeNvfp4,
  scaleRules,
  type Quantized,
  type ScaleRule
} from '@shared/formats/quantize'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import type { NativeStoredValues } from '../../../src-main/engine/nativeQuantizing'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const cancel = addon.createCancelFlag()
const { e2m1, e2m3, e3m2, e4m3, e5m2, e8m0, ue4m3 } = numberFormats

interface Form {
  element: NumberFormat
  scale: NumberFormat
  scaleBlockSize: number
}
const forms: Form[] = [
  ...[e2m1, e2m3, e3m2, e4m3, e5m2].map((element) => ({
    element,
    scale: e8m0,
    scaleBlockSize: 32
  })),
  { element: e2m1, scale: e8m0, scaleBlockSize: 16 },
  { element: e2m1, scale: ue4m3, scaleBlockSize: 16 }
]
const cases = forms.flatMap((form) =>
  scaleRules.map((rule) => {
    const name = `${form.element.name} with ${form.scale.name} per ${form.scaleBlockSize}, ${rule}`
    return [name, form, rule] as const
  })
)

function reference(form: Form, values: Float64Array, rule: ScaleRule, tensorScale?: number) {
  return form.scale === ue4m3
    ? quantizeNvfp4(values, nvfp4RuleFor(rule), tensorScale)
    : quantizeMx(values, form.element, form.scaleBlockSize, rule)
}

const wanted = (form: Form, rule: ScaleRule, tensorScale?: number) => ({
  element: form.element.name,
  scale: form.scale.name,
  scaleBlockSize: form.scaleBlockSize,
  rule,
  ...(tensorScale === undefined ? {} : { tensorScale })
})

async function expectSame(form: Form, values: Float64Array, rule: ScaleRule, tensorScale?: number) {
  const found = await addon.quantizeValues(values, wanted(form, rule, tensorScale), cancel)
  const expected: Quantized = reference(form, values, rule, tensorScale)
  expect(found.scales).toEqual(expected.scales)
  expect(found.codes).toEqual(expected.codes)
  expect(found.tensorScale).toBe(expected.tensorScale)
}

/** Deterministic noise in -1..1. */
function noise(count: number, seed: number): Float64Array {
  let state = seed >>> 0
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 32) * 2 - 1
  })
}

/** Steps, ties and their neighbours of every element format at scales all over the range; zeros, subnormals, the largest. */
function edges(): Float64Array {
  const grid = [
    0, -0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, 7, 7.5, 28, 30, 448, 464, 57344, 61440
  ]
  const scales = [1, 2 ** -14, 2 ** -126, 2 ** -149, 2 ** 100, 1.5, 3.1e-39, 2 ** 127 / 57344]
  const near = (x: number) => [
    x,
    -x,
    x * (1 + 2 ** -52),
    x * (1 - 2 ** -53),
    Math.fround(x * 1.0000001)
  ]
  const rows = scales.flatMap((scale) => grid.flatMap((x) => near(x * scale)))
  // Each of them in a block with zeros, and beside a larger one.
  const blocks = rows.flatMap((x, i) => {
    const other = rows[(i * 7) % rows.length]!
    return Array.from({ length: 32 }, (_, j) =>
      j === 3 ? x : j === 20 ? other : j % 5 ? 0 : x / 3
    )
  })
  return Float64Array.from(blocks)
}

describe.each(cases)('%s', (_name, form, rule) => {
  it('random values of many magnitudes', async () => {
    const flat = noise(32 * 200, 7)
    const steep = noise(32 * 200, 11).map((x, i) => x * 2 ** ((i * 31) % 250) * 2 ** -130)
    const heavy = noise(32 * 200, 13).map((x, i) => (i % 97 ? x : x * 3000))
    // Few bits, as bfloat16 has them: many squared errors are equal.
    const short = noise(32 * 400, 17).map((x) => Math.round(x * 16) / 8)
    for (const values of [flat, steep, heavy, short, flat.map(Math.fround)]) {
      await expectSame(form, values, rule)
    }
  })

  it('edges of the formats', async () => {
    await expectSame(form, edges(), rule)
  })

  it('NaN, infinities, zeros and blocks beside them', async () => {
    const values = noise(32 * 64, 3)
    values[5] = NaN
    values[700] = Infinity
    values[703] = -Infinity
    values.fill(0, 64, 96)
    values.fill(-0, 96, 128)
    await expectSame(form, values, rule)
    await expectSame(form, new Float64Array(64), rule)
    await expectSame(form, new Float64Array(64).fill(NaN), rule)
  })

  it('any float64', async () => {
    const float64 = fc.float64Array({ minLength: 64, maxLength: 64 })
    await fc.assert(fc.asyncProperty(float64, (values) => expectSame(form, values, rule)))
  })

  it('any float32', async () => {
    const float32 = fc.float32Array({ minLength: 64, maxLength: 64 })
    await fc.assert(
      fc.asyncProperty(float32, (values) => expectSame(form, Float64Array.from(values), rule))
    )
  })
})

it.each([0, 2 ** -149, 1e-30, 1 / 3, 1, 1e30, Infinity])(
  'nvfp4 with the tensor scale %s of a whole tensor',
  async (tensorScale) => {
    for (const rule of scaleRules) await expectSame(forms.at(-1)!, noise(320, 5), rule, tensorScale)
  }
)

it('refuses values and forms that fit nothing', () => {
  const form = wanted(forms[0]!, 'floor')
  expect(() => addon.quantizeValues(new Float64Array(31), form, cancel)).toThrow(
    'whole scale blocks'
  )
  const odd = { ...form, scaleBlockSize: 24 }
  expect(() => addon.quantizeValues(new Float64Array(24), odd, cancel)).toThrow(
    'Nothing is quantised'
  )
  const rule = { ...form, rule: 'down' as ScaleRule }
  expect(() => addon.quantizeValues(new Float64Array(32), rule, cancel)).toThrow('no scale rule')
})

describe('rows of files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quantize-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const [matrices, rows, k] = [3, 70, 96]
  const count = matrices * rows * k
  const values = noise(count, 23).map((x, i) => x * 2 ** (i % 9))
  const real = new Map<string, Uint8Array>([
    ['F64', new Uint8Array(values.buffer)],
    ['F32', new Uint8Array(Float32Array.from(values).buffer)],
    ['BF16', bytesOf16((i) => new Uint32Array(Float32Array.of(values[i]!).buffer)[0]! >>> 16)],
    ['F16', bytesOf16((i) => (i * 40503) & (i % 11 ? 0xbfff : 0x83ff))]
  ])
  function bytesOf16(code: (i: number) => number): Uint8Array {
    return new Uint8Array(Uint16Array.from({ length: count }, (_, i) => code(i)).buffer)
  }
  const lead = 24

  function stored(type: string): NativeStoredValues {
    writeFileSync(at(type), Buffer.concat([Buffer.alloc(lead, 0xff), real.get(type)!]))
    return { rowsPerMatrix: rows, k, place: { path: at(type), position: lead }, real: type }
  }

  it.each([...real.keys()])('%s into every form, in parts, in two layouts', async (type) => {
    const source = stored(type)
    const exact = decodeFloats(type, real.get(type)!)
    const range = { from: 0, to: matrices * rows }
    const scanned = await addon.scanValues(source, range, cancel)
    expect(scanned.largest).toBe(finiteMaximum(exact))
    for (const form of forms) {
      const tensorScale = form.scale === ue4m3 ? nvfp4TensorScale(scanned.largest) : 1
      const expected = reference(form, exact, 'mse', tensorScale)
      const codes = form.element === e2m1 ? packFp4(expected.codes) : expected.codes
      const shape = { rows, columns: k / form.scaleBlockSize }
      for (const name of ['linear', 'nvidia_32_4_4']) {
        const layout = findLayout(name)
        const size = shape.rows * shape.columns
        const scales = Array.from({ length: matrices }, (_, matrix) =>
          packScales(layout, shape, expected.scales.subarray(matrix * size, (matrix + 1) * size))
        )
        const file = Buffer.concat([Buffer.alloc(8), codes, ...scales])
        writeFileSync(at('out'), Buffer.alloc(file.length))
        const to = {
          form: wanted(form, 'mse', tensorScale),
          codes: { path: at('out'), position: 8 },
          scales: { path: at('out'), position: 8 + codes.length },
          layout: name
        }
        const middle = name === 'linear' ? 71 : rows
        for (const part of [
          { from: 0, to: middle },
          { from: middle, to: matrices * rows }
        ]) {
          const { badBlocks, bad } = await addon.quantizeRows(source, part, to, cancel)
          expect([badBlocks, bad]).toEqual([0, { nan: 0, infinite: 0, first: -1 }])
        }
        expect(readFileSync(at('out')).equals(file)).toBe(true)
      }
    }
  })

  it('counts what is no number and says where the first is', async () => {
    const bad = Float64Array.from(values)
    bad[2 * k + 7] = NaN
    bad[2 * k + 6] = -Infinity
    bad[100 * k] = Infinity
    writeFileSync(at('bad'), bad)
    const source = { ...stored('F64'), place: { path: at('bad'), position: 0 } }
    const found = { nan: 1, infinite: 2, first: 2 * k + 6 }
    const range = { from: 0, to: matrices * rows }
    expect((await addon.scanValues(source, range, cancel)).bad).toEqual(found)
    writeFileSync(at('bad.out'), Buffer.alloc(count + count / 32))
    const place = (position: number) => ({ path: at('bad.out'), position })
    const to = {
      form: wanted(forms[3]!, 'floor'),
      codes: place(0),
      scales: place(count),
      layout: 'linear'
    }
    expect(await addon.quantizeRows(source, range, to, cancel)).toEqual({
      badBlocks: 2,
      bad: found
    })
    const converted: NativeStoredValues = {
      rowsPerMatrix: rows,
      k,
      place: place(0),
      blockScaled: {
        element: 'e4m3',
        scales: { place: place(count), format: 'e8m0', scaleBlockSize: 32, layout: 'linear' },
        tensorScale: 1
      }
    }
    const compared = await addon.compareRows(source, converted, range, cancel)
    // Two blocks of 32 are NaN; of the three bad values one is a NaN as before.
    expect(compared).toMatchObject({ different: 63, lost: 61, bad: found })
    const good = Float64Array.from(bad, (x, i) => ([0, 1].includes(blockOf(i)) ? 0 : x))
    const { signal, largestError } = compared
    expect(signal / good.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 12)
    expect(largestError).toBeGreaterThan(0)
    function blockOf(i: number): number {
      return [Math.floor((2 * k + 7) / 32), Math.floor((100 * k) / 32)].indexOf(Math.floor(i / 32))
    }
  })

  it('ends with one sentence on a file that is missing, short or cancelled', async () => {
    const range = { from: 0, to: matrices * rows }
    const source = stored('F64')
    const missing = { ...source, place: { path: at('none'), position: 0 } }
    await expect(addon.scanValues(missing, range, cancel)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('none cannot be opened')
    })
    const short = { from: 0, to: matrices * rows + 1 }
    await expect(addon.scanValues(source, short, cancel)).rejects.toThrow('ended at byte')
    const stopped = addon.createCancelFlag()
    stopped.cancel()
    await expect(addon.scanValues(source, range, stopped)).rejects.toMatchObject({
      code: 'cancelled'
    })
  })
})
