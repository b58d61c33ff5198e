import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toMeasurement } from '../../../../src-main/jobs/stepResults'
import { parseRun } from '@shared/contract/parseRun'
import type { Step } from '@shared/contract/run'
import { adviceOn } from '@shared/measurement/advice'
import { launchTimes, totalOf } from '@shared/measurement/launchTimes'
import { shortName } from '@shared/profile/ask/shortName'
import { treeOfRun } from '@shared/profile/read/runTree'
import { nodeName, timeMetric } from '@shared/profile/tree/profileTree'

/** As CUPTI recorded mxfp4 by wgmma-fp8-p128 on an H200, 8192 cubed: all but encode start before the launch ahead ends. */
const recorded = [
  ['encode', 0, 51_700],
  ['multiply', 114_700, 924_700],
  ['widen', 879_900, 926_200],
  ['multiplyWide', 925_700, 927_000],
  ['fallback', 927_200, 928_800]
] as const
const launches = recorded.map(([name, startNs, endNs]) => ({
  ...{ name, startNs, endNs, stream: 0, grid: [132, 1, 1], block: [384, 1, 1] },
  ...{ registersPerThread: 168, sharedMemoryBytes: 200_000 }
})) as NonNullable<Step['measurement']>['launches']

const file = 'test/fixtures/runs/h200-8192/run.json'
const run = parseRun(readFileSync(file, 'utf8'), file)
const step = run.steps.find(({ kernel }) => kernel === 'wgmma-fp8-p128')!
const measured: Step = { ...step, measurement: { ...step.measurement!, launches } }

describe('launches that start before the one ahead has ended', () => {
  it('count from that end', () => {
    expect(launchTimes(launches)).toEqual([51_700, 810_000, 1_500, 800, 1_600])
  })

  it('by start, whatever their order, and nothing where another covers them', () => {
    const times = [
      { startNs: 50, endNs: 90 },
      { startNs: 0, endNs: 100 },
      { startNs: 60, endNs: 120 }
    ]
    expect(launchTimes(times)).toEqual([0, 100, 20])
    expect(launchTimes([])).toEqual([])
  })

  it('are no more of the profile tree and of the advice than what they add', () => {
    const tree = treeOfRun({ ...run, steps: [measured] })
    const node = Array.from(tree.name).findIndex((_, at) => nodeName(tree, at) === 'widen')
    const ns = tree.numbers.find(({ name }) => name === timeMetric)!.values[node]!
    expect(ns / measured.measurement!.timeNs.median).toBeCloseTo(1_500 / 865_600, 6)
    expect(adviceOn(measured, run.device, shortName).map(({ text }) => text)).not.toContainEqual(
      expect.stringContaining('widen')
    )
  })

  it("have the time in which any ran as CUPTI's, and none by another tool's", () => {
    const round = {
      ...measured.measurement!,
      ...{ samplesNs: Float64Array.of(1), samplesMHz: new Float64Array(), discarded: 0 }
    }
    const reads = { scaleLayout: 'linear', operandBits: 0 }
    const spec = { ...run.spec, distribution: 'normal' }
    const cuptiNs = (launchSource: string) =>
      toMeasurement([{ ...round, launchSource }], measured, reads, { method: '', spec }).cuptiNs
    expect(cuptiNs('CUPTI')).toBe(totalOf(launchTimes(launches)))
    expect(cuptiNs('events')).toBe(0)
  })
})
