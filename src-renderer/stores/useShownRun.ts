/** The run a view shows: live while its job runs, from the store when it is over; and what can be done with it. */
import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { RunStatus } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { nextTask } from '../ground/nextTask'
import { isOver, useJobs, type LiveJob } from './jobs'
import { useMessages } from './messages'
import { titleOfRun, useRuns } from './runs'

export interface ShownRun {
  readonly id: Readonly<Ref<string>>
  readonly run: ComputedRef<Run | undefined>
  readonly job: ComputedRef<LiveJob | undefined>
  readonly title: ComputedRef<string>
  /** Of the job while it is known here, else as stored. */
  readonly status: ComputedRef<RunStatus | undefined>
  readonly running: ComputedRef<boolean>
  /** What is being done, in words. */
  readonly activity: ComputedRef<string>
  /** What happened on the way, each thing once. */
  readonly notices: ComputedRef<string[]>
  readonly loading: Readonly<Ref<boolean>>
  readonly failure: Readonly<Ref<Failure | undefined>>
  load(): Promise<void>
  /** Ends this run, which need not be the one at work. */
  cancel(): Promise<void>
  rename(label: string): Promise<void>
}

/** With `adopt`, a view whose address names no run shows the one of that kind at work. */
export function useShownRun(id: Ref<string>, { adopt }: { adopt?: Run['kind'] } = {}): ShownRun {
  const jobs = useJobs()
  const runs = useRuns()
  const stored = shallowRef<Run>()
  const failure = shallowRef<Failure>()
  const loading = shallowRef(false)

  const job = computed<LiveJob | undefined>(() => jobs.jobs.get(id.value))
  const run = computed<Run | undefined>(
    () => job.value?.run ?? (stored.value?.id === id.value ? stored.value : undefined)
  )
  const status = computed(() => job.value?.status ?? run.value?.status)
  const running = computed(() => job.value !== undefined && !isOver(job.value.status))
  const title = computed(() => (run.value ? titleOfRun(run.value) : ''))
  const activity = computed(() => {
    if (job.value?.status === 'queued' && jobs.running.length > 1)
      return 'Waiting for the run before'
    return job.value?.activity || 'Waiting for the engine'
  })
  const notices = computed(() => [
    ...new Set([
      ...(run.value?.events ?? []).map(({ message }) => message),
      ...(job.value?.notices ?? [])
    ])
  ])

  watch(id, () => void load(), { immediate: true })
  if (adopt) {
    watch(
      () => (jobs.current?.run?.kind === adopt ? jobs.current.id : ''),
      (atWork) => {
        if (id.value === '' && atWork !== '') id.value = atWork
      },
      { immediate: true }
    )
  }

  async function load(): Promise<void> {
    const wanted = id.value
    failure.value = undefined
    if (wanted === '' || jobs.jobs.has(wanted)) return
    loading.value = true
    try {
      const found = await runs.get(wanted)
      // It was read and checked in this one.
      await nextTask()
      if (id.value !== wanted) return
      if (isOver(found.status)) stored.value = found
      else jobs.follow(wanted)
    } catch (error) {
      if (isCode(error, 'disconnected')) return void load()
      if (id.value === wanted) failure.value = failureOf('runs.get', error)
    } finally {
      if (id.value === wanted) loading.value = false
    }
  }

  async function cancel(): Promise<void> {
    try {
      await jobs.cancel(id.value)
    } catch (error) {
      useMessages().say('The run could not be cancelled.', {
        failure: failureOf('jobs.cancel', error)
      })
    }
  }

  async function rename(label: string): Promise<void> {
    const named = id.value
    try {
      await runs.annotate(named, { label })
      if (stored.value?.id === named) stored.value = { ...stored.value, label }
    } catch (error) {
      useMessages().say('The name was not saved.', { failure: failureOf('runs.annotate', error) })
    }
  }

  return {
    id,
    run,
    job,
    title,
    status,
    running,
    activity,
    notices,
    loading,
    failure,
    load,
    cancel,
    rename
  }
}
