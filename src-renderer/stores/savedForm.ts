import { reactive } from 'vue'
import { useSettings } from './settings'

/** A form whose fields outlive the view; fields of another type than the default's fall back to it. */
export function useSavedForm<T extends Record<string, unknown>>(name: string, defaults: T): T {
  const settings = useSettings()
  const saved = settings.forms[name]
  const known =
    typeof saved === 'object' && saved !== null ? (saved as Record<string, unknown>) : {}
  const start = Object.fromEntries(
    Object.entries(defaults).map(([field, value]) => [
      field,
      typeof known[field] === typeof value && Array.isArray(known[field]) === Array.isArray(value)
        ? known[field]
        : value
    ])
  )
  const form = reactive(start) as T
  settings.forms[name] = form
  return form
}

/** Whether any field says something else than it began with; lists by what is in them, whatever wraps them. */
export const differs = <T extends Record<string, unknown>>(form: T, defaults: T): boolean =>
  Object.entries(defaults).some(
    ([field, value]) => JSON.stringify(form[field]) !== JSON.stringify(value)
  )
