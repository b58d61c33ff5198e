import { describe, expect, it } from 'vitest'
import { blockFormats, findBlockFormat } from '@shared/formats/blockFormat'
import {
  compareFormats,
  compareValues,
  drawValues,
  quantizationError,
  referenceQuantize,
  type Quantize
} from '@shared/formats/compare'
import { quantizeMx, scaleRules } from '@shared/formats/quantize'
import { loadTestAddon } from '../../../support/addon'

const mean = (values: Float32Array) => values.reduce((sum, x) => sum + x, 0) / values.length
const variance = (values: Float32Array) => mean(values.map((x) => x * x))

describe('distributions', () => {
  it('have the moments of their names, and a seed makes the same values again', () => {
    const count = 200_000
    for (const [name, expected] of [
      ['normal', 1],
      ['uniform', 1 / 3],
      ['laplace', 2]
    ] as const) {
      const values = drawValues(name, count, 3)
      expect(Math.abs(mean(values))).toBeLessThan(0.02)
      expect(variance(values) / expected).toBeCloseTo(1, 1)
      expect(drawValues(name, 10, 3)).toEqual(values.slice(0, 10))
      expect(drawValues(name, 10, 4)).not.toEqual(values.slice(0, 10))
    }
  })
})

it('measures a block by hand: 7 becomes 6 in mxfp4, clipped, noise 1', () => {
  const format = findBlockFormat('mxfp4')
  const values = [7, 1, ...Array<number>(30).fill(0)]
  const quantized = quantizeMx(values, format.a, 32, 'floor')
  const { sqnr, maxError, clippedShare } = quantizationError(format, 'a', values, quantized)
  expect(sqnr).toBeCloseTo(10 * Math.log10(50), 10)
  expect([maxError, clippedShare]).toEqual([1, 1 / 32])
})

describe('the comparison', async () => {
  const asked = [blockFormats, scaleRules, ['normal'], [64, 256], 0] as const
  const rows = await compareFormats(...asked, referenceQuantize)
  const row = (format: string, rule: string) =>
    rows.find((one) => one.format === format && one.rule === rule)!

  it('orders formats by their bits, and mse is never worse', () => {
    expect(row('mxfp8', 'floor').sqnr).toBeGreaterThan(row('mxfp6_e3m2', 'floor').sqnr)
    expect(row('mxfp6_e3m2', 'floor').sqnr).toBeGreaterThan(row('mxfp4', 'floor').sqnr)
    expect(row('nvfp4', 'two-level').sqnr).toBeGreaterThan(row('mxfp4', 'floor').sqnr)
    for (const { format, sqnr } of rows.filter(({ format }) => format !== 'nvfp4')) {
      expect(row(format, 'mse').sqnr).toBeGreaterThanOrEqual(sqnr - 1e-9)
    }
  })

  it('ceil clips nothing, floor does', () => {
    expect(row('mxfp4', 'ceil').clippedShare).toBe(0)
    expect(row('mxfp4', 'floor').clippedShare).toBeGreaterThan(0)
  })

  it('nvfp4 has rules of its own: mse gains over two-level, ceil clips nothing', () => {
    const own = rows.filter(({ format }) => format === 'nvfp4')
    expect(own.map(({ rule }) => rule)).toEqual(['two-level', 'ceil', 'mse'])
    expect(row('nvfp4', 'mse').sqnr).toBeGreaterThan(row('nvfp4', 'two-level').sqnr + 0.3)
    expect(row('nvfp4', 'ceil').clippedShare).toBe(0)
    expect(row('nvfp4', 'two-level').clippedShare).toBeGreaterThan(0)
  })

  it('the relative error of products is of the size of the operands errors', () => {
    for (const { k, relativeError } of row('mxfp4', 'floor').product) {
      const perOperand = 10 ** (-row('mxfp4', 'floor').sqnr / 20)
      expect([64, 256]).toContain(k)
      expect(relativeError).toBeGreaterThan(perOperand * 0.8)
      expect(relativeError).toBeLessThan(perOperand * 2.5)
    }
  })
})

it('compares own values in whole blocks, and refuses fewer than one', async () => {
  const format = findBlockFormat('mxfp4')
  const block = [7, 1, ...Array<number>(30).fill(0)]
  const found = await compareValues(
    format,
    'floor',
    Float64Array.from([...block, 5]),
    referenceQuantize
  )
  expect(found).toMatchObject({ maxError: 1, clippedShare: 1 / 32, bad: 0 })
  await expect(
    compareValues(format, 'floor', Float64Array.of(1), referenceQuantize)
  ).rejects.toThrow('less than a block of 32')
})

it('leaves blocks with NaN or infinities out and counts their bad values', async () => {
  const format = findBlockFormat('mxfp4')
  const values = Float64Array.from({ length: 96 }, (_, i) => (i < 32 ? 5 : 4))
  values[3] = NaN
  values[4] = -Infinity
  const found = await compareValues(format, 'floor', values, referenceQuantize)
  expect(found).toEqual({ sqnr: Infinity, maxError: 0, clippedShare: 0, bad: 2 })
})

it('the engine compares as the reference does, and its quantiser is the addon', async () => {
  const asked = [blockFormats, scaleRules, ['outliers', 'laplace'], [64, 96], 3] as const
  const addon = loadTestAddon()
  let calls = 0
  const native: Quantize = ({ element, scale, scaleBlockSize }, values, rule) => {
    calls++
    const form = { element: element.name, scale: scale.name, scaleBlockSize, rule }
    return addon.quantizeValues(values, form, addon.createCancelFlag())
  }
  expect(await compareFormats(...asked, native)).toEqual(
    await compareFormats(...asked, referenceQuantize)
  )
  expect(calls).toBeGreaterThan(100)
})
