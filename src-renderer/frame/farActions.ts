/** What a view offers, found and run from any other one: the palette goes there first. */
import { computed, type ComputedRef } from 'vue'
import { actions, runOnceThere, type Action } from '../ground/actions'
import { goBackTo, route } from '../ground/route'
import { farActions } from './farActionList'

/** Those of the views that are not shown. */
export const actionsElsewhere: ComputedRef<Action[]> = computed(() =>
  farActions
    .filter(
      ({ view, id }) => view !== route.value.view && !actions.value.some((one) => one.id === id)
    )
    .map(({ view, id, title, words }) => ({
      id,
      title,
      group: view.charAt(0).toUpperCase() + view.slice(1),
      words,
      run: () => {
        goBackTo(view)
        runOnceThere(id)
      }
    }))
)
