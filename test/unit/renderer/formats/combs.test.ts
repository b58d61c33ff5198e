import { describe, expect, it } from 'vitest'
import { blockFormats } from '@shared/formats/blockFormat'
import { numberFormats } from '@shared/formats/numberFormat'
import {
  bfloat16,
  combs,
  logX,
  nearestTick,
  neighbourTick,
  workedValue
} from '../../../../src-renderer/views/formats/combs'
import { operandBars, weightBars, weightSets } from '@shared/formats/savings'

const comb = (name: string, axis: 'log' | 'linear' = 'log', scale = 0) =>
  combs(axis, 800, scale).find((one) => one.name === name)!

describe('combs', () => {
  it('have a tick for every positive code on the log axis, and for every finite one on the linear', () => {
    expect(combs('log', 800, 0).map(({ positive }) => positive)).toEqual([7, 31, 31, 126, 123, 255])
    expect(comb('e2m1').ticks).toHaveLength(7)
    expect(comb('e4m3').ticks.filter(({ kind }) => kind === 'subnormal')).toHaveLength(7)
    expect(comb('e2m1', 'linear').ticks).toHaveLength(16)
    expect(comb('e5m2', 'linear').ticks).toHaveLength(248)
  })

  it('stand where their values are, and slide with the scale', () => {
    const of3 = comb('e2m1').ticks.find(({ code }) => code === 5)!
    expect(of3.x).toBeCloseTo(logX(Math.log2(3), 800))
    const slid = comb('e2m1', 'log', 2).ticks.find(({ code }) => code === 5)!
    expect(slid.x - of3.x).toBeCloseTo(logX(2, 800) - logX(0, 800))
    expect(comb('e2m1', 'log', 2)).toMatchObject({ smallestExponent: 1, largest: 24 })
    expect(comb('e5m2', 'log', 4).largest).toBeUndefined()
    expect(comb('e8m0', 'log', 2).ticks).toEqual(comb('e8m0').ticks)
    expect(comb('e8m0').smallestExponent).toBeUndefined()
  })

  it('say octaves and codes in each', () => {
    expect(comb('e2m1').octaves).toBeCloseTo(Math.log2(12))
    expect(comb('e4m3')).toMatchObject({ perOctave: 8 })
    // bfloat16 counted out: every 16-bit pattern above zero below infinity.
    const bits = new DataView(new ArrayBuffer(4))
    let positive = 0
    for (let code = 1; code < 0x7f80; code++) {
      bits.setUint32(0, code << 16)
      if (Number.isFinite(bits.getFloat32(0))) positive++
    }
    expect(bfloat16.positive).toBe(positive)
    expect(bfloat16.octaves).toBeCloseTo(260.99, 1)
  })

  it('find the tick at hand and its neighbours', () => {
    const line = comb('e2m1', 'linear')
    const zero = nearestTick(line, 400)!
    expect(zero.code % 8).toBe(0)
    expect(neighbourTick(line, 7, 1)!.code).toBe(7)
    expect(neighbourTick(line, 7, -1)!.code).toBe(6)
    expect(neighbourTick(line, 15, -1)!.code).toBe(15)
  })

  it.each(Object.values(numberFormats))('work out every finite code of $name', (format) => {
    for (
      let code = 0;
      code < 2 ** (format.signBits + format.exponentBits + format.mantissaBits);
      code++
    ) {
      const { sign, exponent, lead, mantissa, of, value } = workedValue(format, code)
      if (!Number.isFinite(value)) continue
      const made = (sign === '−' ? -1 : 1) * 2 ** exponent * (lead + mantissa / of)
      expect(made).toBe(value)
    }
  })
})

describe('savings', () => {
  const of = (id: string, bars: ReturnType<typeof weightBars>) => bars.find((bar) => bar.id === id)!

  it('are the bytes of one matrix with its scales', () => {
    const bars = weightBars(blockFormats, weightSets[0]!.matrices)
    const values = 28_672 * 8192
    expect(of('bf16', bars)).toMatchObject({ elements: 2 * values, scales: 0, ofBf16: 1 })
    expect(of('fp32', bars).ofBf16).toBe(0.5)
    expect(of('nvfp4', bars)).toMatchObject({
      elements: values / 2,
      scales: values / 16,
      bits: 4.5
    })
    expect(of('nvfp4', bars).ofBf16).toBeCloseTo(3.556, 3)
    expect(of('mxfp4', bars).scaleBits).toBe(0.25)
    expect(bars.some(({ id }) => id === 'mixed')).toBe(false)
  })

  it('add up a model as often as it has each matrix', () => {
    const bars = weightBars(blockFormats, weightSets.find(({ id }) => id === 'llama-8b')!.matrices)
    // 32 blocks of 2 x 4096^2 + 2 x 1024 x 4096 + 3 x 14,336 x 4096 weights, two bytes each.
    const values = 32 * (2 * 4096 ** 2 + 2 * 1024 * 4096 + 3 * 14_336 * 4096)
    expect(of('bf16', bars).elements).toBe(2 * values)
  })

  it('count both operands, and leave out what does not divide K', () => {
    const bars = operandBars(blockFormats, 128, 128, 48)
    expect(of('nvfp4', bars)).toMatchObject({ elements: 6144, scales: 768 })
    expect(bars.some(({ id }) => id === 'mxfp4')).toBe(false)
    expect(of('mixed', operandBars(blockFormats, 64, 64, 64)).elements).toBe(4096 + 2048)
  })
})
