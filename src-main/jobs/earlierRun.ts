/** A run that ended early, for the job that resumes it: what is finished there is not done again. */
import { hostname } from 'node:os'
import { shapeKey, type Shaped } from '@shared/contract/groups'
import type { JobSpec } from '@shared/contract/jobs'
import type { Device } from '@shared/contract/devices'
import { measuredRoundSchema, type Run, type Step, type StoredRound } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { groupedBy } from '@shared/groupedBy'
import { dispositionOf } from '@shared/measurement/outcome'
import * as v from 'valibot'
import type { NativeMeasurement } from '../engine/nativeBinding'
import type { RunStore } from '../store/runStore'
import type { JobPlan, PlannedStep } from './plan'
import type { RecordedPaths } from './recordedPaths'

export interface EarlierRun {
  /** For the events of the run that resumes it. */
  note: string
  /** The validation of a step with the same kernel source; undefined when it has to be done. */
  validated(planned: PlannedStep): Step | undefined
  /** The rounds that were measured of it, first to last. */
  rounds(planned: PlannedStep): NativeMeasurement[]
}

/** Throws a UserError when the run is complete, was asked for something else, or was made on another device. */
export async function openEarlierRun(
  store: RunStore,
  id: string,
  plan: JobPlan,
  paths: RecordedPaths
): Promise<EarlierRun> {
  const run = await store.read(id)
  refuseUnlike(run, plan, paths)
  const steps = new Map(run.steps.map((step) => [keyOf(step), step]))
  const find = (planned: PlannedStep) => {
    const step = steps.get(keyOf({ ...planned, kernel: planned.kernel.id }))
    return step && hasSameSource(step, planned) ? step : undefined
  }
  const measured = groupedBy(await store.rounds(id), ({ step }) => step)
  const kept = plan.steps.filter((planned) => find(planned)?.validation).length
  return {
    note: `Resumes ${id} of ${run.createdAt}: ${kept} of ${plan.steps.length} steps had been validated there.`,
    validated: (planned) => {
      const step = find(planned)
      return step?.validation && asValidated(step, planned)
    },
    rounds(planned) {
      const step = find(planned)
      const rounds = (step && measured.get(step.index)) ?? []
      // A round without its other fields is of an older version: the point is measured anew.
      const whole = rounds.map(toMeasurement)
      return whole.every((measured) => measured !== undefined) ? whole : []
    }
  }
}

function refuseUnlike(run: Run, plan: JobPlan, paths: RecordedPaths): void {
  const { id, device: before } = run
  if (run.status === 'done')
    throw new UserError('usage', `Run ${id} is complete; there is nothing to resume.`)
  if (run.status === 'running' || run.status === 'queued')
    throw new UserError('usage', `Run ${id} is still being made; cancel it first.`)
  const namedAlike = (spec: JobSpec) => asked(paths.recorded(paths.located(spec)))
  if (namedAlike(run.spec) !== namedAlike(plan.spec))
    throw new UserError('usage', `Run ${id} was asked for something else; start a new one.`)
  if (!before || !isSameDevice(before, plan.device, run.host.name))
    throw new UserError(
      'usage',
      `Run ${id} was made on ${before?.name ?? 'no device'} of ${run.host.name}, and this is ${plan.device.name} of ` +
        `${hostname()}: times of two devices do not go into one run. Start a new one.`
    )
  const planned = new Set(plan.steps.map((step) => keyOf({ ...step, kernel: step.kernel.id })))
  const lost = run.steps.find((step) => !planned.has(keyOf(step)))
  if (lost)
    throw new UserError(
      'usage',
      `Run ${id} has results of ${lost.kernel}, which is not here now; name its folder with --kernel-dir, or start a new run.`
    )
}

/** A CPU has no UUID: it is known by the machine it is in. */
function isSameDevice(before: Device, now: Device, hostBefore: string): boolean {
  if (before.name !== now.name || before.properties.uuid !== now.properties.uuid) return false
  return now.properties.uuid !== undefined || hostBefore === hostname()
}

const asked = (spec: JobSpec) => JSON.stringify(Object.entries({ ...spec, resumes: '' }).sort())

const keyOf = (of: Pick<Step, 'format' | 'kernel'> & Shaped) =>
  `${of.format} ${of.kernel} ${shapeKey(of)}`

const hasSameSource = (step: Step, { kernel }: PlannedStep) =>
  step.sourceHash === kernel.sourceHash && step.compileOptions === kernel.compileOptions

/** The step as it was after its validation, whatever became of its timing. */
function asValidated(step: Step, planned: PlannedStep): Step {
  const { status, reason } = step.validation!
  return {
    ...step,
    index: planned.index,
    choice: planned.choice,
    disposition: dispositionOf(status, step.baseline),
    reason,
    measurement: undefined
  }
}

/** Undefined for a round that lacks something, as those of version 0.1.0 do. */
function toMeasurement(round: StoredRound): NativeMeasurement | undefined {
  const parsed = v.safeParse(measuredRoundSchema, round)
  if (!parsed.success) return undefined
  const { samplesNs, samplesMHz, ...rest } = parsed.output
  return {
    ...rest,
    samplesNs: Float64Array.from(samplesNs),
    samplesMHz: Float64Array.from(samplesMHz)
  }
}
