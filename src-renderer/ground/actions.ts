/**
 * What a person can do, once: the palette, the shortcut sheet and the key handler all read this table. A view adds its
 * own actions while it is shown (useActions), the frame adds the global ones.
 */
import { computed, onScopeDispose, shallowReactive } from 'vue'
import { matches, type Hotkey } from './hotkeys'

export interface Action {
  /** Stable: 'validate.all', 'go.sweep'. */
  id: string
  title: string
  /** Heading in the palette and the shortcut sheet. */
  group: string
  keys?: Hotkey
  /** More words the palette finds it by. */
  words?: string
  enabled?: () => boolean
  run: () => void
}

const table = shallowReactive(new Map<string, Action>())

export const actions = computed(() => [...table.values()])

let awaited = ''

export function addActions(added: Action[]): () => void {
  for (const action of added) table.set(action.id, action)
  const wanted = added.find(({ id }) => id === awaited)
  if (wanted) {
    awaited = ''
    // The view that brings it is still being set up.
    setTimeout(() => runAction(wanted.id))
  }
  return () => {
    for (const action of added) {
      if (table.get(action.id) === action) table.delete(action.id)
    }
  }
}

/** Registers actions for as long as the calling component or scope lives. */
export function useActions(added: Action[]): void {
  onScopeDispose(addActions(added))
}

export function runAction(id: string): boolean {
  const action = table.get(id)
  if (!action || action.enabled?.() === false) return false
  action.run()
  return true
}

/** Runs an action of a view that is still to come, once it is there. */
export function runOnceThere(id: string): void {
  if (!runAction(id)) awaited = id
}

/** Runs the action whose hotkey was pressed; to be called for every keydown that nobody else handled. */
export function handleKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented) return false
  for (const action of table.values()) {
    if (!action.keys || !matches(action.keys, event) || action.enabled?.() === false) continue
    event.preventDefault()
    action.run()
    return true
  }
  return false
}

/** Actions whose title, group or words hold every word of the query, in table order. */
export function findActions<A extends Action>(query: string, among: readonly A[]): A[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  return among.filter((action) => {
    if (action.enabled?.() === false) return false
    const hay = `${action.group} ${action.title} ${action.words ?? ''}`.toLowerCase()
    return wanted.every((word) => hay.includes(word))
  })
}
