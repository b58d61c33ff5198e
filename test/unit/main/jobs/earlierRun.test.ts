/** What a run that resumes another takes over, and which runs it refuses. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { openEarlierRun } from '../../../../src-main/jobs/earlierRun'
import type { JobPlan, PlannedStep } from '../../../../src-main/jobs/plan'
import { RecordedPaths } from '../../../../src-main/jobs/recordedPaths'
import { RunStore } from '../../../../src-main/store/runStore'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-earlier-'))
const store = new RunStore(folder)
afterAll(() => rmSync(folder, { recursive: true }))
const paths = new RecordedPaths(undefined)
const open = (id: string, plan: JobPlan) => openEarlierRun(store, id, plan, paths)

const device = { ...{ id: 'cpu', kind: 'cpu', name: 'A CPU' }, architecture: '', kernels: [] }
const properties = { uuid: 'GPU-1' }
/** Of a real run. */
const { validation } = (
  JSON.parse(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8')) as Run
).steps.find((step) => step.disposition === 'passed')!

function planned(some: Partial<PlannedStep> = {}, sourceHash = 'abc'): PlannedStep {
  const kernel = { id: 'cpu-avx2', sourceHash, compileOptions: '' } as PlannedStep['kernel']
  const shape = { format: 'mxfp8', m: 128, n: 128, k: 512 }
  return { ...{ index: 7, level: 'exact', reason: '', instruction: '' }, ...shape, kernel, ...some }
}
const planOf = (run: Run, some: Partial<JobPlan> = {}): JobPlan =>
  ({
    spec: { ...run.spec, resumes: run.id },
    device: { ...device, properties },
    ...{ steps: [planned()], estimate: { units: new Map(), seconds: 1, range: [1, 1] }, notes: [] },
    ...some
  }) as JobPlan

/** The rest of what a round measures. */
const restOfRound = {
  ...{ discarded: 0, launchesPerSample: 1, operandSets: 4, cacheMode: 'cold', warmupNs: 1 },
  ...{ timingSource: 'clock', stopReason: 'time', compileSeconds: 0, badges: ['noisy'] },
  ...{ meanWatts: 0, meanTemperatureC: 0, launches: [], launchSource: '', sustainedNs: 0 },
  ...{ sustainedCount: 0, sustainedWatts: 0, joulesPerLaunch: 0 },
  algorithm: {
    ...{ id: 66, name: '', tile: '128x256', stages: '64xAUTO', cluster: '2x1x1', splitK: 1 },
    ...{ reduction: 'none', workspaceBytes: 0, waves: 1, rank: 1, proposed: 8 }
  }
}

async function stored(change: Partial<Run>): Promise<Run> {
  const run = sampleRun({
    status: 'cancelled',
    device: { ...device, properties } as Run['device'],
    ...change
  })
  const writer = await store.create(run)
  await writer.samples(0, 0, { samplesNs: [10, 20], samplesMHz: [1], ...restOfRound })
  await writer.samples(1, 0, { samplesNs: [5], samplesMHz: [] })
  await store.finish(writer)
  return run
}

describe('a run that ended early', () => {
  it('gives validations and whole rounds of the same kernel source and shape', async () => {
    const run = await stored({
      steps: [
        sampleStep(0, { validation, disposition: 'cancelled', reason: 'before it was timed' }),
        sampleStep(1, { validation, k: 1024 }),
        sampleStep(2, { k: 2048, disposition: 'error', reason: 'lost' })
      ]
    })
    const others = [planned({ k: 1024 }), planned({ k: 2048 })]
    const earlier = await open(run.id, planOf(run, { steps: [planned(), ...others] }))
    expect(earlier.note).toContain('2 of 3 steps had been validated there')
    expect(earlier.validated(planned())).toMatchObject({
      index: 7,
      disposition: 'passed',
      reason: ''
    })
    expect(earlier.validated(planned({}, 'another source'))).toBeUndefined()
    expect(earlier.validated(planned({ m: 256 }))).toBeUndefined()
    expect(earlier.validated(planned({ k: 2048 }))).toBeUndefined()
    expect(earlier.rounds(planned())).toEqual([
      {
        samplesNs: Float64Array.of(10, 20),
        samplesMHz: Float64Array.of(1),
        ...restOfRound
      }
    ])
    // A round of an older version holds its samples alone.
    expect(earlier.rounds(planned({ k: 1024 }))).toEqual([])
  })

  it.each<[string, Partial<Run>, Partial<JobPlan>, RegExp]>([
    ['a complete run', { status: 'done' }, {}, /is complete/],
    [
      'another question',
      {},
      { spec: { ...sampleRun().spec, seed: 1 } },
      /asked for something else/
    ],
    [
      'another device',
      {},
      { device: { ...device, properties: { uuid: 'GPU-2' } } as unknown as JobPlan['device'] },
      /times of two devices do not go into one run/
    ]
  ])('refuses %s', async (_what, change, plan, message) => {
    const run = await stored(change)
    await expect(open(run.id, planOf(run, plan))).rejects.toThrow(message)
  })

  it('refuses a CPU of another machine, which has no UUID to be told by', async () => {
    const cpu = { ...device, properties: {} }
    const run = await stored({ device: cpu as Run['device'] })
    const plan = planOf(run, { device: cpu as unknown as JobPlan['device'] })
    await expect(open(run.id, plan)).rejects.toThrow(/of bench, and this is A CPU/)
    const here = { name: hostname(), system: '', node: '' }
    const own = await stored({ device: cpu as Run['device'], host: here })
    await open(own.id, planOf(own, { device: plan.device }))
  })

  it('refuses to leave out the results of a kernel that is not here', async () => {
    const run = await stored({ steps: [sampleStep(0), sampleStep(1, { kernel: 'mine' })] })
    await expect(open(run.id, planOf(run))).rejects.toThrow(
      /has results of mine, which is not here now; name its folder with --kernel-dir/
    )
  })

  it('knows the files of Python kernels again that the run names from the working folder', async () => {
    const run = await stored({ spec: { ...sampleRun().spec, providerFiles: ['mine.py'] } })
    const asked = (file: string) => ({ ...run.spec, providerFiles: [file] })
    await open(run.id, planOf(run, { spec: asked(resolve('mine.py')) }))
    await expect(open(run.id, planOf(run, { spec: asked(resolve('other.py')) }))).rejects.toThrow(
      /asked for something else/
    )
  })

  it('refuses a run that is not there', async () => {
    await expect(open('none', planOf(sampleRun()))).rejects.toThrow(/no run "none"/)
  })
})
