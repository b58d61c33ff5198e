/** What a person chose, kept in this browser or window. Anything unreadable falls back to its default. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, watch } from 'vue'
import {
  lookOf,
  savedSettings,
  settingsKey,
  showLook,
  shownTheme as themeShown,
  systemLook,
  type Look
} from '../ground/look'

interface Saved extends Look {
  device: string
  /** State of forms, by view. */
  forms: Record<string, unknown>
  /** The run that others of a device are compared with, by the device's name. */
  baselines: Record<string, string>
}

export const useSettings = defineStore('settings', () => {
  const saved: { [Key in keyof Saved]?: unknown } = savedSettings()
  const look = lookOf(saved)
  const theme = ref(look.theme)
  const density = ref(look.density)
  /** Device id, or 'auto'. */
  const device = ref(typeof saved.device === 'string' ? saved.device : 'auto')
  const forms = reactive<Record<string, unknown>>(
    typeof saved.forms === 'object' && saved.forms !== null ? { ...saved.forms } : {}
  )

  const baselines = reactive<Record<string, string>>(
    typeof saved.baselines === 'object' && saved.baselines !== null ? { ...saved.baselines } : {}
  )

  const systemIsDark = ref(false)
  const media = systemLook()
  if (media) {
    systemIsDark.value = media.matches
    media.addEventListener('change', (event) => (systemIsDark.value = event.matches))
  }
  const shownTheme = computed(() => themeShown(theme.value, systemIsDark.value))

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
        localStorage.setItem(settingsKey, JSON.stringify(value))
      } catch {
        // Storage may be full or forbidden; the choices then last as long as the page.
      }
    },
    { deep: true }
  )

  watch([shownTheme, density], ([shown, chosen]) => showLook(shown, chosen), {
    immediate: true,
    flush: 'sync'
  })

  function toggleTheme(): void {
    theme.value = shownTheme.value === 'dark' ? 'light' : 'dark'
  }

  return { theme, density, device, forms, baselines, shownTheme, toggleTheme }
})
