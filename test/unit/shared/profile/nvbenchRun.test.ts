import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compareMeasurements } from '@shared/measurement/verdict'
import { openProfile } from '@shared/profile/read/openProfile'
import { runOfNvbench, type NvbenchAsked } from '@shared/profile/read/nvbenchRun'
import { runToNvbench } from '@shared/report/nvbench'
import { batch, nvbenchGemm, quartiles, type GemmPoint } from '../../../support/nvbenchGemm'

const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const read = (points: GemmPoint[], asked?: NvbenchAsked) =>
  runOfNvbench(bytesOf(nvbenchGemm(points)), 'gemm.json', asked)
const point: GemmPoint = { tile: '128x64', k: 256, mean: 12e-6 }

describe("what nvbench timed, as a run's steps", () => {
  it('has points, times, clock, batches and device; the other axes belong to the kernel', () => {
    const more = [...quartiles(10e-6, 11e-6, 11.5e-6, 12.5e-6, 20e-6), ...batch(9e-6, 400)]
    const { steps, device, version } = read([{ ...point, more }])
    expect(version).toBe('0.2.0')
    expect(device).toMatchObject({ id: 'cuda:0', architecture: 'sm_90', name: 'NVIDIA H200' })
    expect(device!.properties).toMatchObject({
      smCount: 132,
      clockMHz: 1980,
      computeCapability: '9.0'
    })
    const [step] = steps
    expect(step).toMatchObject({
      kernel: 'gemm Tile=128x64',
      format: 'mxfp4',
      m: 128,
      n: 128,
      k: 256
    })
    expect(step!.disposition).toBe('not-verified')
    const { timeNs, tflops, sustainedNs, sustainedCount, badges } = step!.measurement!
    expect(timeNs.samples).toBe(50)
    expect(timeNs.median).toBeCloseTo(11_500)
    expect(timeNs.q3).toBeCloseTo(12_500)
    expect(timeNs.mean).toBeCloseTo(12_000)
    expect(timeNs.standardDeviation).toBeCloseTo(120)
    expect(timeNs.p95).toBeNaN()
    expect(tflops).toBeCloseTo((2 * 128 * 128 * 256) / 11_500 / 1e3)
    expect(sustainedNs).toBeCloseTo(9000)
    expect(sustainedCount).toBe(400)
    expect(badges).toEqual([])
  })

  it('says so where there is a mean and no median, and compares no spread that is not there', () => {
    const [step] = read([point]).steps
    const measurement = step!.measurement!
    expect(measurement.timeNs).toMatchObject({ q1: NaN, min: NaN })
    expect(measurement.timeNs.median).toBeCloseTo(12_000)
    expect(measurement.badges).toEqual(['mean in place of the median'])
    expect(compareMeasurements(measurement, measurement)).toMatchObject({
      verdict: 'ambiguous',
      reason: 'One side does not say how its times are spread.'
    })
  })

  it('has batches alone as times with a warm cache', () => {
    const file = nvbenchGemm([point])
    file.benchmarks[0]!.states[0]!.summaries = batch(9e-6, 400)
    const [step] = runOfNvbench(bytesOf(file), 'f').steps
    expect(step!.measurement).toMatchObject({ cacheMode: 'hot: by nvbench, in batches' })
    expect(step!.measurement!.timeNs.median).toBeCloseTo(9000)
  })

  it('keeps what was skipped with the reason, and what was not timed', () => {
    const file = nvbenchGemm([{ ...point, skipped: 'too large' }, point])
    file.benchmarks[0]!.states[1]!.summaries = []
    const { steps } = runOfNvbench(bytesOf(file), 'f')
    expect(steps.map(({ disposition, reason }) => [disposition, reason])).toEqual([
      ['not-run', 'too large'],
      ['not-run', 'nvbench timed nothing on the GPU here']
    ])
  })

  it('takes statistics from samples, and says where they were not there to be read', () => {
    const points = [{ ...point, samples: [3e-6, 1e-6, 2e-6, 4e-6, 5e-6] }]
    const file = bytesOf(nvbenchGemm(points))
    const without = runOfNvbench(file, 'gemm.json')
    expect(without.rounds).toEqual([])
    expect(without.notes[1]).toMatch(/^The samples of 1 of 1 points are in files beside/)
    const asked: string[] = []
    const { steps, rounds, notes } = runOfNvbench(file, 'gemm.json', {}, (path, length) => {
      asked.push(`${path} ${length}`)
      const values = path.includes('freqs') ? Array(5).fill(1.5e9) : points[0]!.samples
      return new Uint8Array(Float32Array.from(values as number[]).buffer)
    })
    expect(asked).toEqual(['gemm.json-bin/0.bin 20', 'gemm.json-freqs-bin/0.bin 20'])
    expect(notes).toHaveLength(1)
    expect(rounds[0]!.samplesNs.map(Math.round)).toEqual([3000, 1000, 2000, 4000, 5000])
    const { timeNs, meanMHz } = steps[0]!.measurement!
    expect([timeNs.q1, timeNs.median, timeNs.q3, timeNs.p95].map(Math.round)).toEqual([
      2000, 3000, 4000, 4800
    ])
    expect(meanMHz).toBeCloseTo(1500)
  })

  it('takes axes and values that a person names', () => {
    const axes = { M: 'K', N: '512', format: 'nvfp4' } as const
    const [step] = read([point], { axes }).steps
    expect(step).toMatchObject({ m: 256, n: 512, k: 256, format: 'nvfp4' })
    expect(step!.kernel).toBe('gemm Tile=128x64 DType=mxfp4 M=128 N=128')
  })

  it('refuses in a sentence what is no product, or of which device is not said', () => {
    const file = nvbenchGemm([point])
    const [state] = file.benchmarks[0]!.states
    state!.axis_values = [{ name: 'Elements', type: 'int64', value: '1024' }]
    expect(() => runOfNvbench(bytesOf(file), 'f')).toThrow(
      'f: benchmark "gemm" has no axis that says M and N and K and format of a product (its axes: Elements)'
    )
    const two = [point, { ...point, device: 1 }]
    expect(() => read(two)).toThrow(
      'has times of devices 0, 1, and a run is of one: name it with --device'
    )
    expect(read(two, { device: '1' }).device!.id).toBe('cuda:1')
    expect(() => read(two, { device: '7' })).toThrow('has nothing of device 7; its devices: 0, 1')
    expect(() => read([{ ...point, k: 40 }])).toThrow('K=40 is not a multiple')
    const batched = nvbenchGemm([point])
    batched.benchmarks[0]!.states[0]!.axis_values.push({ name: 'Batch', type: 'int64', value: '4' })
    expect(() => runOfNvbench(bytesOf(batched), 'f')).toThrow('axis Batch=4 makes several products')
  })

  it('of a run exported here has its points and medians again', () => {
    const { run } = openProfile(readFileSync('test/fixtures/runs/h200-8192/run.json'), 'run.json')
    const measured = run!.steps.filter(({ measurement }) => measurement)
    const { steps } = runOfNvbench(bytesOf(runToNvbench(run!)), 'f')
    const key = ({ kernel, format, m, n, k }: (typeof steps)[number]) =>
      [kernel, format, m, n, k].join(' ')
    expect(steps.map(key).sort()).toEqual(measured.map(key).sort())
    for (const step of measured) {
      const again = steps.find((one) => key(one) === key(step))!.measurement!
      expect(again.timeNs.median).toBeCloseTo(step.measurement!.timeNs.median)
      expect(again.timeNs.q1).toBeCloseTo(step.measurement!.timeNs.q1)
    }
  })
})
