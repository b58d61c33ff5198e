/** A point over runs, and two validations cell by cell. */
import { describe, expect, it } from 'vitest'
import type { Measurement, Run, Step, Validation } from '@shared/contract/run'
import type { Device } from '@shared/contract/devices'
import { comparisonDoubts } from '@shared/measurement/compareRuns'
import { compareValidations } from '@shared/measurement/compareValidations'
import {
  deviceChanges,
  historyOf,
  historyPoints,
  labelledHistory,
  levelsOf
} from '@shared/measurement/history'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const flops = 2e12
/** `spread`: how far the quartiles are from the median, as a share. */
function measured(tflops: number, spread = 0.002, badges: string[] = []): Measurement {
  const median = flops / tflops / 1e3
  const timeNs = {
    ...{ samples: 40, discarded: 0, median, mean: median, p95: median, standardDeviation: 0 },
    ...{ min: median * (1 - 2 * spread), q1: median * (1 - spread) },
    ...{ q3: median * (1 + spread), max: median * (1 + 2 * spread) }
  }
  return {
    timeNs,
    flops,
    tflops,
    badges,
    method: 'bs-2 standard, cold',
    cacheMode: 'cold: 2 operand sets',
    meanMHz: 0
  } as unknown as Measurement
}
const runAt = (day: number, one: Measurement): Run =>
  sampleRun({
    id: `run-${day}`,
    createdAt: `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`,
    steps: [sampleStep(0, { measurement: one })]
  })

describe('the history of a point', () => {
  const runs = [
    runAt(12, measured(846)),
    runAt(2, measured(741)),
    runAt(13, measured(831, 0.03, ['noisy'])),
    runAt(15, measured(848)),
    runAt(17, measured(806))
  ]
  const [{ point, runs: count }] = historyPoints(runs) as [ReturnType<typeof historyPoints>[number]]

  it('tells no change between a launch timed alone and one timed among others', () => {
    const grouped = ['grouped']
    const changed = [
      runAt(2, measured(700)),
      runAt(3, measured(760, 0.002, grouped)),
      runAt(4, measured(800, 0.002, grouped))
    ]
    const verdicts = historyOf(changed, point).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(['first', 'first', 'faster'])
  })

  it('tells no change from one method to another of a launch timed among others', () => {
    const by = (method: string) => ({ ...measured(760, 0.002, ['grouped']), method })
    const faster = { ...measured(800, 0.002, ['grouped']), method: 'bs-3 standard, cold' }
    const changed = [by('bs-2 quick, cold'), by('bs-3 quick, cold'), faster].map((one, day) =>
      runAt(day + 2, one)
    )
    const verdicts = historyOf(changed, point).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(['first', 'first', 'faster'])
  })

  it('is compared over methods on a CPU, whose times are the same by each', () => {
    const [before, now] = ['bs-2 quick, cold', 'bs-3 quick, cold'].map((method, day) => ({
      ...runAt(day + 2, { ...measured(760 + 40 * day, 0.002, ['grouped']), method }),
      device: { id: 'cpu', kind: 'cpu', name: 'A CPU', properties: {} } as Device
    })) as [Run, Run]
    const [{ point: onCpu }] = historyPoints([before]) as [ReturnType<typeof historyPoints>[number]]
    const verdicts = historyOf([before, now], onCpu).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(['first', 'faster'])
    expect(comparisonDoubts(before, now)).toEqual([])
    const longer = { ...measured(760), method: 'bs-3 standard, cold' }
    const other = { ...runAt(4, longer), device: before.device }
    expect(comparisonDoubts(before, other)).toEqual([
      'Different method: quick, cold and standard, cold.'
    ])
  })

  it('is found by device, format, kernel, shape and cache', () => {
    expect(count).toBe(5)
    expect(point).toMatchObject({
      format: 'mxfp8',
      kernel: 'cpu-avx2',
      m: 128,
      k: 512,
      mode: 'cold'
    })
    expect(historyOf(runs, { ...point, k: 1024 })).toEqual([])
    expect(historyOf(runs, { ...point, mode: 'hot' })).toEqual([])
  })

  it('is told of the runs of one label alone where one is asked for, with the labels that there are', () => {
    const labelled = runs.map((run, at) => ({ ...run, label: at % 2 === 0 ? 'nightly' : '' }))
    const all = labelledHistory(labelled, point, '')
    expect(all.labels).toEqual(['nightly'])
    expect(all.entries).toHaveLength(5)
    const nightly = labelledHistory(labelled, point, 'nightly')
    expect(nightly.labels).toEqual(['nightly'])
    expect(nightly.entries.map(({ runId, verdict }) => [runId, verdict])).toEqual([
      ['run-12', 'first'],
      ['run-13', 'noisy'],
      ['run-17', 'slower']
    ])
    expect(labelledHistory(runs, undefined, '')).toEqual({ labels: [], entries: [] })
  })

  it('has a level between two changes, which a noisy run neither ends nor moves', () => {
    expect(levelsOf(historyOf(runs, point)).map(({ from, to }) => [from, to])).toEqual([
      [0, 0],
      [1, 3],
      [4, 4]
    ])
    expect(levelsOf(historyOf(runs, point))[1]!.median).toBeCloseTo(847, 6)
  })

  it('says where the driver changed, and not where none is known', () => {
    const withDriver = (run: Run, driverVersion: string) => ({
      ...run,
      device: { ...run.device!, properties: { driverVersion } }
    })
    const drivers = ['580.159', '580.95', '', '580.159', '581.2']
    const changed = runs.map((run, at) => withDriver(run, drivers[at]!))
    expect(deviceChanges(historyOf(changed, point))).toEqual([
      { place: 1, text: 'driver 580.95 → 580.159' },
      { place: 4, text: 'driver 580.159 → 581.2' }
    ])
  })

  it('says where the clock was another one: by over 2 %, and of runs that know it', () => {
    const clocks = [1640, 1655, 1750, 0, 1640]
    const changed = runs.map((run, at) => ({
      ...run,
      steps: run.steps.map((step) => ({
        ...step,
        measurement: step.measurement && { ...step.measurement, meanMHz: clocks[at]! }
      }))
    }))
    const inTime = historyOf(changed, point)
    const found = deviceChanges(inTime)
    const expected = inTime.flatMap(({ meanMHz }, place) => {
      const before = inTime[place - 1]?.meanMHz ?? 0
      const isOther = before > 0 && meanMHz > 0 && Math.abs(meanMHz - before) > 50
      return isOther
        ? [
            {
              place,
              text: `clock ${(before / 1000).toFixed(2)} → ${(meanMHz / 1000).toFixed(2)} GHz`
            }
          ]
        : []
    })
    expect(expected.length).toBeGreaterThan(0)
    expect(found).toEqual(expected)
  })

  it('calls a change what has disjoint quartiles and more than 1 %, and leaves noisy runs out of it', () => {
    const found = historyOf(runs, point)
    expect(found.map(({ runId, verdict }) => [runId, verdict])).toEqual([
      ['run-2', 'first'],
      ['run-12', 'faster'],
      ['run-13', 'noisy'],
      ['run-15', 'same'],
      ['run-17', 'slower']
    ])
    expect(found[1]!.change).toBeCloseTo(846 / 741 - 1, 9)
    expect(found[3]!.change).toBeCloseTo(848 / 846 - 1, 9)
    for (const { least, q1, median, q3, most } of found) {
      const rates = [least, q1, median, q3, most]
      expect(rates).toEqual([...rates].sort((a, b) => a - b))
    }
  })
})

describe('two validations', () => {
  const judged = (kernel: string, share: number, disposition: Step['disposition'] = 'passed') =>
    sampleStep(0, {
      kernel,
      disposition,
      validation: { maxToleranceShare: share, errorMap: [] } as unknown as Validation
    })
  const validation = (steps: Step[]) => sampleRun({ kind: 'validate', steps })

  it('say what fails now, what moved, and what is the same', () => {
    const found = compareValidations(
      validation([
        judged('a', 0.4),
        judged('b', 0.4),
        judged('c', 3, 'incorrect'),
        judged('d', 0.4),
        judged('e', 1)
      ]),
      validation([
        judged('a', 0.4),
        judged('b', 2, 'incorrect'),
        judged('c', 0.4),
        judged('d', 0.5)
      ])
    )
    expect(found.map(({ kernel, change }) => [kernel, change])).toEqual([
      ['b', 'now fails'],
      ['d', 'error grew'],
      ['c', 'now passes'],
      ['a', 'same']
    ])
  })
})
