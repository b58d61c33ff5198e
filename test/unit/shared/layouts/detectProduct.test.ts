import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { findBlockFormat, type BlockFormat } from '@shared/formats/blockFormat'
import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import { defects, mistakenMap, type Defect } from '@shared/layouts/detectCandidates'
import { detectFromProduct, type ProductDetection } from '@shared/layouts/detectProduct'
import { roundingOf } from '@shared/layouts/detectRounding'
import { sampleEquations } from '@shared/layouts/detectSample'
import type { ProductOperands, ScaleEquations } from '@shared/layouts/detectTerms'
import { packedMap, packScales, type ScaleShape } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

// Every layout with every mistake: seconds on an idle machine.
vi.setConfig({ testTimeout: 120_000 })

type Side = ProductOperands['side']

function generator(seed: number): () => number {
  let state = seed * 2654435761 + 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Scales as quantised weights have them: codes near a centre. */
function scalesOf(count: number, format: NumberFormat, draw: () => number): Uint8Array {
  const centre = format.name === 'e8m0' ? 120 : 0x30
  return Uint8Array.from({ length: count }, () =>
    Math.round(centre + 3 * (draw() + draw() + draw() + draw() - 2))
  )
}

/** Every code of a format is as likely, but for those that are no finite number. */
function codesOf(count: number, format: NumberFormat, draw: () => number): Uint8Array {
  const finite = [...decodeTable(format).keys()].filter((code) =>
    Number.isFinite(decodeTable(format)[code])
  )
  return Uint8Array.from({ length: count }, () => finite[Math.floor(draw() * finite.length)]!)
}

interface Made {
  operands: ProductOperands
  /** The scales that were used, of the side that is looked for. */
  linear: Uint8Array
  shape: ScaleShape
}

/** Operands with `shape` scales on one side, `others` rows on the other, and C by dequantising both. */
function make(
  shape: ScaleShape,
  others: number,
  seed: number,
  formatId = 'nvfp4',
  side: Side = 'a'
): Made {
  const draw = generator(seed)
  const format = findBlockFormat(formatId)
  const k = shape.columns * format.scaleBlockSize
  const [m, n] = side === 'a' ? [shape.rows, others] : [others, shape.rows]
  const linear = scalesOf(shape.rows * shape.columns, format.scale, draw)
  const otherScales = scalesOf(others * shape.columns, format.scale, draw)
  const aCodes = codesOf(m * k, format.a, draw)
  const bCodes = codesOf(n * k, format.b, draw)
  const [aScales, bScales] = side === 'a' ? [linear, otherScales] : [otherScales, linear]
  const a = dequantised(aCodes, aScales, format.a, format)
  const b = dequantised(bCodes, bScales, format.b, format)
  const product = new Float64Array(m * n)
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = 0
      for (let at = 0; at < k; at++) sum += a[row * k + at]! * b[column * k + at]!
      product[row * n + column] = sum
    }
  }
  return {
    operands: { format, m, n, k, side, aCodes, bCodes, otherScales, product },
    linear,
    shape
  }
}

function dequantised(
  codes: Uint8Array,
  scales: Uint8Array,
  element: NumberFormat,
  { scale, scaleBlockSize }: BlockFormat
): Float64Array {
  const values = decodeTable(element)
  const factors = decodeTable(scale)
  return Float64Array.from(
    codes,
    (code, i) => values[code]! * factors[scales[Math.floor(i / scaleBlockSize)]!]!
  )
}

const shapes: ScaleShape[] = [
  { rows: 128, columns: 4 },
  { rows: 256, columns: 8 },
  { rows: 100, columns: 5 },
  { rows: 200, columns: 12 },
  { rows: 33, columns: 9 },
  { rows: 320, columns: 6 }
]

const sameMap = (a: Int32Array, b: Int32Array) =>
  a.length === b.length && a.every((index, i) => index === b[i])

/** The layout is named, and besides it only layouts that put every scale at the same byte. */
function expectLayout(found: ProductDetection, name: string, shape: ScaleShape): void {
  expect(found.verdict).toBe('layout')
  const named = [found, ...found.alike].map((one) => one.layout)
  expect(named).toContain(name)
  const map = packedMap(findLayout(name), shape)
  for (const one of named) expect(sameMap(packedMap(findLayout(one), shape), map)).toBe(true)
}

describe.each(['nvfp4', 'mxfp4', 'mixed'])('%s', (format) => {
  it.each(['a', 'b'] as const)('names the layout of operand %s in every size', (side) => {
    shapes.forEach((shape, i) => {
      const { operands, linear } = make(shape, 12, i + 1, format, side)
      for (const layout of layouts) {
        const found = detectFromProduct(operands, packScales(layout, shape, linear, 0x33))
        expectLayout(found, layout.name, shape)
        expect(found).toMatchObject({ testedRows: shape.rows, agreeingRows: shape.rows })
      }
    })
  })
})

describe.each(Object.keys(defects) as Defect[])('the mistake "%s"', (defect) => {
  it('is named for every layout that can suffer it', () => {
    let tried = 0
    shapes.forEach((shape, i) => {
      const { operands, linear } = make(shape, 24, 50 + i)
      for (const layout of layouts) {
        const map = mistakenMap(layout, shape, defect)
        if (!map) continue
        tried++
        const packed = Uint8Array.from(map, (index) => (index < 0 ? 0 : linear[index]!))
        const found = detectFromProduct(operands, packed)
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
          expect(sameMap(other, map), `${layout.name} as ${one.layout} ${one.defect}`).toBe(true)
        }
      }
    })
    expect(tried).toBeGreaterThan(8)
  })
})

describe('products as kernels give them', () => {
  const shape = { rows: 256, columns: 8 }
  const { operands, linear } = make(shape, 12, 7)
  const packed = packScales(findLayout('nvidia_32_4_4'), shape, linear)

  it.each([
    ['float32', 24],
    ['float16', 11],
    ['bfloat16', 8]
  ])('a product rounded to %s tells the layouts apart', (_, bits) => {
    const rounded = operands.product.map((value) => {
      const unit = 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) + 1 - bits)
      return Math.round(value / unit) * unit
    })
    const given = { ...operands, product: Float32Array.from(rounded) }
    expectLayout(detectFromProduct(given, packed), 'nvidia_32_4_4', shape)
  })

  it('one column of C is enough', () => {
    const single = make(shape, 1, 3)
    const bytes = packScales(findLayout('cdna4_mfma16'), shape, single.linear)
    expectLayout(detectFromProduct(single.operands, bytes), 'cdna4_mfma16', shape)
  })

  it('NaN scales and the NaN they make in C agree', () => {
    const mx = make({ rows: 64, columns: 8 }, 12, 9, 'mxfp8')
    const scales = mx.linear.slice()
    scales[20] = 0xff
    const product = mx.operands.product.map((value, i) => (Math.floor(i / 12) === 2 ? NaN : value))
    const bytes = packScales(findLayout('flashinfer_8x4'), mx.shape, scales)
    expectLayout(detectFromProduct({ ...mx.operands, product }, bytes), 'flashinfer_8x4', mx.shape)
  })
})

describe('the sample of a large product', () => {
  /** Answers with the names of the elements only. */
  const large: ScaleEquations = {
    shape: { rows: 100_000, columns: 256 },
    others: 4096,
    scaleValues: new Float64Array(256),
    rounding: roundingOf(new Float64Array(1), 8192),
    of: (row, others) => {
      const none = new Float64Array(0)
      return { row, others, terms: none, magnitudes: none, targets: none }
    }
  }

  it('takes few enough elements, of rows in every place of a tile', () => {
    const sample = sampleEquations(large, 8192)
    expect(sample.length * 8 * 8192).toBeLessThanOrEqual(2 ** 27)
    expect(sample.length).toBeGreaterThan(1000)
    const rows = sample.map(({ row }) => row)
    expect(new Set(rows).size).toBe(rows.length)
    expect(new Set(rows.map((row) => row % 128)).size).toBe(128)
    expect(Math.max(...rows)).toBeGreaterThan(99_000)
    for (const { others } of sample) expect(new Set(others).size).toBe(8)
    expect(new Set(sample.flatMap(({ others }) => [...others])).size).toBeGreaterThan(3000)
  })

  it('takes every row and element when they are few', () => {
    const sample = sampleEquations({ ...large, shape: { rows: 40, columns: 4 }, others: 3 }, 64)
    expect(sample.map(({ row }) => row)).toEqual([...Array(40).keys()])
    expect([...sample[0]!.others]).toEqual([0, 1, 2])
  })
})

describe('what is wrong', () => {
  const shape = { rows: 256, columns: 8 }
  const { operands, linear } = make(shape, 24, 11)
  const packed = packScales(findLayout('nvidia_32_4_4'), shape, linear)

  it('a damaged byte is found, with the scale that the product asks for', () => {
    const damaged = packed.slice()
    damaged[700]! ^= 4
    const found = detectFromProduct(operands, damaged)
    expect(found).toMatchObject({
      ...{ verdict: 'nearest', layout: 'nvidia_32_4_4', testedRows: 256, agreeingRows: 255 },
      firstDifference: { offset: 700, expected: packed[700], found: damaged[700] }
    })
    const { row, column } = found.firstDifference!
    expect(found.firstRow).toBe(row)
    expect(linear[row * 8 + column]).toBe(packed[700])
    expect(found.relativeError).toBeGreaterThan(0)
  })

  it('a wrong element of C is blamed on no scale', () => {
    const product = operands.product.slice()
    for (let i = 0; i < 24; i++) product[40 * 24 + i]! += 1000 * (i + 1) ** 2
    const found = detectFromProduct({ ...operands, product }, packed)
    expect(found).toMatchObject({ verdict: 'nearest', layout: 'nvidia_32_4_4', firstRow: 40 })
    expect(found.firstDifference).toBeUndefined()
  })

  it('a first difference from the layout is given for a mistake as well', () => {
    const map = mistakenMap(findLayout('nvidia_32_4_4'), shape, 'row-order')!
    const mistaken = Uint8Array.from(map, (index) => linear[index]!)
    const found = detectFromProduct(operands, mistaken)
    const { offset, row, column } = found.firstDifference!
    expect(linear[row * 8 + column]).toBe(packed[offset])
    expect(mistaken.subarray(0, offset)).toEqual(packed.subarray(0, offset))
  })

  it('bytes too many or too few: the nearest layout and how many bytes it takes', () => {
    for (const bytes of [packed.subarray(0, 2000), Uint8Array.from([...packed, 1, 2])]) {
      const found = detectFromProduct(operands, bytes)
      expect(found).toMatchObject({ verdict: 'nearest', expectedBytes: 2048 })
      expect([found, ...found.alike].map(({ layout }) => layout)).toContain('nvidia_32_4_4')
    }
  })

  it('a lost half of the scales is not claimed where the rows of C are too short to prove it', () => {
    const short = make(shape, 3, 12)
    const map = mistakenMap(findLayout('nvidia_32_4_4'), shape, 'vector-size-double')!
    const lost = Uint8Array.from(map, (index) => short.linear[index]!)
    const found = detectFromProduct(short.operands, lost)
    expect(found.verdict).toBe('nearest')
    const untested = { layout: 'nvidia_32_4_4', defect: 'vector-size-double' }
    expect(found.untested).toContainEqual(untested)
  })

  it.each([
    [{ otherScales: new Uint8Array(3) }, 'The scales of B: 3 values; N x K / V needs 192.'],
    [{ aCodes: new Uint8Array(9) }, 'The codes of A: 9 values; M x K needs 32768.'],
    [{ product: new Float64Array(5) }, 'The product: 5 values; M x N needs 6144.'],
    [{ k: 100 }, 'K=100 is not a multiple of the scale block size 16'],
    [{ bCodes: operands.bCodes.with(5, 77) }, 'Byte 5 of B is 77; e2m1 has the codes 0 to 15.'],
    [
      { otherScales: operands.otherScales.with(7, 200) },
      'Byte 7 of the scales of B is 200; ue4m3 has the codes 0 to 127.'
    ]
  ])('operands that do not fit are refused: %#', (change, message) => {
    expect(() => detectFromProduct({ ...operands, ...change }, packed)).toThrow(message)
  })
})

/** Products that numpy made, of scales with a wide range. */
describe('golden products', () => {
  it.each(['nvfp4', 'mxfp4', 'mxfp4_b16', 'mxfp8', 'mxfp8_e5m2', 'mixed', 'mxfp6_e3m2'])(
    '%s 128 x 256 x 512',
    (formatId) => {
      const path = `test/fixtures/golden/gemm_${formatId}_128x256x512.safetensors`
      const file = readFileSync(path)
      const { tensors } = parseSafetensorsHeader(file, file.length, path)
      const take = (name: string) => {
        const { start, end } = tensors.get(name)!
        return Uint8Array.from(file.subarray(start, end))
      }
      const format = findBlockFormat(formatId)
      const product = new Float64Array(take('c_f64').buffer)
      const [aCodes, bCodes] = [take('a_codes'), take('b_codes')]
      const [aScales, bScales] = [take('a_scales'), take('b_scales')]
      const columns = 512 / format.scaleBlockSize
      const size = { format, m: 128, n: 256, k: 512, aCodes, bCodes, product }
      for (const layout of layouts) {
        const a = packScales(layout, { rows: 128, columns }, aScales)
        const b = packScales(layout, { rows: 256, columns }, bScales)
        const onA = detectFromProduct({ ...size, side: 'a', otherScales: bScales }, a)
        expectLayout(onA, layout.name, { rows: 128, columns })
        const onB = detectFromProduct({ ...size, side: 'b', otherScales: aScales }, b)
        expectLayout(onB, layout.name, { rows: 256, columns })
      }
    }
  )
})
