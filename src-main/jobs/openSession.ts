import { operationOf } from '@shared/contract/operation'
import type { CallOptions } from '../engine/engine'
import type { NativeOpenRequest, NativeProblem } from '../engine/nativeBinding'
import type { StepContext } from './jobContext'
import type { JobPlan, PlannedStep } from './plan'

export function problemRequest({ spec }: JobPlan, step: PlannedStep): NativeProblem {
  return {
    format: step.format,
    m: step.m,
    n: step.n,
    k: step.k,
    output: spec.output,
    ...operationOf({ ...spec, groups: step.groups })
  }
}

export function openRequest(plan: JobPlan, step: PlannedStep): NativeOpenRequest {
  const { spec, operandsFile } = plan
  return {
    device: plan.device.id,
    ...problemRequest(plan, step),
    operands: operandsFile?.operands ?? { distribution: spec.distribution, seed: spec.seed }
  }
}

/** The one session a job has open: a problem's operands on the device. Asking for another problem closes it. */
export class OpenSession {
  /** How many problems have been opened. */
  opened = 0
  private id: number | undefined
  private key = ''
  private endedBefore: number

  constructor(private readonly context: Pick<StepContext, 'engine' | 'signal' | 'notice'>) {
    this.endedBefore = context.engine.endedCount
  }

  /** The session of this problem, opened if it is not the one at hand. */
  async open(request: NativeOpenRequest, onProgress: CallOptions['onProgress']): Promise<number> {
    // Operands are the job's own, and alike for all of its steps.
    const { operands: _, ...problem } = request
    const key = JSON.stringify(problem)
    await this.noticeQuietDeath()
    if (this.id !== undefined && this.key === key) return this.id
    await this.close()
    this.id = await this.context.engine.call('open', request, {
      signal: this.context.signal,
      onProgress
    })
    this.key = key
    this.opened++
    return this.id
  }

  /** The engine died and the session with it. */
  forget(): void {
    this.id = undefined
    this.endedBefore = this.context.engine.endedCount
  }

  /** An engine that died between two calls rejected none of them; its session is gone all the same. */
  private async noticeQuietDeath(): Promise<void> {
    const { engine } = this.context
    if (engine.endedCount === this.endedBefore) return
    this.forget()
    await this.context.notice(`${engine.lastEnd} Nothing is lost; a new engine is started.`)
  }

  async close(): Promise<void> {
    const id = this.id
    this.id = undefined
    // A session of an engine that has just died cannot be closed, and need not be.
    if (id !== undefined) await this.context.engine.call('close', { session: id }).catch(() => {})
  }
}
