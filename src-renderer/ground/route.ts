/** Where the person is: the hash, '#/validate?run=20261120-1'. No router: a few views need none. */
import { computed, shallowReactive, shallowRef, type WritableComputedRef } from 'vue'
import { viewIds, type ViewId } from '@shared/contract/views'

export { viewIds, type ViewId }

const isViewId = (id: string): id is ViewId => (viewIds as readonly string[]).includes(id)

export interface Route {
  /** '' where the address names no view. */
  view: ViewId | ''
  params: Readonly<Record<string, string>>
}

export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const params = Object.fromEntries(new URLSearchParams(query))
  // '#t=...', a connection token that the client has yet to take out of the address, names no view either.
  return isViewId(path) ? { view: path, params } : { view: '', params: {} }
}

export function formatHash({ view, params }: Route): string {
  const query = new URLSearchParams(params).toString()
  return `#/${view}${query === '' ? '' : `?${query}`}`
}

const current = shallowRef<Route>({ view: '', params: {} })

/** The address as it was last read or written; undefined until it is followed. */
let known: string | undefined

export const route = computed(() => current.value)

/** What each view showed last: who comes back finds it again. */
const lastParams = shallowReactive(new Map<ViewId, Route['params']>())

const storageKey = 'blockscope.addresses'

function arrive(at: Route): void {
  current.value = at
  if (at.view === '') return
  lastParams.set(at.view, at.params)
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(lastParams)))
  } catch {
    // Storage may be full or forbidden; the other views are then as new after a reload.
  }
}

/** What the views showed before the page was loaded anew in this tab. */
function recall(): void {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as Record<string, unknown>
    for (const view of viewIds) {
      const params = kept[view]
      if (typeof params !== 'object' || params === null) continue
      const texts = Object.entries(params).filter(([, value]) => typeof value === 'string')
      lastParams.set(view, Object.fromEntries(texts) as Route['params'])
    }
  } catch {
    // Unreadable: each view begins anew.
  }
}

/** The address of a view as it was left. */
export const lastAddress = (view: ViewId): Route => ({ view, params: lastParams.get(view) ?? {} })

/** Reads the address now and whenever it changes. */
export function followAddress(): () => void {
  recall()
  read()
  addEventListener('hashchange', read)
  return () => removeEventListener('hashchange', read)
}

function read(): void {
  known = location.hash
  arrive(parseHash(known))
}

export function go(
  view: ViewId,
  params: Record<string, string> = {},
  { replace = false }: { replace?: boolean } = {}
): void {
  const next: Route = { view, params }
  const hash = formatHash(next)
  if (replace) {
    // A link that was followed tells so by an event, which comes after what waits already: what the old address was to become is late.
    if (known !== undefined && location.hash !== known) return read()
    history.replaceState(history.state, '', hash)
  } else if (hash !== location.hash) history.pushState(history.state, '', hash)
  if (known !== undefined) known = location.hash
  arrive(next)
}

/** Goes to a view as it was left. */
export const goBackTo = (view: ViewId): void => go(view, lastAddress(view).params)

/** One parameter of the address as a ref; writing '' removes it. Writes do not add to the history. */
export function useParam(name: string): WritableComputedRef<string> {
  return computed({
    get: () => current.value.params[name] ?? '',
    set: (value) => {
      const params: Record<string, string> = { ...current.value.params, [name]: value }
      if (value === '') delete params[name]
      if (current.value.view === '') return
      go(current.value.view, params, { replace: true })
    }
  })
}
