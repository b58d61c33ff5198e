import { computed } from 'vue'
import { dotGroupings, dotSorts, type DotGrouping, type DotSort } from '@shared/charts/dotPlot'
import { useParam } from '../../ground/route'

/** How the rows of a dot plot are grouped and sorted; the address keeps it. */
export function useDotArrangement() {
  const byParam = useParam('by')
  const sortParam = useParam('sort')
  const by = computed({
    get: () => dotGroupings.find((one) => one === byParam.value) ?? 'format',
    set: (value: DotGrouping) => (byParam.value = value === 'format' ? '' : value)
  })
  const sort = computed({
    get: () => dotSorts.find((one) => one === sortParam.value) ?? 'best',
    set: (value: DotSort) => (sortParam.value = value === 'best' ? '' : value)
  })
  return { by, sort, arrangement: computed(() => ({ by: by.value, sort: sort.value })) }
}
