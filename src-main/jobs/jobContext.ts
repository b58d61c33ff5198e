import type { Step } from '@shared/contract/run'
import type { Engine } from '../engine/engine'
import type { RunWriter } from '../store/runWriter'
import type { EarlierRun } from './earlierRun'
import type { Meter, RateName } from './estimate'
import type { JobPlan } from './plan'

/** What a running job may do; handed to runValidate and runSweep. */
export interface JobContext {
  readonly engine: Engine
  readonly plan: JobPlan
  readonly writer: RunWriter
  readonly signal: AbortSignal
  /** What this job takes over, when it resumes another. */
  readonly earlier: EarlierRun | undefined
  /** Saves a step and tells the watchers. */
  record(step: Step): Promise<void>
  /** Something a person should know; kept in the run. */
  notice(message: string): Promise<void>
  /** How much of the job is done: its units are begun and ended here. */
  readonly meter: Meter
  /** How long a part of the work took on this machine, for later estimates. */
  learn(name: RateName, of: string, amount: number, seconds: number): void
  /** Share of the unit at work done, 0..1, and what is being done. */
  progress(inside: number, activity: string): void
}

/** What one validation or measurement of a step needs of it: a gate's steps are done without a run of their own. */
export type StepContext = Pick<
  JobContext,
  'engine' | 'plan' | 'signal' | 'notice' | 'meter' | 'learn' | 'progress'
>
