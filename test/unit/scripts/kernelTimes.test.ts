/** What test/gpu/capture/compare.sh reads and compares, without its GPU. */
import { describe, expect, it } from 'vitest'
import {
  compareTimes,
  timesOfHatchet,
  timesOfLaunches,
  timesOfTrace
} from '../../gpu/capture/kernelTimes.mjs'

const kernel = (name: string, ns: number, count: number) => ({
  frame: { name },
  metrics: { 'time (ns)': ns, count, device_id: '0' },
  children: []
})

describe('kernel times of profilers', () => {
  it('are the same of a trace, a hatchet and a capture', () => {
    const expected = new Map([
      ['gemm', { ns: 300_000, count: 3 }],
      ['relu', { ns: 40_000, count: 1 }]
    ])
    const slice = (name: string, dur: number, cat = 'kernel') => ({ ph: 'X', cat, name, dur })
    const traceEvents = [
      ...[slice('gemm', 100), slice('gemm', 90), slice('relu', 40), slice('gemm', 110)],
      slice('cudaLaunchKernel', 5, 'cuda_runtime')
    ]
    expect(timesOfTrace({ traceEvents })).toEqual(expected)
    const scope = (name: string, ...children: object[]) => ({
      ...{ frame: { name }, metrics: {}, children }
    })
    const root = scope(
      'ROOT',
      scope('a', kernel('gemm', 200_000, 2)),
      scope('b', kernel('gemm', 100_000, 1), kernel('relu', 40_000, 1))
    )
    expect(timesOfHatchet([root])).toEqual(expected)
    const rows = [
      { kernel: 'gemm', totalNs: 300_000, count: 3 },
      { kernel: 'relu', totalNs: 40_000, count: 1 }
    ]
    expect(timesOfLaunches(rows)).toEqual(expected)
  })

  it('are compared by the medians of rounds, where they are long enough', () => {
    const times = (...rows: [string, number, number][]) =>
      new Map(rows.map(([name, ns, count]) => [name, { ns, count }]))
    const ours = [100, 104, 400].map((ns) => times(['gemm', 10 * ns, 10], ['tiny', 1, 1]))
    const theirs = [103, 90, 104].map((ns) => times(['gemm', 10 * ns, 10]))
    expect(compareTimes(ours, theirs)).toEqual([
      { name: 'gemm', our: 104, their: 103, ratio: 104 / 103, sameCount: true }
    ])
    const [missing] = compareTimes(ours, [times(), times(), times()])
    expect(missing).toMatchObject({ their: NaN, sameCount: false })
  })
})
