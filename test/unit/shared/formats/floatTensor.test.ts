import { expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import {
  compareTensor,
  compareValues,
  drawValues,
  referenceQuantize
} from '@shared/formats/compare'
import { decodeSample, isFloatTensor, planSample } from '@shared/formats/floatTensor'
import type { TensorEntry } from '@shared/formats/safetensors'

function entry(dtype: string, shape: number[], bytes: number): TensorEntry {
  const elements = shape.reduce((product, extent) => product * extent, 1)
  return { name: 'w', dtype, shape, start: 100, end: 100 + elements * bytes }
}
const one = (dtype: string, bytes: Uint8Array) => {
  const element = bytes.length
  const plan = planSample(entry(dtype, [32], element))
  const piece = new Uint8Array(32 * element)
  piece.set(bytes)
  return decodeSample(plan, [piece]).values[0]
}

it.each([
  ['BF16', [0x40, 0xc0], -3],
  ['F16', [0x01, 0x80], -(2 ** -24)],
  ['F16', [0x00, 0x7c], Infinity],
  ['F32', [0, 0, 0x80, 0x3e], 0.25],
  ['F64', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 1.5]
])('%s %s', (dtype, bytes, value) => expect(one(dtype, Uint8Array.from(bytes))).toBe(value))

it('takes whole rows spread over all of a huge tensor, and whole blocks along K', () => {
  const plan = planSample(entry('BF16', [128, 4096, 20_000], 2))
  expect(plan).toMatchObject({ k: 16_384, ofRows: 128 * 4096, ofK: 20_000 })
  expect(plan.ranges).toHaveLength(64)
  expect(plan.ranges[0]).toEqual({ from: 0, to: 2 * 16_384 })
  expect(plan.ranges[63]!.from).toBe(63 * 2 * 4096 * 20_000 * 2)
  expect(planSample(entry('F32', [3, 100], 4)).k).toBe(96)
})

it('names what cannot be sampled', () => {
  expect(() => planSample(entry('U8', [4, 64], 1))).toThrow('"w" is U8; values are read from F64')
  expect(() => planSample(entry('F32', [4, 31], 4))).toThrow('31 values along K, less than a block')
  expect(isFloatTensor(entry('U8', [4], 1))).toBe(false)
  expect(isFloatTensor(entry('F16', [0], 2))).toBe(false)
})

it('compares a tensor as values of its own, and its rows with one another', async () => {
  const values = Float64Array.from(drawValues('normal', 8 * 256, 5))
  const sample = { name: 'w', values, rows: 8, k: 256, ofRows: 8, ofK: 256 }
  const mxfp4 = findBlockFormat('mxfp4')
  const ks = [64, 256, 512]
  const [row] = await compareTensor([mxfp4], ['floor'], sample, ks, referenceQuantize)
  expect(row).toMatchObject({
    distribution: 'w',
    ...(await compareValues(mxfp4, 'floor', values, referenceQuantize))
  })
  expect(row!.product.map(({ k }) => k)).toEqual([64, 256])
  for (const { relativeError } of row!.product) {
    expect(relativeError).toBeGreaterThan(0.05)
    expect(relativeError).toBeLessThan(0.3)
  }
  // Values that mxfp4 holds exactly make products without error.
  const exact = values.map((_, i) => [0.5, 1, -1.5, 6][i % 4]!)
  const exactSample = { ...sample, values: exact }
  const [none] = await compareTensor([mxfp4], ['floor'], exactSample, [64], referenceQuantize)
  expect(none).toMatchObject({ maxError: 0, product: [{ k: 64, relativeError: 0 }] })
})
