import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { sweepSpecSchema } from '@shared/contract/jobs'
import type { Run, Step } from '@shared/contract/run'
import { modelTimesOf, modelTimeText } from '@shared/measurement/modelTime'

const spec = v.parse(sweepSpecSchema, {
  ...{ kind: 'sweep', formats: ['mxfp4'] },
  shapes: {
    source: 'mine',
    rows: [
      { name: 'qkv', m: 16, n: 64, k: 64, weight: 10, tokens: 16 },
      { name: 'expert', m: 1, n: 32, k: 64, groups: 4, weight: 10, tokens: 16 },
      { name: 'free', m: 1, n: 96, k: 64, weight: 0, tokens: 16 },
      { name: 'lost', m: 2, n: 32, k: 64, tokens: 16 }
    ]
  }
})
const step = (m: number, n: number, median: number, more: object = {}) =>
  ({
    ...{ format: 'mxfp4', kernel: 'fast', m, n, k: 64, disposition: 'passed', baseline: false },
    ...{ instruction: 'i', work: { flops: 1e6, bytes: 1e3, paddedBytes: 1e3 } },
    measurement: { timeNs: { median }, meanMHz: 0, cacheMode: 'cold', flops: 1e6, bytes: 1e3 },
    ...more
  }) as unknown as Step
const steps = [
  step(16, 64, 300_000),
  step(16, 64, 500_000, { kernel: 'slow' }),
  step(16, 64, 1000, { baseline: true, disposition: 'baseline' }),
  step(16, 64, 2000, { disposition: 'incorrect' }),
  step(1, 32, 100_000),
  step(1, 96, 900_000)
]
const run = (roofs: Run['roofs']) => ({ spec, steps, device: undefined, roofs })

describe('the time of a model', () => {
  it('counts each layer as often as a step does it, with the fastest kernel that passed', () => {
    const [time, ...others] = modelTimesOf(run(undefined))
    expect(others).toEqual([])
    expect(time).toMatchObject({ format: 'mxfp4', tokens: 16, ns: 7_000_000, missing: ['lost'] })
    expect(time!.layers.map(({ row, kernel, ns }) => [row.name, kernel, ns])).toEqual([
      ['expert', 'fast', 4_000_000],
      ['qkv', 'fast', 3_000_000]
    ])
    expect(modelTimeText(time!)).toBe(
      'mxfp4 at 16 tokens: the linear layers take 7.00 ms a step (438 µs a token); tuning expert, 57 % of it, ' +
        'buys at most 57 %, were it free. Not timed, and not in it: lost.'
    )
  })

  it('says what tuning buys by the limit of the device, where it is known', () => {
    // 1e6 FLOP at 2e10 FLOP/s take 50 us: qkv could save 10 x 250 us, expert 40 x 50 us.
    const roof = { kind: 'compute', of: 'i', rate: 2e10, basis: 'measured', source: '' } as const
    const [time] = modelTimesOf(run([roof]))
    expect(time!.layers.map(({ row, gain }) => [row.name, gain])).toEqual([
      ['expert', 2 / 7],
      ['qkv', 2.5 / 7]
    ])
    expect(modelTimeText(time!)).toContain('tuning qkv, 43 % of it, buys at most 36 %.')
  })

  it('takes no layer for faster than a plain read of its bytes, where reads were timed', () => {
    // Its 1000 bytes are read in 40 us, where the rate has them in 10.
    const reads = [{ bytes: 1000, ns: 40_000 }]
    const roof = { kind: 'memory', of: 'dram', rate: 1e8, basis: 'measured', source: '' } as const
    const limits = (roofs: Run['roofs']) =>
      modelTimesOf(run(roofs))[0]!.layers.map(({ row, limitNs }) => [row.name, limitNs])
    expect(limits([{ ...roof, reads }])).toEqual([
      ['expert', 40 * 40_000],
      ['qkv', 10 * 40_000]
    ])
    expect(limits([roof])).toEqual([
      ['expert', 40 * 10_000],
      ['qkv', 10 * 10_000]
    ])
    const compute = { ...roof, kind: 'compute', of: 'i', rate: 2e10 } as const
    expect(limits([{ ...roof, reads }, compute])![0]).toEqual(['expert', 40 * 50_000])
  })

  it('is nothing where no model is', () => {
    const { shapes: _, ...plain } = spec
    expect(modelTimesOf({ ...run(undefined), spec: plain })).toEqual([])
    expect(modelTimesOf({ ...run(undefined), steps: [] })).toEqual([])
    // A list that comes with the program has shapes of several.
    const list = { ...spec, shapes: { ...spec.shapes!, source: 'llm-layers' } }
    expect(modelTimesOf({ ...run(undefined), spec: list })).toEqual([])
  })
})
