import type { Step } from '@shared/contract/run'
import { digits } from '../format/units'
import { limitAt, intensityOf, type Roofs } from './limits'
import {
  drawn,
  figureOf,
  lineName,
  metricTitle,
  sweepScale,
  type Figure,
  type SweepLine,
  type SweepMetric,
  type SweepPoint
} from './sweepSeries'
import { axisStyle, baseOption, seriesSymbols, type ChartTheme } from './theme'

export interface KSweepChoices {
  metric: SweepMetric
  logX: boolean
  logY: boolean
  /** For the share of the limit. */
  roofs: Roofs
}

const mostSymbols = 160
const mostTooltipLines = 14

/** One metric over K, a line per kernel and format, with the band from q1 to q3. */
export function kSweepOption(
  lines: readonly SweepLine[],
  choices: KSweepChoices,
  theme: ChartTheme
) {
  const { metric, logX, logY } = choices
  const scale = sweepScale(lines, metric)
  const figure = (step: Step) => figureOf(step, metric, choices.roofs)
  const series = lines.flatMap((line) => [
    bandSeries(line, figure, scale.factor, theme),
    lineSeries(line, figure, scale.factor, theme)
  ])
  const ticks = kTicks(lines, logX)
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'axis' as const,
      axisPointer: { type: 'line' as const, lineStyle: { color: theme.dim, type: 'dashed' } },
      formatter: (hits: { seriesId: string; dataIndex: number }[]) =>
        tooltipText(hits, lines, choices, scale)
    },
    grid: { left: 64, right: 18, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: logX ? ('log' as const) : ('value' as const),
      logBase: 2,
      name: 'K',
      nameLocation: 'middle' as const,
      nameGap: 26,
      ...kRange(lines),
      axisLabel: { color: theme.dim, fontSize: 11, customValues: ticks, formatter: String },
      axisTick: { show: true, customValues: ticks, lineStyle: { color: theme.grid } },
      splitLine: { show: false }
    },
    yAxis: {
      ...axisStyle(theme),
      type: logY ? ('log' as const) : ('value' as const),
      name: `${metricTitle[metric]}, ${scale.unit}`,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      nameGap: 14
    },
    series
  }
}

const ksOf = (lines: readonly SweepLine[]): number[] =>
  [...new Set(lines.flatMap(({ points }) => points.map(({ k }) => k)))].sort((a, b) => a - b)

/** A single K stands in the middle of its axis. */
function kRange(lines: readonly SweepLine[]): { min: number; max: number } {
  const ks = ksOf(lines)
  const [first, last] = [ks[0], ks.at(-1)]
  if (first === undefined || last === undefined) return { min: 0, max: 1024 }
  return first === last ? { min: first / 2, max: first * 1.5 } : { min: first, max: last }
}

/** The least distance of two labels, as a share of the axis. */
const labelDistance = 0.065

/** Ticks stand at values of K that were measured, as many as there is room for; first and last always. */
export function kTicks(lines: readonly SweepLine[], logX: boolean): number[] {
  const ks = ksOf(lines)
  if (ks.length < 2) return ks
  const place = (k: number) => (logX ? Math.log2(k) : k)
  const [start, end] = [place(ks[0]!), place(ks.at(-1)!)]
  const share = (k: number) => (place(k) - start) / (end - start)
  const ticks: number[] = []
  for (const k of ks.slice(0, -1)) {
    const before = ticks.at(-1)
    const roomBefore = before === undefined || share(k) - share(before) >= labelDistance
    const roomAfter = before === undefined || 1 - share(k) >= labelDistance
    if (roomBefore && roomAfter) ticks.push(k)
  }
  return [...ticks, ks.at(-1)!]
}

type FigureOfStep = (step: Step) => Figure | undefined

function lineSeries(line: SweepLine, figure: FigureOfStep, factor: number, theme: ChartTheme) {
  const color = theme.series[line.color]
  const emulated = line.level !== 'native'
  return {
    id: line.id,
    name: lineName(line),
    type: 'line' as const,
    symbol: seriesSymbols[line.symbol],
    symbolSize: line.overlay ? 5 : 7,
    showSymbol: line.points.length <= mostSymbols,
    sampling: line.points.length > 2000 ? ('lttb' as const) : undefined,
    lineStyle: {
      color,
      width: line.overlay ? 1.2 : 2,
      type: line.baseline ? [6, 4] : line.overlay ? [2, 3] : ('solid' as const)
    },
    // Hollow symbols: computed in software.
    itemStyle: emulated
      ? { color: theme.surface, borderColor: color, borderWidth: 1.6 }
      : { color },
    z: line.overlay ? 2 : 3,
    data: line.points.map(({ k, step }) => [k, drawn(figure(step)?.value, factor)])
  }
}

interface RenderApi {
  coord(point: [number, number]): [number, number]
}

/** The whole band as one polygon, drawn with the first point. */
function bandSeries(line: SweepLine, figure: FigureOfStep, factor: number, theme: ChartTheme) {
  const data = line.points.flatMap(({ k, step }) => {
    const of = figure(step)
    const [low, high] = [drawn(of?.low, factor), drawn(of?.high, factor)]
    return low === null || high === null ? [] : [[k, low, high]]
  })
  return {
    id: `${line.id} band`,
    type: 'custom' as const,
    silent: true,
    z: 1,
    clip: true,
    encode: { x: 0, y: [1, 2] },
    tooltip: { show: false },
    data,
    renderItem: (params: { dataIndex: number }, api: RenderApi) => {
      if (params.dataIndex !== 0 || data.length < 2) return null
      const upper = data.map(([k, , high]) => api.coord([k!, high!]))
      const lower = data.map(([k, low]) => api.coord([k!, low!])).reverse()
      return {
        type: 'polygon',
        shape: { points: [...upper, ...lower] },
        style: { fill: theme.series[line.color], opacity: line.overlay ? 0.08 : 0.16 }
      }
    }
  }
}

function tooltipText(
  hits: { seriesId: string; dataIndex: number }[],
  lines: readonly SweepLine[],
  { metric, roofs }: KSweepChoices,
  { factor, unit }: { factor: number; unit: string }
): string {
  const byId = new Map(lines.map((line) => [line.id, line]))
  const found = hits.flatMap(({ seriesId, dataIndex }) => {
    const line = byId.get(seriesId)
    const point = line?.points[dataIndex]
    const figure = point && figureOf(point.step, metric, roofs)
    return line && point && figure ? [{ line, point, figure }] : []
  })
  if (found.length === 0) return ''
  found.sort((a, b) => b.figure.value - a.figure.value)
  const rows = found.slice(0, mostTooltipLines).map(({ line, figure }) => {
    const band = `[${digits(figure.low * factor)}, ${digits(figure.high * factor)}]`
    return `${lineName(line)}:  ${digits(figure.value * factor)} ${unit}  ${band}`
  })
  const more = found.length - rows.length
  return [
    `K = ${found[0]!.point.k}`,
    ...rows,
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(metric === 'share' ? limitsText(found, roofs) : [])
  ].join('\n')
}

/** Which limit binds, and where it is from, once for all lines that share it. */
function limitsText(found: readonly { point: SweepPoint }[], roofs: Roofs): string[] {
  const texts = found.flatMap(({ point }) => {
    const limit = limitAt(intensityOf(point.step.measurement!), roofs)
    return limit ? [`limit: ${limit.by}, ${limit.source}`] : []
  })
  return [...new Set(texts)]
}
