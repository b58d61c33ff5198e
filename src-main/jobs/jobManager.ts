/**
 * Runs jobs one after the other (one device, one user), tells whoever watches what happens, and leaves each result in
 * the store as it is made.
 */
import { hostname } from 'node:os'
import type { Detection } from '@shared/contract/devices'
import type { JobSpec, RunStatus } from '@shared/contract/jobs'
import type { JobEvent } from '@shared/contract/methods'
import { currentRunFormatVersion, type Run, type RunSummary, type Step } from '@shared/contract/run'
import { UserError, messageOf } from '@shared/errors'
import type { Engine } from '../engine/engine'
import { makeRunId, summarize, type RunStore } from '../store/runStore'
import type { RunWriter } from '../store/runWriter'
import { commandOf } from './command'
import { openEarlierRun, type EarlierRun } from './earlierRun'
import { planJob, type JobPlan } from './plan'
import { writeProfile } from './runProfile'
import { traceName, traceOfRun } from './runTrace'
import { runSweep } from './runSweep'
import { runValidate } from './runValidate'

type Listener = (event: JobEvent) => void

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
  /** Share of the whole job done, 0..1, and what is being done. */
  progress(fraction: number, activity: string): void
}

class Job {
  readonly abort = new AbortController()
  readonly listeners = new Set<Listener>()
  readonly ended: Promise<void>
  private markEnded!: () => void
  startedAt = 0
  stepsDone = 0

  constructor(
    readonly plan: JobPlan,
    readonly writer: RunWriter,
    readonly earlier: EarlierRun | undefined
  ) {
    this.ended = new Promise((resolve) => (this.markEnded = resolve))
  }

  emit(event: JobEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  end(): void {
    this.markEnded()
  }
}

export interface JobManagerOptions {
  engine: Engine
  store: RunStore
  appVersion: string
  detect: () => Promise<Detection>
}

export class JobManager {
  private readonly jobs = new Map<string, Job>()
  private chain: Promise<void> = Promise.resolve()

  constructor(private readonly options: JobManagerOptions) {}

  async plan(spec: JobSpec): Promise<JobPlan> {
    return planJob(spec, await this.options.detect())
  }

  /** Queues a job. `folder`: where its run goes instead of the store. Throws a UserError for what cannot be run. */
  async start(spec: JobSpec, folder?: string): Promise<string> {
    const detection = await this.options.detect()
    const plan = await planJob(spec, detection)
    const earlier = spec.resumes
      ? await openEarlierRun(this.options.store, spec.resumes, plan)
      : undefined
    const now = new Date()
    const run: Run = {
      formatVersion: currentRunFormatVersion,
      id: makeRunId(spec.kind, spec.formats, now),
      kind: spec.kind,
      label: '',
      notes: '',
      createdAt: now.toISOString(),
      status: 'queued',
      reason: '',
      appVersion: this.options.appVersion,
      host: {
        name: hostname(),
        system: `${process.platform} ${process.arch}`,
        node: process.version
      },
      command: commandOf(spec),
      spec,
      device: plan.device,
      libraries: detection.libraries,
      events: [...plan.notes, ...(earlier ? [earlier.note] : [])].map((message) => ({
        at: now.toISOString(),
        message
      })),
      steps: []
    }
    const writer = await this.options.store.create(run, folder)
    const job = new Job(plan, writer, earlier)
    this.jobs.set(run.id, job)
    this.chain = this.chain.then(() => this.work(job))
    return run.id
  }

  cancel(id: string): void {
    this.find(id).abort.abort()
  }

  /** Jobs that are queued or running. */
  list(): RunSummary[] {
    return [...this.jobs.values()].map((job) => summarize(job.writer.run))
  }

  /** The run of a job that is queued or running. */
  current(id: string): Run | undefined {
    return this.jobs.get(id)?.writer.run
  }

  /** Follows a job to its end; every listener first gets a snapshot. A run that is over gives snapshot and end. */
  async watch(id: string, signal: AbortSignal, listener: Listener): Promise<RunSummary> {
    const job = this.jobs.get(id)
    if (!job) {
      const run = await this.options.store.read(id)
      listener({ type: 'snapshot', run, stepsPlanned: run.steps.length })
      listener({ type: 'end', status: run.status, reason: run.reason })
      return summarize(run)
    }
    listener({
      type: 'snapshot',
      run: structuredClone(job.writer.run),
      stepsPlanned: job.plan.steps.length
    })
    job.listeners.add(listener)
    try {
      const left = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true })
      )
      await Promise.race([job.ended, left])
    } finally {
      job.listeners.delete(listener)
    }
    return summarize(job.writer.run)
  }

  /** Cancels everything and waits for it to be on disk. */
  async close(): Promise<void> {
    for (const job of this.jobs.values()) job.abort.abort()
    await this.chain
  }

  private find(id: string): Job {
    const job = this.jobs.get(id)
    if (!job) throw new UserError('usage', `No job "${id}" is running.`)
    return job
  }

  private async work(job: Job): Promise<void> {
    const { run } = job.writer
    let end: { status: RunStatus; reason: string }
    try {
      run.status = 'running'
      await job.writer.save()
      job.startedAt = Date.now()
      job.emit({
        type: 'plan',
        stepsPlanned: job.plan.steps.length,
        secondsExpected: job.plan.secondsExpected
      })
      const context = this.contextOf(job)
      await (run.kind === 'validate' ? runValidate(context) : runSweep(context))
      end = job.abort.signal.aborted
        ? { status: 'cancelled', reason: `Cancelled; ${run.steps.length} steps are saved.` }
        : { status: 'done', reason: '' }
    } catch (error) {
      end = { status: 'failed', reason: messageOf(error) }
    }
    Object.assign(run, end, { finishedAt: new Date().toISOString() })
    try {
      await writeProfile(job.writer)
      await job.writer.file(traceName, traceOfRun(job.writer.run))
      await this.options.store.finish(job.writer)
    } catch (error) {
      end = { status: 'failed', reason: messageOf(error) }
      Object.assign(run, end)
    }
    job.emit({ type: 'end', ...end })
    job.end()
    this.jobs.delete(run.id)
  }

  private contextOf(job: Job): JobContext {
    const { writer, plan, earlier } = job
    return {
      engine: this.options.engine,
      plan,
      writer,
      earlier,
      signal: job.abort.signal,
      record: async (step) => {
        await writer.step(step)
        job.stepsDone = writer.run.steps.length
        job.emit({ type: 'step', step: structuredClone(step) })
      },
      notice: async (message) => {
        await writer.event(message)
        job.emit({ type: 'notice', message })
      },
      progress: (fraction, activity) => {
        const elapsed = (Date.now() - job.startedAt) / 1000
        // Early on the plan's own estimate is the better guide.
        const byPace = fraction > 0 ? elapsed / fraction - elapsed : plan.secondsExpected
        const byPlan = Math.max(0, plan.secondsExpected - elapsed)
        const trust = Math.min(1, fraction * 5)
        job.emit({
          type: 'progress',
          stepsDone: job.stepsDone,
          stepsPlanned: plan.steps.length,
          fraction,
          activity,
          secondsLeft: trust * byPace + (1 - trust) * byPlan
        })
      }
    }
  }
}
