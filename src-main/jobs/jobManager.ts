/**
 * Runs jobs one after the other (one device, one user), tells whoever watches what happens, and leaves each result in
 * the store as it is made.
 */
import { hostname } from 'node:os'
import { commandOf } from '@shared/contract/command'
import type { Detection } from '@shared/contract/devices'
import type { JobSpec, RunStatus } from '@shared/contract/jobs'
import type { Roof } from '@shared/contract/roofs'
import type { JobEvent } from '@shared/contract/methods'
import { currentRunFormatVersion, type Run, type RunSummary, type Step } from '@shared/contract/run'
import { messageOf } from '@shared/errors'
import { outcomeOf } from '@shared/measurement/outcome'
import type { Engine } from '../engine/engine'
import { derivedFiles } from '../store/derivedFiles'
import { makeRunId, type RunStore } from '../store/runStore'
import { summarize } from '../store/runSummaries'
import type { MachineMemory, Rate } from '../store/machineMemory'
import type { RunWriter } from '../store/runWriter'
import type { ReadArrayFile } from './arrays/arrayFiles'
import { compileAhead } from './compileAhead'
import { openEarlierRun, type EarlierRun } from './earlierRun'
import type { JobContext } from './jobContext'
import { keyOfRate, learnt, Meter } from './estimate'
import { planJob, type JobPlan } from './plan'
import { addPythonKernels, filesOf, withoutPythonFiles } from './pythonFile'
import type { RecordedPaths } from './recordedPaths'
import { roofsOfDevice } from './roofs'
import { runSweep } from './runSweep'
import { runValidate } from './runValidate'

type Listener = (event: JobEvent) => void

class Job {
  readonly abort = new AbortController()
  readonly listeners = new Set<Listener>()
  readonly ended: Promise<void>
  private markEnded!: () => void
  stepsDone = 0
  rates: Record<string, Rate> = {}
  learnt: Record<string, Rate> = {}

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

/** A step that waits for its time is none yet. */
const isDone = ({ disposition }: Step) => disposition !== 'not-run'

export interface JobManagerOptions {
  engine: Engine
  store: RunStore
  appVersion: string
  /** What is here, as far as a job needs to know it. */
  detect: (spec: JobSpec) => Promise<Detection>
  memory: MachineMemory
  paths: RecordedPaths
}

export class JobManager {
  private readonly jobs = new Map<string, Job>()
  private chain: Promise<void> = Promise.resolve()

  constructor(private readonly options: JobManagerOptions) {}

  async plan(asked: JobSpec): Promise<JobPlan> {
    const spec = this.options.paths.located(asked)
    return planJob(spec, await this.detect(spec), this.options.memory)
  }

  /** What is here, with the kernels of the files that a job names. */
  private async detect(spec: JobSpec): Promise<Detection> {
    const { engine } = this.options
    const { providerFiles = [] } = spec
    let found = await this.options.detect(spec)
    const offered = filesOf(found.devices.flatMap(({ kernels }) => kernels))
    for (const file of new Set(providerFiles))
      if (!offered.includes(file))
        found = { ...found, ...(await addPythonKernels(engine, file, found)) }
    return found
  }

  /** Queues a job. `folder`: where its run goes instead of the store; `read`: files it names that are on no disk. Throws a UserError for what cannot be run. */
  async start(
    asked: JobSpec,
    { folder, read }: { folder?: string; read?: ReadArrayFile } = {}
  ): Promise<string> {
    const { paths } = this.options
    const spec = paths.located(asked)
    const detection = await this.detect(spec)
    const plan = await planJob(spec, detection, this.options.memory, read)
    const earlier = spec.resumes
      ? await openEarlierRun(this.options.store, spec.resumes, plan, paths)
      : undefined
    const recorded = paths.recorded(plan.spec)
    const now = new Date()
    const run: Run = {
      formatVersion: currentRunFormatVersion,
      id: makeRunId(spec.kind, plan.spec.formats, now),
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
      command: commandOf(recorded),
      spec: recorded,
      device: withoutPythonFiles(plan.device),
      libraries: paths.recordedLibraries(detection.libraries, plan.spec.providerFiles),
      events: [...plan.notes, ...(earlier ? [earlier.note] : [])].map((message) => ({
        at: now.toISOString(),
        message
      })),
      stepsPlanned: plan.steps.length,
      ...(plan.operandsFile && { operandsRead: plan.operandsFile.notes }),
      steps: []
    }
    const writer = await this.options.store.create(run, folder)
    const job = new Job(plan, writer, earlier)
    this.jobs.set(run.id, job)
    writer.claim.cancelled.addEventListener('abort', () => job.abort.abort())
    // One that is cancelled before its turn comes ends at once.
    const endQueued = () =>
      void this.finish(job, { status: 'cancelled', reason: 'Cancelled before it began.' })
    job.abort.signal.addEventListener('abort', endQueued)
    this.chain = this.chain.then(() => {
      job.abort.signal.removeEventListener('abort', endQueued)
      return job.abort.signal.aborted ? undefined : this.work(job)
    })
    return run.id
  }

  /** Ends a job of this process, or asks the process that has it. */
  async cancel(id: string): Promise<void> {
    const job = this.jobs.get(id)
    if (job) job.abort.abort()
    else await this.options.store.cancel(id)
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
      listener({ type: 'snapshot', run, stepsPlanned: outcomeOf(run).planned })
      listener({ type: 'end', status: run.status, reason: run.reason })
      return summarize(run)
    }
    listener({
      type: 'snapshot',
      run: structuredClone(job.writer.run),
      stepsPlanned: job.plan.steps.length,
      secondsRange: job.plan.estimate.range
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
    const ends = [...this.jobs.values()].map((job) => job.ended)
    for (const job of this.jobs.values()) job.abort.abort()
    await Promise.all([this.chain, ...ends])
  }

  private async work(job: Job): Promise<void> {
    const { run } = job.writer
    let end: { status: RunStatus; reason: string }
    try {
      run.status = 'running'
      await job.writer.save()
      const { memory } = this.options
      job.rates = (await memory.of(job.plan.device)).rates
      job.emit({
        type: 'plan',
        stepsPlanned: job.plan.steps.length,
        secondsRange: job.plan.estimate.range
      })
      const context = this.contextOf(job)
      await compileAhead(context)
      if (run.kind === 'sweep') run.roofs = await this.roofsOf(job)
      await (run.kind === 'validate' ? runValidate(context) : runSweep(context))
      await memory.keepRates(job.plan.device, job.learnt)
      end = job.abort.signal.aborted
        ? { status: 'cancelled', reason: 'Cancelled; what was done is saved.' }
        : { status: 'done', reason: '' }
    } catch (error) {
      end = { status: 'failed', reason: messageOf(error) }
    }
    await this.finish(job, end)
  }

  /** Writes what is there and lets go of the job; whoever watches it is told. */
  private async finish(job: Job, end: { status: RunStatus; reason: string }): Promise<void> {
    const { run } = job.writer
    Object.assign(run, end, { finishedAt: new Date().toISOString() })
    try {
      for (const [name, text] of Object.entries(derivedFiles(run)))
        await job.writer.file(name, text)
      await this.options.store.finish(job.writer)
    } catch (error) {
      end = { status: 'failed', reason: messageOf(error) }
      Object.assign(run, end)
    }
    job.emit({ type: 'end', ...end })
    job.end()
    this.jobs.delete(run.id)
  }

  private roofsOf({ plan, abort }: Job): Promise<Roof[]> {
    const { engine, memory } = this.options
    return roofsOfDevice(engine, memory, plan, abort.signal)
  }

  private contextOf(job: Job): JobContext {
    const { writer, plan, earlier } = job
    const meter = new Meter(plan.estimate.units)
    return {
      engine: this.options.engine,
      plan,
      writer,
      earlier,
      signal: job.abort.signal,
      record: async (step) => {
        await writer.step(step)
        job.stepsDone = writer.run.steps.filter(isDone).length
        job.emit({ type: 'step', step: structuredClone(step) })
      },
      notice: async (message) => {
        await writer.event(message)
        job.emit({ type: 'notice', message })
      },
      meter,
      learn: (name, of, amount, seconds) => {
        if (!(amount > 0) || !(seconds > 0)) return
        for (const key of new Set([keyOfRate(name, of), keyOfRate(name)]))
          job.learnt[key] = learnt(job.learnt[key] ?? job.rates[key], seconds / amount)
      },
      progress: (inside, activity) => {
        meter.inside(inside)
        job.emit({
          type: 'progress',
          stepsDone: job.stepsDone,
          stepsPlanned: plan.steps.length,
          ...meter.state(),
          activity
        })
      }
    }
  }
}
