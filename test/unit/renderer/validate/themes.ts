/** The chart themes as tokens.css states them; the page reads the same tokens through the browser. */
import { readFileSync } from 'node:fs'
import { chartThemeFrom, type ChartTheme } from '@shared/charts/theme'

export function themesFromTokens(): Record<'light' | 'dark', ChartTheme> {
  const css = readFileSync('src-renderer/design/tokens.css', 'utf8')
  const read = (which: number) =>
    chartThemeFrom(
      (name) => {
        const values = [...css.matchAll(new RegExp(`${name}:\\s*([^;]+);`, 'g'))]
        return (values[which] ?? values[0])?.[1] ?? ''
      },
      which === 0 ? 'light' : 'dark'
    )
  return { light: read(0), dark: read(1) }
}
