import type { JobSpec } from '@shared/contract/jobs'
import type { Step, Validation } from '@shared/contract/run'
import { dispositionOf } from '@shared/measurement/outcome'
import { ownLaunchNs } from '@shared/measurement/validationFigures'
import { EngineError } from '../engine/engine'
import type { NativeValidateRequest } from '../engine/nativeBinding'
import { pythonKernelOf } from '../engine/pythonKernel'
import { kernelOf, unitOf } from './estimate'
import type { JobContext, StepContext } from './jobContext'
import type { PlannedStep } from './plan'
import { openRequest, OpenSession } from './openSession'
import { emptyStep, toValidation } from './stepResults'

const validateLimits = { maxFailures: 16, mapTiles: 64 }

/** Validates every planned kernel, format by format: operands and reference are made once for each problem. */
export async function runValidate(context: JobContext): Promise<void> {
  const { plan } = context
  if (plan.spec.kind !== 'validate') throw new Error('Not a validation.')
  const { atol, rtol, rule } = plan.spec
  const session = new OpenSession(context)
  try {
    for (const planned of plan.steps) {
      const known = context.earlier?.validated(planned)
      if (known) await context.record(known)
      else if (context.signal.aborted) await context.record(cancelled(planned, plan.spec))
      else {
        const limits = { atol, rtol, rule, ...validateLimits }
        await context.record(await validateStep(context, session, planned, limits))
      }
    }
  } finally {
    await session.close()
  }
}

function cancelled(planned: PlannedStep, spec: JobSpec): Step {
  return {
    ...emptyStep(planned, spec),
    disposition: 'cancelled',
    reason: 'Cancelled before it began.'
  }
}

/** One step to its disposition; never throws for what happens inside the engine. */
export async function validateStep(
  context: StepContext,
  session: OpenSession,
  planned: PlannedStep,
  limits: Omit<NativeValidateRequest, 'kernel' | 'statedError'>
): Promise<Step> {
  const step = emptyStep(planned, context.plan.spec)
  if (planned.level === 'unavailable') {
    return { ...step, disposition: 'not-supported', reason: planned.reason }
  }
  const request = {
    ...limits,
    kernel: planned.kernel.id,
    statedError: statedErrorOf(context.plan, planned)
  }
  const name = `${planned.format} ${planned.kernel.id}`
  const onProgress = (fraction: number, phase: string) =>
    context.progress(fraction, `${name}: ${phase}`)
  context.meter.begin(unitOf.validation(planned.index))
  const start = performance.now()
  onProgress(0, 'operands')
  try {
    const opened = session.opened
    const id = await session.open(openRequest(context.plan, planned), onProgress)
    const isNew = session.opened > opened
    const openSeconds = (performance.now() - start) / 1000
    const how = { signal: context.signal, onProgress }
    const given = context.plan.resultFile
    const python = pythonKernelOf(planned.kernel, context.plan.device)
    const { validation: native, judgement } = given
      ? await context.engine.call('judge', { session: id, output: given.bytes, request }, how)
      : { validation: await context.engine.call('validate', { session: id, request, python }, how) }
    step.disposition = dispositionOf(native.status, step.baseline)
    step.reason = native.reason
    step.validation = { ...toValidation(native, request), judgement }
    const spent = (performance.now() - start) / 1000
    learnFrom(context, planned, step.validation, isNew ? openSeconds : undefined, spent)
  } catch (error) {
    await describeFailure(context, session, step, error)
  }
  step.seconds = (performance.now() - start) / 1000
  context.meter.end()
  return step
}

/** The error that the kernel's row states for operands that are generated so; 0: none. */
function statedErrorOf({ spec, operandsFile }: StepContext['plan'], step: PlannedStep): number {
  const { capabilities } = step.kernel
  const error = capabilities.find(({ format }) => format === step.format)?.error
  return (operandsFile ? undefined : error?.[spec.distribution]) ?? 0
}

/** `openSeconds`: of a problem that was opened for this step; its reference was made then too. */
function learnFrom(
  context: StepContext,
  planned: PlannedStep,
  { launchNs = [], oracleSeconds }: Validation,
  openSeconds: number | undefined,
  spent: number
): void {
  const { m, n, k } = planned
  const { distribution } = context.plan.spec
  const launches = launchNs.reduce((sum, ns) => sum + ns, 0) / 1e9
  const own = ownLaunchNs({ launchNs })
  if (own !== undefined) context.learn('launch', kernelOf(planned), 2 * m * n * k, own / 1e9)
  const made = openSeconds === undefined ? 0 : openSeconds + oracleSeconds
  context.learn('check', '', m * n, spent - made - launches)
  if (openSeconds === undefined) return
  context.learn('open', distribution, m * k + n * k, openSeconds)
  context.learn('reference', '', 2 * m * n * k, oracleSeconds)
}

/** Turns what the engine threw into the step's disposition and reason. */
export async function describeFailure(
  context: StepContext,
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
