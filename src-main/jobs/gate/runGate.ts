/** A gate: base and new at every point they have in common, judged (src-shared/measurement/gateVerdict). */
import { hostname } from 'node:os'
import { autoKernel, type Detection, type Device } from '@shared/contract/devices'
import type { DeviceState } from '@shared/contract/deviceState'
import {
  currentGateVersion,
  type BaselinePoint,
  type BaselineState,
  type GatePoint,
  type GateProblem,
  type GateResult,
  type GateSide
} from '@shared/contract/gate'
import type { SweepSpec } from '@shared/contract/jobs'
import { operationName } from '@shared/contract/operation'
import { rowOf, type ShapeRow } from '@shared/contract/shapes'
import { UserError } from '@shared/errors'
import {
  confidenceOfEach,
  failedPoint,
  gateOutcome,
  judgePoint,
  type GateRule
} from '@shared/measurement/gateResult'
import { layersOf } from '@shared/measurement/modelTime'
import { methodName } from '@shared/measurement/presets'
import { pointOf } from '@shared/measurement/ratios'
import { median } from '@shared/measurement/statistics'
import type { Engine } from '../../engine/engine'
import { compileAhead } from '../compileAhead'
import { Meter } from '../estimate'
import type { StepContext } from '../jobContext'
import { OpenSession } from '../openSession'
import type { JobPlan, PlannedStep } from '../plan'
import { differencesOfTimed, keyOf, stateNow } from './sides'
import type { RecordedPoint, RecordedSide, Side } from './sides'
import { visitKernels, type VisitPlan } from './visits'

export interface GateRequest extends GateRule, Pick<VisitPlan, 'visits' | 'samples'> {
  /** What is timed, where no run or baseline says it; formats and shapes that are given narrow those down. */
  spec: SweepSpec
  narrow: { formats: boolean; m: boolean; n: boolean; k: boolean }
  /** What was said of them; else they are as a run or baseline has them. */
  asked: { mode?: string | undefined; output?: string | undefined }
}

export interface GateWork {
  engine: Engine
  detection: Detection
  device: Device
  plan(spec: SweepSpec): Promise<JobPlan>
  signal: AbortSignal
  appVersion: string
  onNotice(message: string): void
  /** `done` of `total` visits of this point. */
  onProgress(point: string, done: number, total: number): void
}

/** One side of a pair: planned to be timed, or timed before. */
type Source = { planned: PlannedStep } | { recorded: RecordedPoint }

interface Pairing {
  problem: GateProblem
  base: Source
  new: Source
}

const plannedOf = (source: Source) => ('planned' in source ? [source.planned] : [])

const nameOf = (source: Source) =>
  'planned' in source ? source.planned.kernel.id : source.recorded.kernel

/** Throws a UserError where the two cannot be compared at all; a point that cannot is one of the result. */
export async function runGate(
  base: Side,
  tested: Side,
  request: GateRequest,
  work: GateWork
): Promise<GateResult> {
  const createdAt = new Date().toISOString()
  const recorded = [base, tested].filter((side) => side.kind === 'recorded')
  const spec = specOf(recorded, request)
  const state = stateOf(recorded, work)
  const timed = [base, tested].flatMap((side) =>
    side.kind === 'timed' ? [...side.kernels.values()] : []
  )
  const plan = timed.length > 0 ? await work.plan({ ...spec, kernels: timed }) : undefined
  const { pairings, notes } = pairUp(base, tested, plan?.steps ?? [], request)
  const points = await judgeAll(pairings, plan, request, spec, work)
  return {
    blockscopeGate: currentGateVersion,
    appVersion: work.appVersion,
    createdAt,
    finishedAt: new Date().toISOString(),
    base: base.name,
    new: tested.name,
    how: howOf(recorded.length, request),
    device: { ...state, host: hostname() },
    ...{ mode: spec.mode, output: spec.output, seed: spec.seed },
    ...{ confidence: request.confidence, margin: request.margin },
    points,
    notes: work.signal.aborted ? [...notes, 'It was cancelled before its end.'] : notes,
    ...gateOutcome(points)
  }
}

function howOf(recorded: number, { visits, samples }: GateRequest): string {
  if (recorded === 0)
    return `${visits} pairs of ${samples} samples, alternately in one process, in random order within each pair`
  const what =
    recorded === 1
      ? `${visits} visits of ${samples} samples beside recorded times`
      : 'recorded times alone'
  return `${what}, not measured alternately: drift between the two counts as a difference`
}

/** What is timed: as the run was, which new times stand beside; else as asked. */
function specOf(
  recorded: readonly RecordedSide[],
  { spec, narrow, asked: said }: GateRequest
): SweepSpec {
  const [first, second] = recorded
  if (!first) return spec
  for (const name of ['mode', 'output'] as const) {
    const other = second?.[name] ?? said[name]
    if (other !== undefined && first[name] !== other)
      throw new UserError(
        'usage',
        `${first.name} was timed with ${name} ${first[name]}, and ${second?.name ?? 'what is asked'} is ${other}: they do not compare.`
      )
  }
  const operations = recorded.flatMap((side) => (side.spec ? [operationName(side.spec)] : []))
  if (new Set(operations).size > 1)
    throw new UserError(
      'usage',
      `${recorded.map(({ name }, at) => `${name} is ${operations[at]}`).join(', and ')}: they do not compare.`
    )
  const rows = first.points.map((point): ShapeRow => rowOf(pointOf(point).slice(0, 200), point))
  const {
    resumes: _,
    providerFiles: _files,
    ...asked
  } = first.spec ?? {
    ...spec,
    mode: first.mode as SweepSpec['mode'],
    output: first.output as SweepSpec['output']
  }
  return {
    ...asked,
    device: spec.device,
    providers: [],
    formats: narrow.formats ? spec.formats : [...new Set(first.points.map(({ format }) => format))],
    // Exactly these shapes; which of them are wanted is said by the pairs.
    ...{ mValues: [], nValues: [], kValues: [] },
    shapes: { source: first.name, rows }
  }
}

/** The state of the device all times are of. Throws a UserError when they are of several. */
function stateOf(recorded: readonly RecordedSide[], { detection, device }: GateWork): DeviceState {
  const now = { device: stateNow(detection, device.id), method: methodName }
  const [before = now, after = now] = recorded
  const differences = differencesOfTimed(before, after)
  if (differences.length > 0)
    throw new UserError(
      'failed',
      `Times of ${recorded.map(({ name }) => name).join(' and ')} do not compare: ${differences.join('; ')}.`
    )
  return before.device
}

/** Every point both have, and a sentence for what only one has. */
function pairUp(
  base: Side,
  tested: Side,
  steps: readonly PlannedStep[],
  { spec, narrow }: GateRequest
): { pairings: Pairing[]; notes: string[] } {
  const isShape = (problem: GateProblem) => layersOf(spec, problem).length > 0
  const isWanted = ({ format, m, n, k, groups }: GateProblem) =>
    (!spec.shapes || isShape({ format, m, n, k, groups })) &&
    (!narrow.formats || spec.formats.includes(format)) &&
    (!narrow.m || spec.mValues.includes(m)) &&
    (!narrow.n || spec.nValues.includes(n)) &&
    (!narrow.k || spec.kValues.includes(k))
  const all = [base, tested].map((side) => sourcesOf(side, steps, isWanted))
  const [before, after] = [all[0]!, all[1]!]
  const isSingle = (side: Side) => side.kind === 'timed' && side.kernels.has('')
  // A single kernel stands beside whatever the other side's is called.
  const isAnyName =
    base.kind === 'timed' && tested.kind === 'timed' && (isSingle(base) || isSingle(tested))
  const pairings: Pairing[] = []
  const missing: [string, string[]][] = [
    [base.name, []],
    [tested.name, []]
  ]
  const matched = new Set<Source>()
  for (const one of before) {
    const isMatch = (other: Found) =>
      pointOf(one.problem) === pointOf(other.problem) && (isAnyName || one.kernel === other.kernel)
    const others = after.filter(isMatch)
    if (others.length === 0) missing[1]![1].push(keyOf(one.kernel, one.problem))
    for (const other of others) {
      matched.add(other.source)
      pairings.push({ problem: one.problem, base: one.source, new: other.source })
    }
  }
  for (const other of after)
    if (!matched.has(other.source)) missing[0]![1].push(keyOf(other.kernel, other.problem))
  const notes = missing.flatMap(([name, keys]) =>
    keys.length === 0
      ? []
      : [
          `${name} lacks ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ` and ${keys.length - 3} more` : ''}.`
        ]
  )
  return { pairings, notes }
}

interface Found {
  kernel: string
  problem: GateProblem
  source: Source
}

function sourcesOf(
  side: Side,
  steps: readonly PlannedStep[],
  isWanted: (problem: GateProblem) => boolean = () => true
): Found[] {
  if (side.kind === 'recorded')
    return side.points.filter(isWanted).map((recorded) => {
      return { kernel: recorded.kernel, problem: problemOf(recorded), source: { recorded } }
    })
  return [...side.kernels].flatMap(([name, id]) =>
    steps
      .filter((step) => isOf(id, step) && step.level !== 'unavailable')
      .map((planned) => {
        return { kernel: name || id, problem: problemOf(planned), source: { planned } }
      })
  )
}

/** `auto` is whichever kernel it chose for the step's problem. */
const isOf = (id: string, { kernel, choice }: PlannedStep) =>
  id === autoKernel ? choice !== undefined : kernel.id === id

const problemOf = ({ format, m, n, k, groups }: GateProblem): GateProblem => ({
  ...{ format, m, n, k },
  ...(groups && { groups })
})

async function judgeAll(
  pairings: readonly Pairing[],
  plan: JobPlan | undefined,
  request: GateRequest,
  spec: SweepSpec,
  work: GateWork
): Promise<GatePoint[]> {
  const confidence = confidenceOfEach(request.confidence, pairings.length)
  const context = plan && contextOf(plan, work)
  const session = context && new OpenSession(context)
  const points: GatePoint[] = []
  const timed = pairings.flatMap((pairing) => [pairing.base, pairing.new].flatMap(plannedOf))
  try {
    if (context) await compileAhead(context, timed)
    for (const [index, pairing] of pairings.entries()) {
      const { problem } = pairing
      const kernels = { base: nameOf(pairing.base), new: nameOf(pairing.new) }
      const planned = [pairing.base, pairing.new].flatMap(plannedOf)
      let sides: GateSide[] = []
      if (planned.length > 0) {
        const visitPlan = visitPlanOf(request, spec, index)
        const name = `${kernels.new} ${pointOf(problem)}`
        const visited = await visitKernels(context!, session!, planned, visitPlan, (done) =>
          work.onProgress(name, done, request.visits)
        )
        if ('reason' in visited) {
          points.push(failedPoint(problem, kernels, visited.reason))
          continue
        }
        sides = visited.sides
      }
      const take = (source: Source) => ('planned' in source ? sides.shift()! : source.recorded)
      const [base, tested] = [take(pairing.base), take(pairing.new)]
      const { margin } = request
      const isPaired = planned.length === 2
      const judged = judgePoint(problem, bare(base), bare(tested), isPaired, confidence, margin)
      const isCut = planned.length > 0 && judged.new.samplesNs.length < request.visits
      const reason = `cancelled after ${judged.new.samplesNs.length} of ${request.visits} visits.`
      points.push(isCut ? { ...judged, verdict: 'insufficient', reason } : judged)
    }
  } finally {
    await session?.close()
  }
  return points
}

/** Of the point of this index: each has an order of its own. */
const visitPlanOf = (
  { visits, samples }: GateRequest,
  { mode, seed }: SweepSpec,
  index: number
): VisitPlan => ({ visits, samples, cold: mode === 'cold', seed: seed + index * visits })

/** New alone, timed as a gate times it: what a baseline keeps; and why points are left out of it, a sentence for each. */
export async function timeForBaseline(
  side: Side,
  request: GateRequest,
  work: GateWork
): Promise<{ state: BaselineState; failed: string[] }> {
  if (side.kind === 'recorded')
    throw new UserError('usage', `${side.name} is a run; --record times kernels that are here.`)
  const { spec } = request
  const recordedAt = new Date().toISOString()
  const plan = await work.plan({ ...spec, kernels: [...side.kernels.values()] })
  const context = contextOf(plan, work)
  const session = new OpenSession(context)
  const points: BaselinePoint[] = []
  const failed: string[] = []
  const sources = sourcesOf(side, plan.steps)
  try {
    await compileAhead(
      context,
      sources.flatMap(({ source }) => plannedOf(source))
    )
    for (const [index, { kernel, problem, source }] of sources.entries()) {
      if (!('planned' in source)) continue
      const name = keyOf(kernel, problem)
      const show = (done: number) => work.onProgress(name, done, request.visits)
      const visits = visitPlanOf(request, spec, index)
      const visited = await visitKernels(context, session, [source.planned], visits, show)
      const timed = 'sides' in visited ? visited.sides[0]! : undefined
      if (!timed || timed.samplesNs.length < request.visits) {
        failed.push('reason' in visited ? visited.reason : `${name} was cancelled.`)
        continue
      }
      const { sourceHash, meanMHz, samplesNs } = timed
      points.push({ ...problem, kernel, sourceHash, meanMHz, visitsNs: samplesNs.map(median) })
    }
  } finally {
    await session.close()
  }
  const device = stateNow(work.detection, work.device.id)
  const { mode, output } = spec
  return { state: { device, recordedAt, method: methodName, mode, output, points }, failed }
}

/** A recorded point has its problem in it too. */
const bare = ({ kernel, sourceHash, samplesNs, meanMHz, badges }: GateSide): GateSide => ({
  ...{ kernel, sourceHash, samplesNs, meanMHz, badges }
})

const contextOf = (plan: JobPlan, { engine, signal, onNotice }: GateWork): StepContext => ({
  engine,
  plan,
  signal,
  meter: new Meter(plan.estimate.units),
  notice: (message) => Promise.resolve(onNotice(message)),
  // A gate leaves no rates: its few samples are no sweep's.
  learn: () => {},
  progress: () => {}
})
