/** Where the person is: the hash, '#/validate?run=20261120-1'. No router: seven views need none. */
import { computed, shallowRef, type WritableComputedRef } from 'vue'

export interface Route {
  view: string
  params: Readonly<Record<string, string>>
}

export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const params = Object.fromEntries(new URLSearchParams(query))
  // '#t=...' is a connection token that the client has yet to take out of the address.
  return { view: path.includes('=') ? '' : path, params }
}

export function formatHash({ view, params }: Route): string {
  const query = new URLSearchParams(params).toString()
  return `#/${view}${query === '' ? '' : `?${query}`}`
}

const current = shallowRef<Route>({ view: '', params: {} })

export const route = computed(() => current.value)

/** Reads the address now and whenever it changes. */
export function followAddress(): () => void {
  const read = () => {
    current.value = parseHash(location.hash)
  }
  read()
  addEventListener('hashchange', read)
  return () => removeEventListener('hashchange', read)
}

export function go(
  view: string,
  params: Record<string, string> = {},
  { replace = false }: { replace?: boolean } = {}
): void {
  const next: Route = { view, params }
  const hash = formatHash(next)
  if (replace) history.replaceState(history.state, '', hash)
  else if (hash !== location.hash) history.pushState(history.state, '', hash)
  current.value = next
}

/** One parameter of the address as a ref; writing '' removes it. Writes do not add to the history. */
export function useParam(name: string): WritableComputedRef<string> {
  return computed({
    get: () => current.value.params[name] ?? '',
    set: (value) => {
      const params: Record<string, string> = { ...current.value.params, [name]: value }
      if (value === '') delete params[name]
      go(current.value.view, params, { replace: true })
    }
  })
}
