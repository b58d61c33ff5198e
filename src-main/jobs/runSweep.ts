/**
 * A sweep, by method bs-3 (docs/measurement.md), in rounds over all points, each in a new random order, problem by problem.
 * In the first round a problem's kernels are validated before they are timed, so what is cut off has whole problems. The
 * round's first point is measured again at its end to see drift.
 */
import { defaults } from '@shared/contract/defaults'
import type { Step } from '@shared/contract/run'
import { groupedBy } from '@shared/groupedBy'
import { pointText } from '@shared/measurement/problemText'
import { methodName, presets, sustainedNs, type Preset } from '@shared/measurement/presets'
import { median } from '@shared/measurement/statistics'
import type { SweepSpec } from '@shared/contract/jobs'
import type { NativeMeasurement, MeasureRequest } from '../engine/nativeBinding'
import { pythonKernelOf } from '../engine/pythonKernel'
import { ownLaunchNs } from '@shared/measurement/validationFigures'
import { leastMeasurement, measureOf, problemOf, roundsOf, unitOf } from './estimate'
import type { JobContext } from './jobContext'
import { openRequest, OpenSession } from './openSession'
import type { PlannedStep } from './plan'
import { describeFailure, validateStep } from './runValidate'
import { shuffled } from './shuffle'
import { toMeasurement } from './stepResults'

/** More change than this between the first and the last measurement of one point in a round is called drift. */
const maxDrift = 0.02

const { atol, rtol, rule } = defaults

/** What a point is validated with before it is timed. There are many: each keeps a coarser error map than a validation does. */
export const beforeTiming = { atol, rtol, rule, maxFailures: 4, mapTiles: 16 }

interface Point {
  planned: PlannedStep
  step: Step
  rounds: NativeMeasurement[]
}

/** Those that are timed, by the index of their step. */
type Points = Map<number, Point>

/** What all of a sweep's measurements share. */
interface Sweep {
  context: JobContext
  session: OpenSession
  spec: SweepSpec
  preset: Preset
  rounds: number
  /** Kernels that have been warmed up. */
  warm: Set<string>
}

export async function runSweep(context: JobContext): Promise<void> {
  const { spec } = context.plan
  if (spec.kind !== 'sweep') throw new Error('Not a sweep.')
  const session = new OpenSession(context)
  const preset = presets[spec.preset]
  const sweep = { context, session, spec, preset, rounds: roundsOf(spec), warm: new Set<string>() }
  try {
    const points: Points = new Map()
    for (let round = 0; round < sweep.rounds && !context.signal.aborted; round++)
      await measureRound(sweep, points, round)
    await recordUntimed(context, points)
  } finally {
    await session.close()
  }
}

/** A problem's steps go through a round together: its operands are made once. */
function byProblem(steps: readonly PlannedStep[]): PlannedStep[][] {
  return [...groupedBy(steps, problemOf).values()]
}

async function measureRound(sweep: Sweep, points: Points, round: number): Promise<void> {
  const { context, spec } = sweep
  const { plan, signal, meter } = context
  const measured: Point[] = []
  for (const steps of byProblem(shuffled(plan.steps, spec.seed + round))) {
    if (round === 0) await validatePoints(sweep, steps, points)
    for (const { index } of steps) {
      const point = points.get(index)
      if (signal.aborted || !point || point.rounds.length > round) continue
      if (await measureOnce(sweep, point, round)) measured.push(point)
    }
  }
  const [first] = measured
  if (signal.aborted || !first || measured.length < 2) return meter.drop(unitOf.drift(round))
  meter.begin(unitOf.drift(round))
  await checkDrift(sweep, first)
  meter.end()
}

/** A problem's kernels; those that are to be timed join the points. */
async function validatePoints(
  sweep: Sweep,
  steps: readonly PlannedStep[],
  points: Points
): Promise<void> {
  const { context, session, rounds } = sweep
  for (const planned of steps.toSorted((a, b) => a.index - b.index)) {
    if (context.signal.aborted) break
    let step = context.earlier?.validated(planned)
    if (step) context.meter.drop(unitOf.validation(planned.index))
    else step = await validateStep(context, session, planned, beforeTiming)
    const isTimed = isMeasurable(step)
    for (let round = 0; round < rounds && !isTimed; round++)
      context.meter.drop(unitOf.measurement(planned.index, round))
    if (!isTimed) {
      await context.record(step)
      continue
    }
    const point = { planned, step, rounds: [] }
    points.set(planned.index, point)
    await takeOver(sweep, point)
  }
}

/** Rounds of the run that this one resumes; a point that has them all is not measured again. */
async function takeOver(sweep: Sweep, point: Point): Promise<void> {
  const { earlier, writer, meter } = sweep.context
  const { index } = point.step
  point.rounds = earlier?.rounds(point.planned).slice(0, sweep.rounds) ?? []
  for (const [round, measured] of point.rounds.entries()) {
    await writer.samples(index, round, measured)
    meter.drop(unitOf.measurement(index, round))
  }
  if (point.rounds.length > 0) await recordPoint(sweep, point)
  // Should the program be killed now, its validation is there for the run that resumes this one.
  else await writer.step({ ...point.step, disposition: 'not-run', reason: notYetTimed })
}

const notYetTimed = 'Validated; not timed yet.'

/** A kernel that passed is timed, and an approximate one of which no error is stated; a wrong one, or one that failed, is not. */
export const isMeasurable = (step: Step): boolean =>
  step.disposition === 'passed' || step.disposition === 'baseline' || isKnownApproximation(step)

/**
 * An approximate scheme that states no error for these operands, and whose only fault is elements outside the tolerance, is
 * worth its time, shown with its error; its scales must have been used where they belong.
 */
function isKnownApproximation(step: Step): boolean {
  const { validation } = step
  if (step.disposition !== 'incorrect' || !validation) return false
  return (
    step.level === 'approximate' &&
    validation.statedError === undefined &&
    validation.nonFinite === 0 &&
    ['passed', 'no-scales'].includes(validation.perturbationA.state) &&
    validation.perturbationB.state === 'passed'
  )
}

/** A round of a point, kept and shown; false when it came to nothing. */
async function measureOnce(sweep: Sweep, point: Point, round: number): Promise<boolean> {
  const { context, rounds } = sweep
  const progress = (fraction: number, phase: string) => {
    const name = pointText(point.step)
    context.progress(fraction, `round ${round + 1} of ${rounds}, ${name}: ${phase}`)
  }
  context.meter.begin(unitOf.measurement(point.planned.index, round))
  const measured = await measurePoint(sweep, point, progress)
  context.meter.end()
  if (!measured) return false
  point.rounds.push(measured)
  await context.writer.samples(point.step.index, round, measured)
  await recordPoint(sweep, point)
  return true
}

async function recordUntimed(context: JobContext, points: Points): Promise<void> {
  for (const { rounds, step } of points.values()) {
    if (rounds.length > 0 || step.disposition === 'error') continue
    step.disposition = 'cancelled'
    step.reason = 'Cancelled after validation, before it was timed.'
    await context.record(step)
  }
}

async function measurePoint(
  sweep: Sweep,
  point: Point,
  onProgress: (fraction: number, phase: string) => void
): Promise<NativeMeasurement | undefined> {
  const { context, session, spec, warm } = sweep
  const { planned, step } = point
  if (step.disposition === 'error') return undefined
  const start = performance.now()
  try {
    const id = await session.open(openRequest(context.plan, planned), onProgress)
    const request = measureRequest(sweep, planned.kernel.id, point.rounds.length === 0)
    const least = leastMeasurement(spec, onceOf(step), warm.has(planned.kernel.id) ? 1 : 0)
    warm.add(planned.kernel.id)
    const begun = performance.now()
    const measured = await context.engine.call(
      'measure',
      { session: id, request, python: pythonKernelOf(planned.kernel, context.plan.device) },
      { signal: context.signal, onProgress }
    )
    context.learn('measure', measureOf(spec), least, (performance.now() - begun) / 1000)
    return measured
  } catch (error) {
    // What earlier rounds measured stays; a cancel is no fault of the point.
    const before = step.disposition
    await describeFailure(context, session, step, error)
    if (step.disposition === 'cancelled') step.disposition = before
    else await context.record(step)
    return undefined
  } finally {
    step.seconds += (performance.now() - start) / 1000
  }
}

/** One operation in seconds, as its validation saw it. */
const onceOf = ({ validation }: Step): number => (ownLaunchNs(validation) ?? 0) / 1e9

function measureRequest(
  { spec, preset, warm }: Sweep,
  kernel: string,
  firstRound: boolean
): MeasureRequest {
  return {
    kernel,
    cold: spec.mode === 'cold',
    warmupLaunches: spec.warmup ?? 0,
    warmupNs: warm.has(kernel) ? preset.laterWarmupNs : preset.firstWarmupNs,
    minSamples: preset.minSamples,
    minTimeNs: preset.minTimeNs,
    maxRelativeStdev: preset.maxRelativeStdev,
    maxSamples: preset.maxSamples,
    timeoutNs: preset.timeoutNs,
    fixedSamples: spec.reps ?? 0,
    sustainedNs: spec.sustained && firstRound ? sustainedNs : 0,
    recordLaunches: firstRound
  }
}

async function recordPoint({ context, spec }: Sweep, point: Point): Promise<void> {
  point.step.measurement = toMeasurement(point.rounds, point.step, point.planned.kernel, {
    method: `${methodName} ${spec.reps ? `fixed ${spec.reps}` : spec.preset}, ${spec.mode}`,
    spec
  })
  await context.record(point.step)
}

/** Measures the round's first point once more; more than 2 % change is said in the run. */
async function checkDrift(sweep: Sweep, first: Point): Promise<void> {
  const before = first.rounds.at(-1)
  if (!before) return
  const again = await measurePoint(sweep, first, () => {})
  if (!again) return
  const change = median(again.samplesNs) / median(before.samplesNs) - 1
  if (Math.abs(change) > maxDrift) {
    await sweep.context.notice(
      `Drifted: ${pointText(first.step)} took ${(Math.abs(change) * 100).toFixed(1)} % ` +
        `${change > 0 ? 'more' : 'less'} time at the end of the round than at its start.`
    )
  }
}
