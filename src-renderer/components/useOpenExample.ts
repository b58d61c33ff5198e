/** Opening a bundled example where a person asks for one: which there are, whether one is on its way, and what went wrong. */
import { computed, ref, shallowRef } from 'vue'
import { examples, type Example } from '@shared/contract/examples'
import type { ViewId } from '@shared/contract/views'
import { failureOf, type Failure } from '../ground/failure'
import { useExamples } from '../stores/examples'

/** A run is looked at in Sweep, a trace as a tree too. */
const shownIn: Partial<Record<ViewId, readonly ViewId[]>> = {
  runs: ['runs', 'sweep'],
  profile: ['profile', 'timeline'],
  timeline: ['timeline']
}

export function useOpenExample(view: () => ViewId) {
  const store = useExamples()
  const failure = shallowRef<Failure>()
  const busy = ref(false)
  const shown = computed(() =>
    examples.filter((example) => (shownIn[view()] ?? [view()]).includes(example.view))
  )

  async function open(example: Example): Promise<void> {
    busy.value = true
    failure.value = undefined
    try {
      await store.open(example, view())
    } catch (error) {
      failure.value = failureOf('examples.read', error)
    } finally {
      busy.value = false
    }
  }
  return { shown, open, busy, failure }
}
