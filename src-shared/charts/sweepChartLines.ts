/** What stands in one panel of a chart over K, M or N: lines, their bands and names, and the ratios below. */
import { familyOf } from '../measurement/marks'
import { digits } from '../units'
import type { RatioOf } from './baseline'
import { standingOut, type Panel } from './facets'
import { nameSeries } from './lineNames'
import type { PanelContext, RenderApi } from './panelContext'
import { roofSeries } from './panelRoofs'
import type { FigureOfStep } from './sweepAxis'
import { drawn, lineName, type SweepLine } from './sweepSeries'
import { markStyle, type ChartTheme } from './theme'

const mostSymbols = 40
/** With more lines than this in a panel, bands are mud: the tooltip has the quartiles. */
const mostBands = 4

/** Ids of the lines of a panel that are drawn in full and named. */
export function namedLines(
  { lines }: Panel,
  { figure, choices }: Pick<PanelContext, 'figure' | 'choices'>
) {
  const least = choices.metric === 'time'
  return standingOut(
    lines,
    ({ step }) => {
      const value = figure(step)?.value ?? 0
      return least && value > 0 ? 1 / value : value
    },
    familyOf
  )
}

export function panelSeries(panel: Panel, index: number, context: PanelContext) {
  const { figure, scale, theme } = context
  const out = namedLines(panel, context)
  const lines = panel.lines.map((line) => ({
    ...lineSeries(line, index, figure, scale.factor, theme, out.has(line.id))
  }))
  const bands =
    panel.lines.length <= mostBands
      ? panel.lines.map((line) => bandSeries(line, index, figure, scale.factor, theme))
      : []
  return [
    ...roofSeries(panel, index, context),
    ...bands,
    ...lines,
    ...nameSeries(panel, index, out, context)
  ]
}

function lineSeries(
  line: SweepLine,
  panel: number,
  figure: FigureOfStep,
  factor: number,
  theme: ChartTheme,
  standsOut: boolean
) {
  const color = standsOut ? line.mark.colour[theme.look] : theme.grid
  return {
    id: line.id,
    name: lineName(line),
    type: 'line' as const,
    xAxisIndex: panel,
    yAxisIndex: panel,
    ...markStyle(line.mark, theme),
    symbolSize: line.overlay ? 5 : 7,
    showSymbol: standsOut && line.points.length <= mostSymbols,
    sampling: line.points.length > 2000 ? ('lttb' as const) : undefined,
    lineStyle: {
      color,
      width: line.overlay ? 1.2 : 1.8,
      type: line.mark.hollow ? [5, 3] : line.overlay ? [2, 3] : ('solid' as const)
    },
    // What steps back comes forward when it is pointed at.
    emphasis: {
      disabled: standsOut,
      lineStyle: { color: line.mark.colour[theme.look], width: 2 }
    },
    z: line.overlay || !standsOut ? 2 : 3,
    data: line.points.map(({ at, step }) => [at, drawn(figure(step)?.value, factor)])
  }
}

export function largestRatio(lines: readonly SweepLine[], ratioOf: RatioOf): number {
  let most = 0
  for (const line of lines)
    for (const { step } of line.points) most = Math.max(most, ratioOf(line, step) ?? 0)
  return most
}

/** Rate over the baseline's at the same shape; the number at the end of each line stands right of its panel. */
export function ratioSeries(
  panel: Panel,
  index: number,
  ratioOf: RatioOf,
  most: number,
  theme: ChartTheme
) {
  // Numbers that would lie on one another are left to the tooltip; references give way first.
  const named = new Set<string>()
  const taken: number[] = []
  const ends = panel.lines.flatMap((line) => {
    const value = ratioOf(line, line.points.at(-1)!.step)
    return value === undefined || value === 1
      ? []
      : [{ line, y: (panel.ratioHeight * value) / most }]
  })
  for (const { line, y } of ends.sort(
    (a, b) => Number(a.line.mark.hollow) - Number(b.line.mark.hollow)
  )) {
    if (taken.some((other) => Math.abs(other - y) < 11)) continue
    taken.push(y)
    named.add(line.id)
  }
  return panel.lines.flatMap((line) => {
    const data = line.points.map(({ at, step }) => [at, drawn(ratioOf(line, step))])
    const last = data.findLast(([, value]) => value !== null)
    if (!last) return []
    const color = line.mark.colour[theme.look]
    return [
      {
        id: `${line.id} ratio`,
        type: 'line' as const,
        xAxisIndex: index,
        yAxisIndex: index,
        showSymbol: false,
        symbol: 'none',
        tooltip: { show: false },
        lineStyle: {
          color,
          width: line.overlay ? 1 : 1.8,
          type: line.mark.hollow ? [5, 3] : line.overlay ? [2, 3] : ('solid' as const)
        },
        endLabel: {
          show: named.has(line.id),
          color: line.mark.hollow ? theme.dim : theme.text,
          fontSize: 11,
          distance: 4,
          formatter: digits(last[1]!)
        },
        data
      }
    ]
  })
}

/** The whole band as one polygon, drawn with the first point. */
function bandSeries(
  line: SweepLine,
  panel: number,
  figure: FigureOfStep,
  factor: number,
  theme: ChartTheme
) {
  const data = line.points.flatMap(({ at, step }) => {
    const of = figure(step)
    const [low, high] = [drawn(of?.low, factor), drawn(of?.high, factor)]
    return low === null || high === null ? [] : [[at, low, high]]
  })
  return {
    id: `${line.id} band`,
    type: 'custom' as const,
    xAxisIndex: panel,
    yAxisIndex: panel,
    silent: true,
    z: 1,
    clip: true,
    encode: { x: 0, y: [1, 2] },
    tooltip: { show: false },
    data,
    renderItem: (params: { dataIndex: number }, api: RenderApi) => {
      if (params.dataIndex !== 0 || data.length < 2) return null
      const upper = data.map(([at, , high]) => api.coord([at!, high!]))
      const lower = data.map(([at, low]) => api.coord([at!, low!])).reverse()
      return {
        type: 'polygon',
        shape: { points: [...upper, ...lower] },
        style: { fill: line.mark.colour[theme.look], opacity: line.overlay ? 0.08 : 0.16 }
      }
    }
  }
}
