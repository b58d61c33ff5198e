import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blockFormats,
  checkShape,
  findBlockFormat,
  matchBlockFormat,
  operandBytes
} from '@shared/formats/blockFormat'
import { encode } from '@shared/formats/encode'
import { decodeTable, limitsOf, numberFormats } from '@shared/formats/numberFormat'
import { packFp4, unpackFp4 } from '@shared/formats/pack'
import {
  dequantize,
  quantizeMx,
  quantizeNvfp4,
  scaleRules,
  type Nvfp4Rule
} from '@shared/formats/quantize'
import { loadTestAddon } from '../../../support/addon'

const { e2m1, e4m3, e8m0, ue4m3, e5m2, e2m3, e3m2 } = numberFormats
const block = (change: Record<number, number>, size = 32) =>
  Float32Array.from({ length: size }, (_, i) => change[i] ?? 0)

describe('MX quantisation, OCP MX v1.0 section 6.3', () => {
  it('the shared exponent is floor(log2(max)) - emax, and elements saturate', () => {
    // max 7.9: floor(log2) = 2, emax 2, X = 0: 7.9 saturates to 6.
    const { codes, scales } = quantizeMx(block({ 0: 7.9, 1: -3, 2: 0.3 }), e2m1, 32)
    expect(scales[0]).toBe(127)
    expect([codes[0], codes[1], codes[2]]).toEqual([7, 8 | 5, 1])
  })

  it('round-up keeps the largest element from saturating', () => {
    const { codes, scales } = quantizeMx(block({ 0: 7.9 }), e2m1, 32, 'ceil')
    expect(scales[0]).toBe(128)
    expect(codes[0]).toBe(6) // 7.9 / 2 = 3.95, nearest 4
  })

  it('even rounds the largest element before taking its exponent', () => {
    expect(quantizeMx(block({ 0: 7.9 }), e2m1, 32, 'even').scales[0]).toBe(128)
    expect(quantizeMx(block({ 0: 6.9 }), e2m1, 32, 'even').scales[0]).toBe(127)
  })

  it('an all-zero block has zero codes and scale code 0; NaN or infinity gives the NaN scale', () => {
    expect(quantizeMx(block({}), e4m3, 32).scales[0]).toBe(0)
    expect(quantizeMx(block({ 5: NaN }), e4m3, 32).scales[0]).toBe(0xff)
    expect(quantizeMx(block({ 5: -Infinity }), e4m3, 32).scales[0]).toBe(0xff)
  })

  it('exponents are clamped to what e8m0 has', () => {
    expect(quantizeMx(block({ 0: 1e-45 }), e5m2, 32).scales[0]).toBe(0)
  })

  it.each([e2m1, e2m3, e3m2, e4m3, e5m2])('$name: the error is within half a step', (element) => {
    const values = fc.float32Array({
      minLength: 32,
      maxLength: 32,
      noNaN: true,
      min: -100,
      max: 100
    })
    fc.assert(
      fc.property(values, (input) => {
        const quantized = quantizeMx(input, element, 32, 'ceil')
        const back = dequantize(quantized, element, e8m0, 32)
        const scale = 2 ** (quantized.scales[0]! - 127)
        back.forEach((value, i) => {
          const x = Math.abs(input[i]!)
          const exponent = Math.max(Math.floor(Math.log2(x / scale || 1e-300)), 1 - element.bias)
          const step = 2 ** (exponent - element.mantissaBits) * scale
          expect(Math.abs(value - input[i]!)).toBeLessThanOrEqual(step / 2 + 1e-30)
        })
      }),
      { numRuns: 100 }
    )
  })

  it('the MSE rule is never worse than the others', () => {
    const values = Float32Array.from(
      { length: 32 * 200 },
      (_, i) => Math.sin(i * i) * 1.7 ** (i % 9)
    )
    const errors = scaleRules.map((rule) => {
      const back = dequantize(quantizeMx(values, e2m1, 32, rule), e2m1, e8m0, 32)
      return back.reduce((sum, value, i) => sum + (value - values[i]!) ** 2, 0)
    })
    expect(errors[scaleRules.indexOf('mse')]).toBeLessThanOrEqual(Math.min(...errors))
  })
})

describe('NVFP4, two levels', () => {
  it('the largest value of the tensor comes back exactly', () => {
    const values = Float32Array.from({ length: 64 }, (_, i) => (i === 37 ? -2688 : i))
    const quantized = quantizeNvfp4(values)
    expect(quantized.tensorScale).toBe(1)
    expect(quantized.scales[2]).toBe(0x7e)
    expect(dequantize(quantized, e2m1, ue4m3, 16)[37]).toBe(-2688)
  })

  it('a zero tensor stays zero; a block with NaN or infinity gets the NaN scale, the others their own', () => {
    expect(quantizeNvfp4(new Float32Array(32)).codes.every((code) => code === 0)).toBe(true)
    const values = Float32Array.from({ length: 48 }, (_, i) => (i === 20 ? NaN : i === 40 ? 6 : 0))
    const { scales, codes } = quantizeNvfp4(values)
    expect(Array.from(scales)).toEqual([0, 0x7f, 0x7e])
    expect(codes[40]).toBe(7)
  })

  it('mse finds the best of all 126 scales of a block, and no rule beats it', () => {
    const values = fc.float32Array({ minLength: 16, maxLength: 16, noNaN: true, min: -50, max: 50 })
    const errorOf = (input: Float32Array, scaleCode: number) => {
      const step = decodeTable(ue4m3)[scaleCode]! / 8
      return input.reduce((sum, x) => {
        const nearest = decodeTable(e2m1)[encode(e2m1, x / step)]! * step
        return sum + (nearest - x) ** 2
      }, 0)
    }
    fc.assert(
      fc.property(values, (input) => {
        // Where every element is tiny, the scale of zero and the smallest scale stand for the same.
        fc.pre(input.some((x) => Math.abs(x) > 1))
        const scaleBy = (rule: Nvfp4Rule) => quantizeNvfp4(input, rule, 1 / 8).scales[0]!
        const all = Array.from({ length: 126 }, (_, i) => errorOf(input, i + 1))
        expect(errorOf(input, scaleBy('mse'))).toBeCloseTo(Math.min(...all), 9)
        expect(decodeTable(ue4m3)[scaleBy('ceil')]! * 6).toBeGreaterThanOrEqual(
          8 * Math.max(...input.map(Math.abs))
        )
      }),
      { numRuns: 300 }
    )
  })

  it('a part of a tensor takes the scale of the whole; a tensor of denormals keeps one', () => {
    const whole = Float32Array.from({ length: 64 }, (_, i) => (i + 1) ** 2)
    const { tensorScale, codes, scales } = quantizeNvfp4(whole, 'mse')
    const part = quantizeNvfp4(whole.subarray(16, 32), 'mse', tensorScale)
    expect(part.codes).toEqual(codes.slice(16, 32))
    expect(part.scales).toEqual(scales.slice(1, 2))
    expect(quantizeNvfp4(new Float32Array(16).fill(2 ** -149)).tensorScale).toBe(2 ** -149)
  })

  it('the relative error of normal data is what four bits allow', () => {
    const values = Float32Array.from({ length: 4096 }, (_, i) => Math.sin(i * 12.9898) * 3)
    const back = dequantize(quantizeNvfp4(values), e2m1, ue4m3, 16)
    const error = Math.hypot(...back.map((x, i) => x - values[i]!)) / Math.hypot(...values)
    expect(error).toBeGreaterThan(0.02)
    expect(error).toBeLessThan(0.12)
  })
})

describe('agreement with the generator of the native core', () => {
  it.each(['mxfp4', 'mxfp8', 'mxfp6_e3m2'])(
    '%s: requantising its numbers gives its codes',
    async (id) => {
      const addon = loadTestAddon()
      const format = findBlockFormat(id)
      const shape = { format: id, m: 32, n: 16, k: 256, output: 'f16' as const }
      const session = await addon.open(
        { device: 'cpu', ...shape, operands: { distribution: 'normal', seed: 5 } },
        addon.createCancelFlag()
      )
      const { aCodes, aScales } = await session.operands()
      const size = format.scaleBlockSize
      const original = { codes: aCodes, scales: aScales, tensorScale: 1 }
      const values = dequantize(original, format.a, format.scale, size)
      const again = quantizeMx(values, format.a, size)
      const back = dequantize(again, format.a, format.scale, size)
      expect(back).toEqual(values)
      await session.close()
    }
  )
})

describe('packing', () => {
  it('two fp4 codes a byte come back, the first in the low nibble', () => {
    expect(Array.from(packFp4(Uint8Array.of(1, 2, 15, 0)))).toEqual([0x21, 0x0f])
    const codes = fc
      .uint8Array({ max: 15, maxLength: 64 })
      .map((list) => list.subarray(list.length % 2))
    fc.assert(fc.property(codes, (list) => void expect(unpackFp4(packFp4(list))).toEqual(list)))
    expect(() => packFp4(new Uint8Array(3))).toThrow(/groups of 2/)
  })
})

describe('block formats', () => {
  it('bytes are those of spec: elements and one byte a scale', () => {
    const bytes = (id: string) => operandBytes(findBlockFormat(id), 128, 128, 256)
    expect(bytes('nvfp4')).toEqual({ elements: 128 * 256, scales: 256 * 16 })
    expect(bytes('mixed')).toEqual({ elements: 128 * 256 * 1.5, scales: 256 * 8 })
    expect(bytes('mxfp6_e2m3').elements).toBe((256 * 256 * 6) / 8)
  })

  it('flops4 only where both operands are fp4', () => {
    const width = (id: string) => findBlockFormat(id).flopsMetric
    expect(['nvfp4', 'mxfp4', 'mixed', 'mxfp6_e2m3'].map(width)).toEqual([
      'flops4',
      'flops4',
      'flops8',
      'flops8'
    ])
  })

  it('refuses what is none, in a sentence', () => {
    const mxfp8 = findBlockFormat('mxfp8')
    expect(() => findBlockFormat('fp5')).toThrow(/Formats.*: nvfp4/)
    expect(() => checkShape(mxfp8, 1, 1, 33)).toThrow(/K=33 .* 32 of mxfp8; the nearest is 32/)
    expect(() => checkShape(mxfp8, 0, 1, 32)).toThrow(/M=0 is no size/)
    expect(() => matchBlockFormat('e2m1', 'e5m2', 'e8m0', 16)).toThrow(/No format has A e2m1/)
    expect(matchBlockFormat('e2m1', 'e2m1', 'e4m3', 16).id).toBe('nvfp4')
    expect(blockFormats.every((f) => limitsOf(f.a).largest > 1)).toBe(true)
  })
})
