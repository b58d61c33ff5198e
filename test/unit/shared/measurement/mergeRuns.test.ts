import { describe, expect, it } from 'vitest'
import type { Measurement, Run, Step } from '@shared/contract/run'
import { mergeRuns, type Shard } from '@shared/measurement/mergeRuns'
import { placesText, spreadOfPlaces } from '@shared/measurement/placeSpread'
import { statisticsOf } from '@shared/measurement/statistics'
import { sampleRun } from '../../../support/sampleRun'

interface Gpu {
  host: string
  samplesNs: number[]
  meanMHz?: number
  meanTemperatureC?: number
  sourceHash?: string
  disposition?: Step['disposition']
}

function shardOf(gpu: Gpu, at: number): Shard {
  const run = sampleRun()
  const [step] = run.steps as [Step]
  const measurement: Measurement = {
    ...step.measurement!,
    timeNs: statisticsOf(gpu.samplesNs, 1),
    meanMHz: gpu.meanMHz ?? 1900,
    meanTemperatureC: gpu.meanTemperatureC ?? 50,
    roundMediansNs: [gpu.samplesNs[0]!],
    ...{ flops: 2e9, bytes: 1e6 }
  }
  const own: Step = {
    ...step,
    measurement,
    sourceHash: gpu.sourceHash ?? 'a',
    disposition: gpu.disposition ?? 'passed'
  }
  const device = { id: 'cuda:0', kind: 'cuda', name: 'H', architecture: 'sm_90', kernels: [] }
  return {
    run: {
      ...run,
      id: `${at}/run`,
      host: { ...run.host, name: gpu.host },
      device: { ...device, properties: { uuid: `GPU-${at}` } },
      steps: [own]
    } as Run,
    samples: () => ({ samplesNs: gpu.samplesNs, samplesMHz: [] })
  }
}
const as = { id: 'r', label: 'fleet', createdAt: '2026-11-22T00:00:00.000Z', notes: '' }
const steady = (ns: number) => [ns, ns + 1, ns + 2, ns + 3]
const merge = (...gpus: Gpu[]) => mergeRuns(gpus.map(shardOf), as)

describe('runs of several GPUs', () => {
  it('become one whose points are over all their samples, with a place for each', () => {
    const run = merge(
      { host: 'one', samplesNs: steady(1000) },
      { host: 'two', samplesNs: steady(1010) }
    )
    const [step] = run.steps as [Step]
    expect(run.steps).toHaveLength(1)
    expect(step.measurement!.timeNs).toEqual(statisticsOf([...steady(1000), ...steady(1010)], 2))
    expect(step.measurement!.tflops).toBeCloseTo(
      step.measurement!.flops / step.measurement!.timeNs.median / 1e3
    )
    expect(step.places!.map(({ host, uuid }) => [host, uuid])).toEqual([
      ['one', 'GPU-0'],
      ['two', 'GPU-1']
    ])
    expect(run.host.name).toBe('2 hosts')
    expect(spreadOfPlaces(run)[0]).toMatchObject({ fastestNs: 1001.5, outliers: [], choices: 1 })
  })

  it('fail where one of them failed', () => {
    const run = merge(
      { host: 'one', samplesNs: steady(1000) },
      { host: 'two', samplesNs: steady(1000), disposition: 'incorrect' }
    )
    expect(run.steps[0]!.disposition).toBe('incorrect')
  })

  it('name a straggler with what its clock and temperature say, and choices that differ', () => {
    const run = merge(
      { host: 'one', samplesNs: steady(1000) },
      { host: 'two', samplesNs: steady(1005) },
      { host: 'three', samplesNs: steady(1600), meanMHz: 1200, meanTemperatureC: 84 },
      { host: 'four', samplesNs: steady(1003), sourceHash: 'b' }
    )
    const [point] = spreadOfPlaces(run)
    expect(point!.outliers).toHaveLength(1)
    expect(point!.outliers[0]).toMatchObject({
      place: { host: 'three', uuid: 'GPU-2' },
      why: 'its clock is 63 % of theirs, it is 34 K warmer'
    })
    expect(point!.outliers[0]!.ratio).toBeCloseTo(1.594, 3)
    expect(point!.choices).toBe(2)
    expect(placesText(run.steps[0]!)).toBe(
      '4, 60 % from the fastest to the slowest. GPU-2 of three: +59 % of time against the middle one; ' +
        'its clock is 63 % of theirs, it is 34 K warmer. 2 choices of source or tiles.'
    )
    expect(point!.spread).toBeCloseTo(0.599, 3)
  })

  it('says of one that scatters as all do that nothing stands out', () => {
    const wide = [1000, 1400, 1800, 2200]
    const run = merge(
      { host: 'one', samplesNs: wide },
      { host: 'two', samplesNs: wide.map((ns) => ns + 100) }
    )
    expect(spreadOfPlaces(run)[0]!.outliers).toEqual([])
  })
})
