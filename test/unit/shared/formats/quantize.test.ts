import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockFormats, findBlockFormat, operandBytes } from '@shared/formats/blockFormat'
import { decodeTable, limitsOf } from '@shared/formats/numberFormat'
import { packFp4, packFp6, unpackFp4, unpackFp6 } from '@shared/formats/pack'
import { dequantize, quantize, scaleRules } from '@shared/formats/quantize'

const mxfp4 = findBlockFormat('mxfp4')
const block = (...first: number[]) => [...first, ...Array<number>(32 - first.length).fill(0)]

describe('scale rules on one mxfp4 block', () => {
  const scaleOf = (value: number, rule: (typeof scaleRules)[number]) =>
    quantize(mxfp4, 'a', block(value), 1, 32, rule).scales[0]! - 127

  it('floor takes the exponent of the maximum, and large elements saturate', () => {
    expect(scaleOf(7.9, 'floor')).toBe(0)
    expect(scaleOf(8, 'floor')).toBe(1)
    const seven = quantize(mxfp4, 'a', block(7.9, -7.9), 1, 32)
    expect(Array.from(seven.codes.slice(0, 2))).toEqual([7, 15])
  })

  it('ceil is the smallest scale without saturation', () => {
    expect(scaleOf(6, 'ceil')).toBe(0)
    expect(scaleOf(6.01, 'ceil')).toBe(1)
  })

  it('even rounds the maximum to one mantissa bit first', () => {
    expect(scaleOf(6.9, 'even')).toBe(0)
    expect(scaleOf(7, 'even')).toBe(1)
  })

  it('clamps the exponent to what e8m0 has', () => {
    expect(scaleOf(2 ** -140, 'floor')).toBe(-127)
    expect(scaleOf(1.7e308, 'floor')).toBe(127)
  })
})

describe.each(blockFormats.map((format) => [format.id, format] as const))('%s', (_id, format) => {
  const k = 64
  const blocks = k / format.scaleBlockSize

  it('gives NaN blocks for NaN and infinity, zero codes for zeros', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const values = new Float64Array(k).fill(1)
      values[3] = bad
      const quantized = quantize(format, 'a', values, 1, k)
      expect(quantized.scales[0]).toBe(format.tensorScale ? 0x7f : 0xff)
      expect(dequantize(format, 'a', quantized)[0]).toBeNaN()
      expect(dequantize(format, 'a', quantized)[k - 1]).toBeCloseTo(1, 1)
    }
    const zeros = quantize(format, 'b', new Float64Array(k).fill(-0), 1, k)
    expect(zeros.codes.every((code) => code === 0)).toBe(true)
    expect(zeros.scales).toEqual(new Uint8Array(blocks))
  })

  it('brings values that it can hold back exactly', () => {
    const table = decodeTable(format.a)
    const finite = table.filter((value) => Number.isFinite(value))
    const { largest } = limitsOf(format.a)
    const row = fc.array(fc.integer({ min: 0, max: finite.length - 1 }), {
      minLength: k,
      maxLength: k
    })
    fc.assert(
      fc.property(row, fc.integer({ min: -8, max: 8 }), (picks, exponent) => {
        const values = picks.map((pick) => finite[pick]! * 2 ** exponent)
        for (let b = 0; b < k; b += format.scaleBlockSize) values[b] = largest * 2 ** exponent
        const restored = dequantize(format, 'a', quantize(format, 'a', values, 1, k, 'ceil'))
        restored.forEach((value, i) =>
          expect(Math.abs(value - values[i]!)).toBeLessThan(1e-6 * largest * 2 ** exponent)
        )
      }),
      { numRuns: 20 }
    )
  })

  it('mse never has more squared error than any other rule', () => {
    const sample = fc.array(fc.float({ noNaN: true, min: -100, max: 100 }), {
      minLength: k,
      maxLength: k
    })
    const errorOf = (values: number[], rule: (typeof scaleRules)[number]) =>
      dequantize(format, 'a', quantize(format, 'a', values, 1, k, rule)).reduce(
        (sum, value, i) => sum + (value - values[i]!) ** 2,
        0
      )
    fc.assert(
      fc.property(sample, (values) => {
        for (const rule of scaleRules) {
          expect(errorOf(values, 'mse')).toBeLessThanOrEqual(errorOf(values, rule) * (1 + 1e-12))
        }
      }),
      { numRuns: 20 }
    )
  })
})

it('refuses shapes in one sentence', () => {
  expect(() => quantize(findBlockFormat('mxfp8'), 'a', [], 1, 100)).toThrow(
    'K=100 is not a multiple of the scale block size 32 of mxfp8'
  )
  expect(() => quantize(mxfp4, 'a', [1, 2], 1, 32)).toThrow('2 values do not fill 1 x 32')
})

it('counts the bytes of operands: 4, 6 and 8 bits an element and a byte a scale', () => {
  expect(operandBytes(mxfp4, 128, 64, 256)).toEqual({ elements: 24576, scales: 1536 })
  expect(operandBytes(findBlockFormat('mixed'), 128, 64, 256).elements).toBe(128 * 256 + 64 * 128)
  expect(operandBytes(findBlockFormat('mxfp6_e2m3'), 4, 4, 32).elements).toBe(192)
  expect(operandBytes(findBlockFormat('nvfp4'), 1, 1, 16)).toEqual({ elements: 16, scales: 2 })
})

it('packs fp4 with the even element in the low nibble, fp6 four in three bytes', () => {
  expect(Array.from(packFp4(Uint8Array.of(1, 2, 15, 0)))).toEqual([0x21, 0x0f])
  expect(Array.from(packFp6(Uint8Array.of(1, 0, 0, 63)))).toEqual([1, 0, 0xfc])
  const codes = fc.uint8Array({ minLength: 0, maxLength: 64 })
  fc.assert(
    fc.property(codes, (bytes) => {
      const four = bytes.map((b) => b & 15).slice(0, bytes.length - (bytes.length % 2))
      const six = bytes.map((b) => b & 63).slice(0, bytes.length - (bytes.length % 4))
      expect(unpackFp4(packFp4(four))).toEqual(four)
      expect(unpackFp6(packFp6(six))).toEqual(six)
    })
  )
  expect(() => packFp4(new Uint8Array(3))).toThrow('3 fp4 codes do not divide into groups of 2')
})
