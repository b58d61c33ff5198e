/** Opening a bundled example where a person asks for one: which there are, whether one is on its way, and what went wrong. */
import { computed, ref, shallowRef } from 'vue'
import { examplesIn, type Example } from '@shared/contract/examples'
import type { ViewId } from '@shared/contract/views'
import { failureOf, type Failure } from '../ground/failure'
import { useExamples } from '../stores/examples'

export function useOpenExample(view: () => ViewId) {
  const store = useExamples()
  const failure = shallowRef<Failure>()
  const busy = ref(false)
  const shown = computed(() => examplesIn(view()))

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
