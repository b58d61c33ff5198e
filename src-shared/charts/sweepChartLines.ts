/** What stands in one panel of a chart over K, M or N: lines, their bands and names, and the ratios below. */
import { familyOf } from '../measurement/marks'
import { digits } from '../units'
import type { RatioOf } from './baseline'
import { standingOut, type Panel } from './facets'
import { labelHeight, labelWidth, placeLabels, type Segment } from './placeLabels'
import {
  placeRange,
  shareOfAxis,
  shareOfPlaces,
  type FigureOfStep,
  type ValueAxis
} from './sweepAxis'
import type { SweepChartChoices } from './sweepChartChoices'
import { drawn, lineName, signOf, standing, type SweepLine } from './sweepSeries'
import { markStyle, type ChartTheme } from './theme'

const mostSymbols = 40
/** With more lines than this in a panel, bands are mud: the tooltip has the quartiles. */
const mostBands = 4

export interface PanelContext {
  figure: FigureOfStep
  scale: { factor: number; unit: string }
  axis: ValueAxis
  choices: SweepChartChoices
  theme: ChartTheme
  several: boolean
  /** What all panels run over. */
  places: readonly number[]
}

export function panelSeries(panel: Panel, index: number, context: PanelContext) {
  const { figure, scale, choices, theme } = context
  const least = choices.metric === 'time'
  const out = standingOut(
    panel.lines,
    (line) => (least ? -1 : 1) * (figure(line.points.at(-1)!.step)?.value ?? 0),
    familyOf
  )
  const lines = panel.lines.map((line) => ({
    ...lineSeries(line, index, figure, scale.factor, theme, out.has(line.id))
  }))
  const bands =
    panel.lines.length <= mostBands
      ? panel.lines.map((line) => bandSeries(line, index, figure, scale.factor, theme))
      : []
  const labels = lines.length > 0 ? [labelSeries(panel, index, out, context)] : []
  return [...bands, ...lines, ...labels]
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

/** How far from the end of its line the middle of a name may stand, pixels: above, else below, else a row further. */
const rows = [-11, 12, -25, 26]
/** Names end a little right of the ends of their lines. */
const overhang = 4

/** Names stand at the ends of their lines, inside the panel, each with its sign. */
function labelSeries(
  panel: Panel,
  index: number,
  out: ReadonlySet<string>,
  { figure, scale, axis, theme, choices, several, places }: PanelContext
) {
  const range = placeRange(places)
  const drawnOf = (line: SweepLine) =>
    line.points.flatMap(({ at, step }) => {
      const value = drawn(figure(step)?.value, scale.factor)
      if (value === null) return []
      const x = panel.width * shareOfPlaces(at, range, choices.logX)
      return [{ at, value, x, y: panel.height * (1 - shareOfAxis(value, axis, choices.logY)) }]
    })
  const named = panel.lines
    .filter(({ id }) => out.has(id))
    .map((line) => ({ line, points: drawnOf(line) }))
    .filter(({ points }) => points.length > 0)
  const lines = named.flatMap(({ points }) =>
    points.slice(1).map(({ x, y }, before): Segment => [points[before]!.x, points[before]!.y, x, y])
  )
  // Where there is no room for all, references and earlier runs give way, and the card at the pointer has them.
  const ends = named
    .map(({ line, points }) => {
      const sign = signOf(line)
      const name = several ? [line.kernel, line.variant].filter(Boolean).join(', ') : lineName(line)
      const run = line.overlay && several ? ` (${line.runTitle})` : ''
      const end = points.at(-1)!
      return { line, sign, name: name + run, value: digits(end.value), end }
    })
    .sort((a, b) => standing(a.line) - standing(b.line) || a.end.y - b.end.y)
  const boxes = placeLabels(
    ends.map(({ sign, name, value, end: { x, y } }) => {
      const text = `${sign} ${name} ${value}`
      const left = overhang - labelWidth(text)
      return { x, y, text, places: rows.map((row) => ({ left, top: row - labelHeight / 2 })) }
    }),
    { left: 0, top: 0, width: panel.width + overhang, height: panel.height },
    {
      taken: ends.map(({ end }) => ({ left: end.x - 3, top: end.y - 3, width: 6, height: 6 })),
      lines
    }
  )
  return {
    id: `labels ${panel.format}`,
    type: 'scatter' as const,
    silent: true,
    xAxisIndex: index,
    yAxisIndex: index,
    symbolSize: 0,
    tooltip: { show: false },
    z: 5,
    data: ends.flatMap(({ line, sign, name, value, end }, place) => {
      const box = boxes[place]
      if (!box) return []
      return [
        {
          value: [end.at, end.value],
          label: {
            show: true,
            position: 'left' as const,
            offset: [overhang + 5, box.top + labelHeight / 2 - end.y],
            color: theme.text,
            fontSize: 11,
            textBorderColor: theme.surface,
            textBorderWidth: 2,
            formatter: `{sign|${sign}} ${name} {value|${value}}`,
            rich: {
              sign: { color: line.mark.colour[theme.look], fontSize: 11, textBorderWidth: 0 },
              value: { color: theme.text, fontSize: 11, fontWeight: 'bold' as const }
            }
          }
        }
      ]
    })
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

interface RenderApi {
  coord(point: [number, number]): [number, number]
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
