import type { Step } from '@shared/contract/run'
import { EngineError } from '../engine/engine'
import type { NativeValidateRequest } from '../engine/nativeBinding'
import type { JobContext } from './jobManager'
import type { PlannedStep } from './plan'
import { openRequest, OpenSession } from './openSession'
import { emptyStep, toValidation } from './stepResults'

const validateLimits = { maxFailures: 16, mapTiles: 64 }

/** Validates every planned kernel, format by format: operands and reference are made once for each problem. */
export async function runValidate(context: JobContext): Promise<void> {
  const { plan } = context
  if (plan.spec.kind !== 'validate') throw new Error('Not a validation.')
  const { atol, rtol } = plan.spec
  const session = new OpenSession(context)
  try {
    for (const planned of plan.steps) {
      const known = context.earlier?.validated(planned)
      if (known) await context.record(known)
      else if (context.signal.aborted) await context.record(cancelled(planned))
      else {
        const request = { kernel: planned.kernel.id, atol, rtol, ...validateLimits }
        await context.record(await validateStep(context, session, planned, request))
      }
    }
  } finally {
    await session.close()
  }
}

function cancelled(planned: PlannedStep): Step {
  return { ...emptyStep(planned), disposition: 'cancelled', reason: 'Cancelled before it began.' }
}

/** One step to its disposition; never throws for what happens inside the engine. */
export async function validateStep(
  context: JobContext,
  session: OpenSession,
  planned: PlannedStep,
  request: NativeValidateRequest
): Promise<Step> {
  const step = emptyStep(planned)
  if (planned.level === 'unavailable') {
    return { ...step, disposition: 'not-supported', reason: planned.reason }
  }
  const name = `${planned.format} ${planned.kernel.id}`
  const share = 1 / context.plan.steps.length
  const onProgress = (fraction: number, phase: string) =>
    context.progress((planned.index + fraction) * share, `${name}: ${phase}`)
  const start = performance.now()
  onProgress(0, 'operands')
  try {
    const id = await session.open(openRequest(context.plan, planned), onProgress)
    const native = await context.engine.call(
      'validate',
      { session: id, request },
      { signal: context.signal, onProgress }
    )
    const passed = native.status === 'passed'
    step.disposition = passed
      ? 'passed'
      : native.status === 'incorrect'
        ? 'incorrect'
        : 'not-verified'
    step.reason = native.reason
    step.validation = toValidation(native, request)
  } catch (error) {
    await describeFailure(context, session, step, error)
  }
  step.seconds = (performance.now() - start) / 1000
  return step
}

/** Turns what the engine threw into the step's disposition and reason. */
export async function describeFailure(
  context: JobContext,
  session: OpenSession,
  step: Step,
  error: unknown
): Promise<void> {
  if (!(error instanceof EngineError)) throw error
  step.disposition =
    error.code === 'cancelled'
      ? 'cancelled'
      : error.code === 'unavailable'
        ? 'not-supported'
        : 'error'
  step.reason = error.message
  // A fault on a GPU may have taken the process's context with it: the next step gets a process of its own.
  if (error.code === 'device') {
    context.engine.close()
    session.forget()
  }
  if (error.code === 'engine-ended') {
    session.forget()
    await context.notice(
      `${error.message} Step ${step.index + 1} (${step.format} ${step.kernel}) is lost; the next one starts a new engine.`
    )
  }
}
