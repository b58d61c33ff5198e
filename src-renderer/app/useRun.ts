/** The run a view shows: live while its job runs, from the store when it is over. */
import { computed, shallowRef, watch, type Ref } from 'vue'
import type { Run } from '@shared/contract/run'
import { isOver, useJobs, type LiveJob } from '../stores/jobs'
import { useRuns } from '../stores/runs'
import { failureOf, isCode, type Failure } from './failure'

export function useRun(id: Ref<string>) {
  const jobs = useJobs()
  const runs = useRuns()
  const stored = shallowRef<Run>()
  const failure = shallowRef<Failure>()
  const loading = shallowRef(false)

  const job = computed<LiveJob | undefined>(() => jobs.jobs.get(id.value))
  const run = computed<Run | undefined>(
    () => job.value?.run ?? (stored.value?.id === id.value ? stored.value : undefined)
  )
  const running = computed(() => job.value !== undefined && !isOver(job.value.status))

  watch(id, () => void load(), { immediate: true })

  async function load(): Promise<void> {
    const wanted = id.value
    failure.value = undefined
    if (wanted === '' || jobs.jobs.has(wanted)) return
    loading.value = true
    try {
      const found = await runs.get(wanted)
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

  return { run, job, running, loading, failure, load }
}
