/** Times of one or two kernels at one problem, visit by visit: the observations of a gate. */
import type { GateSide } from '@shared/contract/gate'
import type { Step } from '@shared/contract/run'
import { presets } from '@shared/measurement/presets'
import { EngineError } from '../../engine/engine'
import type { MeasureRequest, NativeMeasurement } from '../../engine/nativeBinding'
import type { StepContext } from '../jobContext'
import { openRequest, type OpenSession } from '../openSession'
import type { PlannedStep } from '../plan'
import { beforeTiming, isMeasurable } from '../runSweep'
import { describeFailure, validateStep } from '../runValidate'
import { shuffled } from '../shuffle'

export interface VisitPlan {
  /** How often each kernel is visited. */
  visits: number
  /** Samples of a visit: their median is its observation. */
  samples: number
  cold: boolean
  seed: number
}

/** What was observed of each kernel, in the order they were given; `reason`: why one of them decides nothing. */
export type Visited = { sides: GateSide[] } | { reason: string }

/** A first visit, whose samples are not counted, is as long as a sweep's warm-up; before each later one there are so many launches. */
const { firstWarmupNs } = presets.standard
const launchesBefore = 2

/**
 * Validates each kernel, then visits them in turn, in an order that is random in each visit and the seed's own: A/A differences
 * are symmetric then, whatever the machine does meanwhile. Ends early when it is cancelled.
 */
export async function visitKernels(
  context: StepContext,
  session: OpenSession,
  kernels: readonly PlannedStep[],
  plan: VisitPlan,
  onVisit: (done: number) => void
): Promise<Visited> {
  const steps: Step[] = []
  for (const planned of kernels) {
    const step = await validateStep(context, session, planned, beforeTiming)
    const why = step.reason || step.disposition
    if (!isMeasurable(step)) return { reason: `${planned.kernel.id} did not pass: ${why}` }
    steps.push(step)
  }
  const found = kernels.map(() => [] as NativeMeasurement[])
  for (let visit = -1; visit < plan.visits && !context.signal.aborted; visit++) {
    const order = shuffled([...kernels.keys()], plan.seed + visit + 1)
    const measured: NativeMeasurement[] = []
    for (const at of order) {
      try {
        const request = requestOf(kernels[at]!, plan, visit < 0)
        measured[at] = await measure(context, session, kernels[at]!, request)
      } catch (error) {
        if (error instanceof EngineError && error.code === 'cancelled') break
        await describeFailure(context, session, steps[at]!, error)
        return { reason: `${kernels[at]!.kernel.id} failed: ${steps[at]!.reason}` }
      }
    }
    // A pair counts whole or not at all.
    if (visit < 0 || measured.filter(Boolean).length < kernels.length) continue
    for (const [at, one] of measured.entries()) found[at]!.push(one)
    onVisit(visit + 1)
  }
  return { sides: kernels.map((planned, at) => sideOf(planned, found[at]!)) }
}

async function measure(
  context: StepContext,
  session: OpenSession,
  planned: PlannedStep,
  request: MeasureRequest
): Promise<NativeMeasurement> {
  const quiet = () => {}
  const id = await session.open(openRequest(context.plan, planned), quiet)
  return context.engine.call('measure', { session: id, request }, { signal: context.signal })
}

function requestOf(planned: PlannedStep, plan: VisitPlan, isFirst: boolean): MeasureRequest {
  return {
    kernel: planned.kernel.id,
    cold: plan.cold,
    warmupLaunches: isFirst ? 0 : launchesBefore,
    warmupNs: isFirst ? firstWarmupNs : 0,
    fixedSamples: plan.samples,
    // The stop rules are off.
    ...{ minSamples: 1, minTimeNs: 0, maxRelativeStdev: 1, maxSamples: plan.samples, timeoutNs: 0 },
    sustainedNs: 0,
    recordLaunches: false
  }
}

function sideOf({ kernel }: PlannedStep, visits: readonly NativeMeasurement[]): GateSide {
  const clocks = visits.flatMap(({ samplesMHz }) => Array.from(samplesMHz))
  return {
    kernel: kernel.id,
    sourceHash: kernel.sourceHash,
    samplesNs: visits.map(({ samplesNs }) => Array.from(samplesNs)),
    meanMHz: clocks.reduce((sum, each) => sum + each, 0) / (clocks.length || 1),
    badges: [...new Set(visits.flatMap(({ badges }) => badges))]
  }
}
