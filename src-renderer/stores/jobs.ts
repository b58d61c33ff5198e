/**
 * Jobs that run now, whoever started them: this page, another page or an earlier load of this one. Each is followed
 * with jobs.watch, again after a lost connection, and its run is kept up to date step by step.
 */
import { defineStore } from 'pinia'
import { computed, reactive, shallowReactive } from 'vue'
import type { JobSpecInput, RunStatus, ValidateSpecInput } from '@shared/contract/jobs'
import type { JobEvent } from '@shared/contract/methods'
import type { Run, Step } from '@shared/contract/run'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { useConnection } from './connection'

export interface LiveJob {
  readonly id: string
  status: RunStatus
  reason: string
  stepsDone: number
  stepsPlanned: number
  /** 0..1 */
  fraction: number
  activity: string
  secondsLeft: number
  notices: string[]
  /** Replaced, never changed in place, whenever events arrived. */
  run: Run | undefined
  failure: Failure | undefined
}

const refreshEveryMs = 3000

export const isOver = (status: RunStatus): boolean => status !== 'queued' && status !== 'running'

export const useJobs = defineStore('jobs', () => {
  const connection = useConnection()
  const jobs = shallowReactive(new Map<string, LiveJob>())
  const watched = new Set<string>()
  const endListeners = new Set<(run: Run) => void>()

  const running = computed(() => [...jobs.values()].filter((job) => !isOver(job.status)))
  /** The job at work, else the first in the queue. */
  const current = computed(
    () => running.value.find((job) => job.status === 'running') ?? running.value[0]
  )

  async function start(spec: JobSpecInput): Promise<string> {
    const { id } = await connection.call('jobs.start', spec)
    follow(id)
    return id
  }

  /** A validation of operands that come as files, or the judging of a C among them. */
  async function startWithFiles(
    spec: ValidateSpecInput,
    files: readonly { name: string; bytes: Uint8Array<ArrayBuffer> }[]
  ): Promise<string> {
    const { id } = await connection.call('jobs.startWithFiles', { spec, files: [...files] })
    follow(id)
    return id
  }

  async function cancel(id: string): Promise<void> {
    await connection.call('jobs.cancel', { id })
  }

  /** Starts to follow a job; does nothing if it is followed already. */
  function follow(id: string): LiveJob {
    const known = jobs.get(id)
    if (known && (watched.has(id) || isOver(known.status))) return known
    const job: LiveJob = known ?? newJob(id)
    jobs.set(id, job)
    watched.add(id)
    void watchToEnd(job).finally(() => watched.delete(id))
    return job
  }

  async function watchToEnd(job: LiveJob): Promise<void> {
    const apply = batched((events: JobEvent[]) => applyEvents(job, events))
    for (;;) {
      try {
        await connection.call('jobs.watch', { id: job.id }, { onProgress: apply.add })
        apply.flush()
        if (!isOver(job.status)) job.status = 'interrupted'
        break
      } catch (error) {
        apply.flush()
        if (isCode(error, 'disconnected')) continue
        job.failure = failureOf('jobs.watch', error)
        job.status = 'failed'
        job.reason = job.failure.message
        break
      }
    }
    if (job.run) for (const listener of endListeners) listener(job.run)
  }

  /** Finds jobs that others started. */
  async function refresh(): Promise<void> {
    if (connection.state !== 'connected') return
    try {
      for (const summary of await connection.call('jobs.list', {})) {
        if (!isOver(summary.status)) follow(summary.id)
      }
    } catch (error) {
      if (!isCode(error, 'disconnected')) throw error
    }
  }

  function keepFresh(): () => void {
    const stop = connection.onConnected(() => void refresh())
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh()
    }, refreshEveryMs)
    return () => {
      stop()
      clearInterval(timer)
    }
  }

  function onEnd(listener: (run: Run) => void): () => void {
    endListeners.add(listener)
    return () => endListeners.delete(listener)
  }

  return {
    jobs,
    running,
    current,
    start,
    startWithFiles,
    cancel,
    follow,
    refresh,
    keepFresh,
    onEnd
  }
})

function newJob(id: string): LiveJob {
  const job = reactive<LiveJob>({
    id,
    status: 'queued',
    reason: '',
    stepsDone: 0,
    stepsPlanned: 0,
    fraction: 0,
    activity: '',
    secondsLeft: NaN,
    notices: [],
    run: undefined,
    failure: undefined
  })
  return job
}

/** Applies events in order; the run is replaced once for all of them. Exported for tests. */
export function applyEvents(job: LiveJob, events: readonly JobEvent[]): void {
  let steps: Step[] | undefined
  const places = new Map<number, number>()
  const own = (run: Run) => {
    if (!steps) {
      steps = [...run.steps]
      steps.forEach((step, place) => places.set(step.index, place))
    }
    return steps
  }
  for (const event of events) {
    switch (event.type) {
      case 'snapshot':
        steps = undefined
        places.clear()
        job.run = frozen(event.run)
        job.status = event.run.status
        job.reason = event.run.reason
        job.stepsPlanned = event.stepsPlanned
        job.stepsDone = event.run.steps.length
        break
      case 'plan':
        job.status = 'running'
        job.stepsPlanned = event.stepsPlanned
        job.secondsLeft = event.secondsRange[1]
        break
      case 'step': {
        if (!job.run) break
        const list = own(job.run)
        const place = places.get(event.step.index) ?? list.length
        list[place] = event.step
        places.set(event.step.index, place)
        job.stepsDone = list.length
        break
      }
      case 'progress':
        job.status = 'running'
        Object.assign(job, {
          stepsDone: event.stepsDone,
          stepsPlanned: event.stepsPlanned,
          fraction: event.fraction,
          activity: event.activity,
          secondsLeft: event.secondsLeft
        })
        break
      case 'notice':
        job.notices.push(event.message)
        break
      case 'end':
        job.status = event.status
        job.reason = event.reason
        if (event.status === 'done') job.fraction = 1
        break
    }
  }
  if (job.run && (steps || job.run.status !== job.status)) {
    job.run = frozen({
      ...job.run,
      steps: steps ?? job.run.steps,
      status: job.status,
      reason: job.reason
    })
  }
}

/** Steps by the thousand need no deep reactivity: a new run object is the signal. */
function frozen(run: Run): Run {
  return Object.freeze(run)
}

/** Collects values and hands them over together, once per frame. */
function batched<T>(apply: (values: T[]) => void): { add: (value: T) => void; flush: () => void } {
  let pending: T[] = []
  let scheduled = false
  const flush = () => {
    if (pending.length === 0) return
    const values = pending
    pending = []
    apply(values)
  }
  return {
    flush,
    add(value) {
      pending.push(value)
      if (scheduled) return
      scheduled = true
      // A hidden page gets no frames, and should still know how far the job is.
      setTimeout(() => {
        scheduled = false
        flush()
      }, 50)
    }
  }
}
