/** What a person chose, kept in this browser or window. Anything unreadable falls back to its default. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, watch } from 'vue'

export type ThemeChoice = 'system' | 'light' | 'dark'
export type Density = 'compact' | 'comfortable'

const storageKey = 'blockscope.settings'

interface Saved {
  theme: ThemeChoice
  density: Density
  device: string
  /** State of forms, by view. */
  forms: Record<string, unknown>
  /** The run that others of a device are compared with, by the device's name. */
  baselines: Record<string, string>
}

function read(): Partial<Saved> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Partial<Saved>) : {}
  } catch {
    return {}
  }
}

const oneOf = <T extends string>(value: unknown, allowed: readonly T[], fallback: T): T =>
  allowed.includes(value as T) ? (value as T) : fallback

export const useSettings = defineStore('settings', () => {
  const saved = read()
  const theme = ref(oneOf(saved.theme, ['system', 'light', 'dark'] as const, 'system'))
  const density = ref(oneOf(saved.density, ['compact', 'comfortable'] as const, 'compact'))
  /** Device id, or 'auto'. */
  const device = ref(typeof saved.device === 'string' ? saved.device : 'auto')
  const forms = reactive<Record<string, unknown>>(
    typeof saved.forms === 'object' && saved.forms !== null ? { ...saved.forms } : {}
  )

  const baselines = reactive<Record<string, string>>(
    typeof saved.baselines === 'object' && saved.baselines !== null ? { ...saved.baselines } : {}
  )

  const systemIsDark = ref(false)
  const media = globalThis.matchMedia?.('(prefers-color-scheme: dark)')
  if (media) {
    systemIsDark.value = media.matches
    media.addEventListener('change', (event) => (systemIsDark.value = event.matches))
  }
  const shownTheme = computed<'light' | 'dark'>(() =>
    theme.value === 'system' ? (systemIsDark.value ? 'dark' : 'light') : theme.value
  )

  watch(
    [theme, density, device, forms, baselines],
    () => {
      const value: Saved = {
        theme: theme.value,
        density: density.value,
        device: device.value,
        forms,
        baselines
      }
      try {
        localStorage.setItem(storageKey, JSON.stringify(value))
      } catch {
        // Storage may be full or forbidden; the choices then last as long as the page.
      }
    },
    { deep: true }
  )

  watch(
    [shownTheme, density],
    () => {
      document.documentElement.dataset.theme = shownTheme.value
      document.documentElement.dataset.density = density.value
    },
    { immediate: true, flush: 'sync' }
  )

  function toggleTheme(): void {
    theme.value = shownTheme.value === 'dark' ? 'light' : 'dark'
  }

  return { theme, density, device, forms, baselines, shownTheme, toggleTheme }
})
