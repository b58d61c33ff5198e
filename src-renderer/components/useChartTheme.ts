import { computed } from 'vue'
import type { Look } from '@shared/measurement/marks'
import { useSettings } from '../stores/settings'
import { chartThemeFrom, type ChartTheme } from '@shared/charts/theme'

/** The chart colours of the theme that is shown. */
export function useChartTheme() {
  const settings = useSettings()
  return computed<ChartTheme>(() => {
    // Read again when the theme changes: the tokens' values do not tell by themselves.
    return currentTheme(settings.shownTheme)
  })
}

function currentTheme(look: Look): ChartTheme {
  const style = getComputedStyle(document.documentElement)
  return chartThemeFrom((name) => style.getPropertyValue(name).trim(), look)
}
