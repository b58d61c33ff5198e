/**
 * A report on a dark screen; on paper it stays light. The colours of its charts are written into their SVG: each of the light
 * look is shown as that of the dark look, by rules over the attributes that hold them.
 */
import { paperTokens, type PaperToken } from '../charts/paperTheme'
import { ramps } from '../measurement/marks'

/** The dark look's tokens, which a test holds against src-renderer/design/tokens.css. */
export const darkTokens: Readonly<Record<Exclude<PaperToken, `--font-${string}`>, string>> = {
  '--surface-1': '#11141a',
  '--surface-2': '#171b22',
  '--surface-3': '#1f252e',
  '--line': '#232a34',
  '--line-strong': '#66717f',
  '--text-1': '#e8ebf0',
  '--text-2': '#aeb7c4',
  '--text-3': '#8d98a8',
  '--accent': '#5aa2ff',
  '--ok': '#4cc38a',
  '--ok-soft': '#10291f',
  '--warn': '#e9b949',
  '--warn-soft': '#2e2410',
  '--bad': '#ff8577',
  '--bad-soft': '#351917',
  '--chart-1': '#58b0f2',
  '--chart-2': '#f2913d',
  '--chart-3': '#2cbf9b',
  '--chart-4': '#e58cc0',
  '--chart-5': '#e3cf4f',
  '--chart-6': '#9d94f0',
  '--chart-7': '#9aa5b3',
  '--chart-grid': '#222933',
  '--heat-0': '#161b23',
  '--heat-1': '#1d3550',
  '--heat-2': '#24598c',
  '--heat-3': '#3f8ad0',
  '--heat-4': '#8cc4fb',
  '--heat-over': '#f2913d',
  '--faster': '#58b0f2',
  '--slower': '#f2913d'
}

/** What a colour of the light look is in the dark one; of tokens with one value the first. */
export const darkOf: ReadonlyMap<string, string> = new Map(
  [
    ...Object.entries(darkTokens).map(([name, dark]) => [paperTokens[name as PaperToken], dark]),
    ...Object.values(ramps).flatMap((shades) => shades.map(({ light, dark }) => [light, dark]))
  ]
    .map(([light, dark]) => [light!, dark!] as const)
    .reverse()
)

const rules = [...darkOf]
  .flatMap(([light, dark]) =>
    ['fill', 'stroke'].map((name) => `svg [${name}="${light}"] { ${name}: ${dark} }`)
  )
  .join('\n')

export const darkReportStyle = `
@media screen and (prefers-color-scheme: dark) {
:root { color-scheme: dark; ${Object.entries(darkTokens)
  .filter(([name]) => !/^--(chart|heat)/.test(name))
  .map(([name, value]) => `${name}: ${value}`)
  .join('; ')} }
${rules}
}`
