import type { NativeKernelUse } from '../engine/nativeBinding'
import { EngineError } from '../engine/engine'
import { roundsOf } from './estimate'
import type { JobContext, StepContext } from './jobContext'
import { problemRequest } from './openSession'
import type { PlannedStep } from './plan'

/** A gate resumes nothing. */
type Work = StepContext & Partial<Pick<JobContext, 'earlier'>>

/**
 * Compiles what steps need on a GPU, side by side, before the first of them, which would do it one after the other.
 * Whatever goes wrong is left to the step that needs it.
 */
export async function compileAhead(
  context: Work,
  steps: readonly PlannedStep[] = context.plan.steps
): Promise<void> {
  const { plan, engine, signal } = context
  if (plan.device.kind === 'cpu' || plan.resultFile) return
  const uses = steps
    .filter((planned) => isCompiled(planned) && !isDone(context, planned))
    .map((planned): NativeKernelUse => ({
      kernel: planned.kernel.id,
      ...problemRequest(plan, planned)
    }))
  if (uses.length === 0) return
  try {
    await engine.call(
      'compile',
      { device: plan.device.id, uses },
      { signal, onProgress: context.progress }
    )
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.code === 'engine-ended')
      await context.notice(`${error.message} Kernels are compiled one by one instead.`)
  }
}

const isCompiled = ({ level, kernel }: PlannedStep): boolean =>
  level !== 'unavailable' && !kernel.python

/** Whether the run that this one resumes has all of it. */
function isDone({ earlier, plan: { spec } }: Work, planned: PlannedStep): boolean {
  if (!earlier?.validated(planned)) return false
  return spec.kind === 'validate' || earlier.rounds(planned).length >= roundsOf(spec)
}
