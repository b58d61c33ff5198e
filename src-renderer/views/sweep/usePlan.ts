/** Steps and expected time of a job before it is started, asked for again when its spec changes. */
import { onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import type { JobSpecInput } from '@shared/contract/jobs'
import type { Output } from '@shared/contract/methods'
import { failureOf, isCode, type Failure } from '../../ground/failure'
import { useConnection } from '../../stores/connection'

const settleMs = 250

export function usePlan(spec: Ref<JobSpecInput | undefined>) {
  const connection = useConnection()
  const plan = shallowRef<Output<'jobs.plan'>>()
  const failure = shallowRef<Failure>()
  const asking = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort: AbortController | undefined

  watch(
    () => JSON.stringify(spec.value),
    () => {
      clearTimeout(timer)
      abort?.abort()
      plan.value = undefined
      failure.value = undefined
      asking.value = spec.value !== undefined
      if (spec.value) timer = setTimeout(() => void ask(spec.value!), settleMs)
    },
    { immediate: true }
  )

  async function ask(wanted: JobSpecInput): Promise<void> {
    const mine = (abort = new AbortController())
    try {
      const answer = await connection.call('jobs.plan', wanted, { signal: mine.signal })
      if (!mine.signal.aborted) plan.value = answer
    } catch (error) {
      if (mine.signal.aborted) return
      if (isCode(error, 'disconnected')) return void ask(wanted)
      failure.value = failureOf('jobs.plan', error)
    } finally {
      if (!mine.signal.aborted) asking.value = false
    }
  }

  onScopeDispose(() => {
    clearTimeout(timer)
    abort?.abort()
  })
  return { plan, failure, asking }
}
