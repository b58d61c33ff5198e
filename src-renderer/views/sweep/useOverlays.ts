/** Earlier runs behind the shown one; which ones is part of the address. */
import { computed, shallowRef, watch, type Ref } from 'vue'
import type { Run } from '@shared/contract/run'
import { failureOf } from '../../ground/failure'
import { useLatest } from '../../ground/latest'
import { useParam } from '../../ground/route'
import { dateTime } from '@shared/units'
import { useMessages } from '../../stores/messages'
import { titleOf, useRuns } from '../../stores/runs'

const mostChoices = 20

export function useOverlays(runId: Ref<string>) {
  const runs = useRuns()
  const over = useParam('over')
  const overlays = shallowRef<readonly Run[]>([])
  const ids = computed(() => over.value.split(',').filter(Boolean))
  const set = (wanted: readonly string[]) => (over.value = wanted.join(','))

  const { askAnother } = useLatest(
    () => Promise.all(ids.value.map((id) => runs.get(id))),
    (found) => {
      overlays.value = found
    }
  )
  watch(ids, () => void load(), { immediate: true })

  async function load(): Promise<void> {
    try {
      await askAnother()
    } catch (error) {
      useMessages().say('The overlay could not be opened.', {
        failure: failureOf('runs.get', error)
      })
      over.value = ''
    }
  }

  /** The latest sweeps that are not shown yet. */
  const choices = computed(() =>
    runs.list
      .filter(({ kind, id, problem }) => kind === 'sweep' && id !== runId.value && !problem)
      .filter(({ id }) => !ids.value.includes(id))
      .slice(0, mostChoices)
      .map((item) => ({
        title: titleOf(item),
        hint: dateTime(item.createdAt),
        run: () => set([...ids.value, item.id])
      }))
  )
  const remove = (id: string) => set(ids.value.filter((other) => other !== id))

  return { overlays, choices, remove }
}
