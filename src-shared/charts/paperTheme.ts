/**
 * The light look as constants, for charts that leave the app: reports are written where no style sheet is. A test holds them
 * against src-renderer/design/tokens.css.
 */
import { chartThemeFrom } from './theme'

export const paperTokens = {
  '--font-sans': "'Inter', system-ui, -apple-system, 'Segoe UI', sans-serif",
  '--font-mono': "'JetBrains Mono', ui-monospace, 'SF Mono', 'Cascadia Mono', monospace",
  '--surface-1': '#ffffff',
  '--surface-2': '#f6f7f9',
  '--surface-3': '#eceff3',
  '--line': '#e1e5ea',
  '--line-strong': '#8a94a2',
  '--text-1': '#14181f',
  '--text-2': '#465060',
  '--text-3': '#5d6878',
  '--accent': '#0a5fd0',
  '--ok': '#0a6f45',
  '--ok-soft': '#dff3e9',
  '--warn': '#815200',
  '--warn-soft': '#fbefd6',
  '--bad': '#b3261e',
  '--bad-soft': '#fce5e2',
  '--chart-1': '#0069b4',
  '--chart-2': '#c2570a',
  '--chart-3': '#00836a',
  '--chart-4': '#a8407f',
  '--chart-5': '#8a7200',
  '--chart-6': '#3b3a8f',
  '--chart-7': '#5c6672',
  '--chart-grid': '#e6e9ee',
  '--heat-0': '#f1f4f8',
  '--heat-1': '#c9dcf0',
  '--heat-2': '#86b2dc',
  '--heat-3': '#3d7fbd',
  '--heat-4': '#114f8c',
  '--heat-over': '#c2570a',
  '--faster': '#0069b4',
  '--slower': '#c2570a'
} as const

export type PaperToken = keyof typeof paperTokens

export const paperTheme = chartThemeFrom((name) => paperTokens[name as PaperToken] ?? '', 'light')
