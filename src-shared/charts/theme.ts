import { symbolPath, type Look, type Mark } from '../measurement/marks'
import { tick } from '../units'

/** What a chart takes from the design tokens. Options are pure functions of data and this. */
export interface ChartTheme {
  look: Look
  text: string
  dim: string
  grid: string
  surface: string
  /** Of tracks and of what stands back. */
  track: string
  accent: string
  series: string[]
  heat: string[]
  over: string
  /** Of changes. */
  faster: string
  slower: string
  font: string
  mono: string
}

export const seriesCount = 7
const heatStops = 5

export function chartThemeFrom(token: (name: string) => string, look: Look): ChartTheme {
  const range = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => token(name(index)))
  return {
    look,
    text: token('--text-1'),
    dim: token('--text-3'),
    grid: token('--chart-grid'),
    surface: token('--surface-1'),
    track: token('--surface-3'),
    accent: token('--accent'),
    series: range(seriesCount, (index) => `--chart-${index + 1}`),
    heat: range(heatStops, (index) => `--heat-${index}`),
    over: token('--heat-over'),
    faster: token('--faster'),
    slower: token('--slower'),
    font: token('--font-sans'),
    mono: token('--font-mono')
  }
}

/** Symbols beside colours, so that a line is known without its colour. */
export const seriesSymbols = ['circle', 'rect', 'triangle', 'diamond', 'roundRect'] as const

/** How a mark is drawn: its symbol, filled, or hollow for what is only a reference. */
export function markStyle(mark: Mark, theme: ChartTheme) {
  const color = mark.colour[theme.look]
  return {
    symbol: `path://${symbolPath(mark)}`,
    itemStyle: {
      ...(mark.hollow ? { color: theme.surface, borderColor: color, borderWidth: 1.6 } : { color }),
      ...solid.itemStyle
    }
  }
}

/** Of a scatter, whose marks, and names with them, ECharts draws translucent: paler than in every legend. */
export const solid = { itemStyle: { opacity: 1 } } as const

/** Parts that every chart shares. The strict content policy forbids tooltips made of HTML. */
export function baseOption(theme: ChartTheme) {
  return {
    animation: false,
    textStyle: { fontFamily: theme.font, color: theme.text, fontSize: 11 },
    tooltip: {
      renderMode: 'richText' as const,
      confine: true,
      backgroundColor: theme.text,
      borderWidth: 0,
      padding: [6, 9],
      textStyle: { color: theme.surface, fontSize: 11, fontFamily: theme.font, lineHeight: 16 }
    }
  }
}

/** Categories stand as they are, numbers as everywhere. */
export const axisText = (value: number | string): string =>
  typeof value === 'number' ? tick(value) : value

export function axisStyle(theme: ChartTheme) {
  return {
    nameTextStyle: { color: theme.dim, fontSize: 11 },
    axisLabel: { color: theme.dim, fontSize: 11, formatter: axisText },
    axisLine: { lineStyle: { color: theme.grid } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: theme.grid } },
    minorSplitLine: { show: false }
  }
}
