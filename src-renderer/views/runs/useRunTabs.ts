/** Which of list, history and comparison is shown: as the address says. */
import { computed, watch, type Ref } from 'vue'

const tabs = [
  { value: 'runs', title: 'Runs' },
  { value: 'history', title: 'History' },
  { value: 'compare', title: 'Compare' }
] as const
type Tab = (typeof tabs)[number]['value']

/**
 * @param history the point whose history is shown, '' for none
 * @param compare ids of what is compared, '' for none
 * @param compareChosen compares what is chosen in the list; false where that is too little
 */
export function useRunTabs(
  history: Ref<string>,
  compare: Ref<string>,
  compareChosen: () => boolean
) {
  /** What the tabs showed last: who comes back finds it again. */
  const last = { history: 'first', compare: 'none' }
  watch(
    [history, compare],
    ([point, ids]) => {
      last.history = point || last.history
      last.compare = ids || last.compare
    },
    { immediate: true }
  )
  const tab = computed({
    get: (): Tab => (compare.value ? 'compare' : history.value ? 'history' : 'runs'),
    set: (to) => {
      history.value = to === 'history' ? last.history : ''
      if (to === 'compare' && compareChosen()) return
      compare.value = to === 'compare' ? last.compare : ''
    }
  })
  return { tabs, tab }
}
