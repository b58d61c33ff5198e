/**
 * A sweep, by method bs-1 (docs/measurement.md): every point is validated, then all valid points are measured in
 * rounds, each in a new random order, with the round's first point repeated at its end to see drift.
 */
import { defaults } from '@shared/contract/defaults'
import type { Step } from '@shared/contract/run'
import { presets, sustainedNs, type Preset } from '@shared/measurement/presets'
import { median } from '@shared/measurement/statistics'
import type { SweepSpec } from '@shared/contract/jobs'
import type { NativeMeasurement, NativeMeasureRequest } from '../engine/nativeBinding'
import { pythonKernelOf } from '../engine/pythonKernel'
import { ownLaunchNs } from '@shared/measurement/validationFigures'
import { leastMeasurement, measureOf, roundsOf, unitOf } from './estimate'
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

export async function runSweep(context: JobContext): Promise<void> {
  const { spec } = context.plan
  if (spec.kind !== 'sweep') throw new Error('Not a sweep.')
  const session = new OpenSession(context)
  try {
    const rounds = roundsOf(spec)
    const points = await validatePoints(context, session)
    for (const point of points) await takeOver(context, spec, point, rounds)
    dropUndone(context, points, rounds)
    await measurePoints(context, session, spec, points, rounds)
  } finally {
    await session.close()
  }
}

/** Measurements that are not to be made: of points that failed, and of rounds that were taken over. */
function dropUndone({ plan, meter }: JobContext, points: readonly Point[], rounds: number): void {
  const taken = new Map(points.map(({ planned, rounds: done }) => [planned.index, done.length]))
  for (const { index } of plan.steps)
    for (let round = 0; round < (taken.get(index) ?? rounds); round++)
      meter.drop(unitOf.measurement(index, round))
}

async function validatePoints(context: JobContext, session: OpenSession): Promise<Point[]> {
  const points: Point[] = []
  for (const planned of context.plan.steps) {
    if (context.signal.aborted) break
    let step = context.earlier?.validated(planned)
    if (step) context.meter.drop(unitOf.validation(planned.index))
    else step = await validateStep(context, session, planned, beforeTiming)
    if (isMeasurable(step)) points.push({ planned, step, rounds: [] })
    else await context.record(step)
  }
  return points
}

/** Rounds of the run that this one resumes; a point that has them all is not measured again. */
async function takeOver(
  context: JobContext,
  spec: SweepSpec,
  point: Point,
  rounds: number
): Promise<void> {
  const { earlier, writer } = context
  point.rounds = earlier?.rounds(point.planned).slice(0, rounds) ?? []
  if (point.rounds.length === 0) return
  for (const [round, measured] of point.rounds.entries())
    await writer.samples(point.step.index, round, measured)
  await recordPoint(context, spec, point)
}

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

async function measurePoints(
  context: JobContext,
  session: OpenSession,
  spec: SweepSpec,
  points: Point[],
  rounds: number
): Promise<void> {
  const preset = presets[spec.preset]
  const warm = new Set<string>()
  for (let round = 0; round < rounds && !context.signal.aborted; round++) {
    const missing = points.filter((point) => point.rounds.length <= round)
    const order = shuffled(missing, spec.seed + round)
    for (const point of order) {
      if (context.signal.aborted) break
      const progress = (fraction: number, phase: string) => {
        const name = pointName(point.planned, spec)
        context.progress(fraction, `round ${round + 1} of ${rounds}, ${name}: ${phase}`)
      }
      context.meter.begin(unitOf.measurement(point.planned.index, round))
      const measured = await measurePoint(context, session, spec, preset, point, warm, progress)
      context.meter.end()
      if (!measured) continue
      point.rounds.push(measured)
      await context.writer.samples(point.step.index, round, measured)
      await recordPoint(context, spec, point)
    }
    if (context.signal.aborted || order.length < 2) {
      context.meter.drop(unitOf.drift(round))
      continue
    }
    context.meter.begin(unitOf.drift(round))
    await checkDrift(context, session, spec, preset, order[0]!, warm)
    context.meter.end()
  }
  for (const point of points) {
    if (point.rounds.length === 0 && point.step.disposition !== 'error') {
      point.step.disposition = 'cancelled'
      point.step.reason = 'Cancelled after validation, before it was timed.'
      await context.record(point.step)
    }
  }
}

async function measurePoint(
  context: JobContext,
  session: OpenSession,
  spec: SweepSpec,
  preset: Preset,
  point: Point,
  warm: Set<string>,
  onProgress: (fraction: number, phase: string) => void
): Promise<NativeMeasurement | undefined> {
  const { planned, step } = point
  if (step.disposition === 'error') return undefined
  const start = performance.now()
  try {
    const id = await session.open(openRequest(context.plan, planned), onProgress)
    const request = measureRequest(spec, preset, planned.kernel.id, warm, point.rounds.length === 0)
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
  spec: SweepSpec,
  preset: Preset,
  kernel: string,
  warm: Set<string>,
  firstRound: boolean
): NativeMeasureRequest {
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

async function recordPoint(context: JobContext, spec: SweepSpec, point: Point): Promise<void> {
  point.step.measurement = toMeasurement(point.rounds, point.step, point.planned.kernel, {
    method: `bs-1 ${spec.reps ? `fixed ${spec.reps}` : spec.preset}, ${spec.mode}`,
    spec
  })
  await context.record(point.step)
}

/** 'nvfp4 K=4096 wgmma', with M and N where the sweep has several. */
function pointName({ format, m, n, k, kernel }: PlannedStep, spec: SweepSpec): string {
  const several = [spec.mValues.length > 1 && `M=${m}`, spec.nValues.length > 1 && `N=${n}`]
  return [format, ...several, `K=${k}`, kernel.id].filter(Boolean).join(' ')
}

/** Measures the round's first point once more; more than 2 % change is said in the run. */
async function checkDrift(
  context: JobContext,
  session: OpenSession,
  spec: SweepSpec,
  preset: Preset,
  first: Point,
  warm: Set<string>
): Promise<void> {
  const before = first.rounds.at(-1)
  if (!before) return
  const again = await measurePoint(context, session, spec, preset, first, warm, () => {})
  if (!again) return
  const change = median(again.samplesNs) / median(before.samplesNs) - 1
  if (Math.abs(change) > maxDrift) {
    await context.notice(
      `Drifted: ${pointName(first.planned, spec)} took ${(Math.abs(change) * 100).toFixed(1)} % ` +
        `${change > 0 ? 'more' : 'less'} time at the end of the round than at its start.`
    )
  }
}
