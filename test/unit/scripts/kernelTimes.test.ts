/** What test/gpu/capture/compare.sh reads and compares, without its GPU. */
import { describe, expect, it } from 'vitest'
import {
  compareTimes,
  renamed,
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

  it('are of the names that CUPTI has, which torch.profiler demangles', () => {
    const rows = [{ kernel: '_Z4reluIiEvPT_', name: 'relu<int>(int*)' }]
    const times = new Map([
      ['void relu<int>(int *)', { ns: 10, count: 1 }],
      ['_Z4reluIiEvPT_', { ns: 20, count: 2 }],
      ['nvjet', { ns: 5, count: 1 }]
    ])
    expect([...renamed(times, rows)]).toEqual([
      ['_Z4reluIiEvPT_', { ns: 30, count: 3 }],
      ['nvjet', { ns: 5, count: 1 }]
    ])
  })

  const times = (...rows: [string, number, number][]) =>
    new Map(rows.map(([name, ns, count]) => [name, { ns, count }]))
  const rounds = (...means: number[]) => means.map((ns) => times(['gemm', 10 * ns, 10]))

  it('are compared round by round, where they are long enough', () => {
    const ours = [10_000, 10_400, 40_000].map((ns) => times(['gemm', 10 * ns, 10], ['tiny', 1, 1]))
    // The clock fell between the rounds, for both.
    expect(compareTimes(ours, rounds(10_050, 10_400, 39_000))).toEqual([
      { name: 'gemm', our: 10_400, their: 10_400, ratio: 1, sameCount: true, agrees: true }
    ])
    expect(compareTimes(ours, rounds(10_200, 10_600, 40_800))).toMatchObject([{ agrees: false }])
    const [missing] = compareTimes(ours, [times(), times(), times()])
    expect(missing).toMatchObject({ their: NaN, sameCount: false, agrees: false })
  })

  it("agree within one tick of the GPU's timer, however short they are", () => {
    expect(compareTimes(rounds(920), rounds(888))).toMatchObject([{ agrees: true }])
    expect(compareTimes(rounds(921), rounds(888))).toMatchObject([{ agrees: false }])
  })
})
