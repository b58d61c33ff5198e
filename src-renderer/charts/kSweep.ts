import { digits } from '../format/units'
import { figureOf, metricTitle, sweepScale, type SweepLine, type SweepMetric } from './sweepSeries'
import { axisStyle, baseOption, seriesSymbols, type ChartTheme } from './theme'

export interface KSweepChoices {
  metric: SweepMetric
  logX: boolean
  logY: boolean
}

const mostSymbols = 160
const mostTooltipLines = 14

/** One metric over K, a line per kernel and format, with the band from q1 to q3. */
export function kSweepOption(
  lines: readonly SweepLine[],
  { metric, logX, logY }: KSweepChoices,
  theme: ChartTheme
) {
  const scale = sweepScale(lines, metric)
  const series = lines.flatMap((line) => [
    bandSeries(line, metric, scale.factor, theme),
    lineSeries(line, metric, scale.factor, theme)
  ])
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'axis' as const,
      axisPointer: { type: 'line' as const, lineStyle: { color: theme.dim, type: 'dashed' } },
      formatter: (hits: { seriesId: string; dataIndex: number }[]) =>
        tooltipText(hits, lines, metric, scale)
    },
    grid: { left: 64, right: 18, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: logX ? ('log' as const) : ('value' as const),
      logBase: 2,
      name: 'K',
      nameLocation: 'middle' as const,
      nameGap: 26,
      min: 'dataMin',
      max: 'dataMax',
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

function lineSeries(line: SweepLine, metric: SweepMetric, factor: number, theme: ChartTheme) {
  const color = theme.series[line.color]
  const emulated = line.level !== 'native'
  return {
    id: line.id,
    name: `${line.kernel} ${line.format}`,
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
    data: line.points.map(({ k, step }) => [k, (figureOf(step, metric)?.value ?? NaN) * factor])
  }
}

interface RenderApi {
  coord(point: [number, number]): [number, number]
}

/** The whole band as one polygon, drawn with the first point. */
function bandSeries(line: SweepLine, metric: SweepMetric, factor: number, theme: ChartTheme) {
  const data = line.points.map(({ k, step }) => {
    const figure = figureOf(step, metric)
    return [k, (figure?.low ?? NaN) * factor, (figure?.high ?? NaN) * factor]
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
  metric: SweepMetric,
  { factor, unit }: { factor: number; unit: string }
): string {
  const byId = new Map(lines.map((line) => [line.id, line]))
  const found = hits.flatMap(({ seriesId, dataIndex }) => {
    const line = byId.get(seriesId)
    const point = line?.points[dataIndex]
    const figure = point && figureOf(point.step, metric)
    return line && point && figure ? [{ line, point, figure }] : []
  })
  if (found.length === 0) return ''
  found.sort((a, b) => b.figure.value - a.figure.value)
  const rows = found.slice(0, mostTooltipLines).map(({ line, figure }) => {
    const name = `${line.kernel} ${line.format}${line.overlay ? ` (${line.runTitle})` : ''}`
    const band = `[${digits(figure.low * factor)}, ${digits(figure.high * factor)}]`
    return `${name}:  ${digits(figure.value * factor)} ${unit}  ${band}`
  })
  const more = found.length - rows.length
  return [`K = ${found[0]!.point.k}`, ...rows, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
