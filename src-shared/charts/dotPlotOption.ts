/** The dot plot as one option of a chart, for pictures and reports: the page draws it as a table. */
import { formatSymbol, symbolCharacters } from '../measurement/marks'
import { digits, tick, times } from '../units'
import type { DotPlot, DotRow } from './dotPlot'
import { metricTitle, type Figure, type SweepMetric } from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

const rowHeight = 18
const margin = { left: 262, right: 132, top: 34, bottom: 42 }

/** Rows of all formats with a gap between two formats, as an axis of categories has them. */
function placed(plot: DotPlot): { row: DotRow; place: number; isFirst: boolean }[] {
  let place = 0
  return plot.groups.flatMap(({ rows }, group) => {
    if (group > 0) place++
    return rows.map((row, index) => ({ row, place: place++, isFirst: index === 0 }))
  })
}

const placesOf = (plot: DotPlot): number =>
  plot.groups.reduce((sum, { rows }) => sum + rows.length, Math.max(0, plot.groups.length - 1))

export const dotPlotHeight = (plot: DotPlot): number =>
  margin.top + margin.bottom + rowHeight * Math.max(1, placesOf(plot))

/** `baseline`: what the ratios at the right are to; '' without any. */
export function dotPlotOption(
  plot: DotPlot,
  metric: SweepMetric,
  theme: ChartTheme,
  baseline = ''
) {
  const rows = placed(plot)
  const names: string[] = Array.from({ length: placesOf(plot) }, () => '')
  for (const { row, place, isFirst } of rows) {
    const { format, kernel, mark } = row.line
    const sign = symbolCharacters[formatSymbol(format).symbol]
    const [head, name] =
      plot.by === 'format' ? [`${sign} ${format}`, kernel] : [kernel, `${sign} ${format}`]
    names[place] = `{head|${isFirst ? head : ''}}{${mark.hollow ? 'reference' : 'name'}|${name}}`
  }
  return {
    ...baseOption(theme),
    grid: margin,
    xAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      min: 0,
      max: plot.ticks.at(-1),
      interval: plot.ticks[1],
      name: `${metricTitle[metric]}, ${plot.unit}`,
      nameLocation: 'middle' as const,
      nameGap: 26,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      inverse: true,
      data: names,
      axisLabel: {
        color: theme.text,
        fontSize: 11,
        interval: 0,
        rich: {
          head: { width: 118, align: 'left' as const, fontWeight: 'bold' as const, fontSize: 11 },
          name: { width: 122, align: 'right' as const, fontSize: 11 },
          reference: { width: 122, align: 'right' as const, fontSize: 11, color: theme.dim }
        }
      },
      axisLine: { show: false },
      splitLine: { show: false }
    },
    series: [
      {
        type: 'custom' as const,
        silent: true,
        encode: { x: [0, 1, 2], y: 3 },
        data: rows.map(({ row, place }) => [0, ...endsOf(row.figure), place]),
        renderItem: (params: DotParams, api: DotApi) => {
          const { row, place } = rows[params.dataIndex]!
          const at = (value: number) => api.coord([value, place])[0]
          const [, y] = api.coord([0, place])
          return {
            type: 'group',
            children: [
              ...(params.dataIndex > 0 ? [] : roofShapes(plot, params, at, theme)),
              ...rowShapes(row, at, y, theme, plot.ticks.at(-1)!),
              ...rowWords(row, params, y, theme, baseline)
            ]
          }
        }
      },
      ...rows.map(({ row, place }) => ({
        type: 'scatter' as const,
        silent: true,
        ...markStyle(row.line.mark, theme),
        symbolSize: 9,
        data: [[row.figure.value, place]]
      }))
    ]
  }
}

interface DotParams {
  dataIndex: number
  coordSys: { x: number; y: number; width: number; height: number }
}

interface DotApi {
  coord(point: [number, number]): [number, number]
}

/** Stem, quartiles, and the room to what the roofline allows. */
function rowShapes(
  { line, figure, limit }: DotRow,
  at: (value: number) => number,
  y: number,
  theme: ChartTheme,
  end: number
) {
  const colour = line.mark.colour[theme.look]
  const stroke = (x1: number, x2: number, style: object) => ({
    type: 'line',
    shape: { x1, y1: y, x2, y2: y },
    style
  })
  const room =
    limit === undefined || limit > end
      ? []
      : [
          stroke(at(figure.value), at(limit), { stroke: theme.dim, lineDash: [1, 3] }),
          {
            type: 'line',
            shape: { x1: at(limit), y1: y - 5, x2: at(limit), y2: y + 5 },
            style: { stroke: theme.text }
          }
        ]
  return [
    stroke(at(0), at(figure.value), { stroke: colour, lineWidth: 2, opacity: 0.45 }),
    ...room,
    {
      type: 'rect',
      shape: {
        x: at(endsOf(figure)[0]),
        y: y - 5,
        width: Math.max(3, at(endsOf(figure)[1]) - at(endsOf(figure)[0])),
        height: 10
      },
      style: { fill: colour, opacity: 0.45 }
    }
  ]
}

/** Rated roofs from top to bottom, each named left of its line. */
function roofShapes(
  { roofs }: DotPlot,
  { coordSys: { y, height } }: DotParams,
  at: (value: number) => number,
  theme: ChartTheme
) {
  return roofs.flatMap(({ name, value }) => [
    {
      type: 'line',
      shape: { x1: at(value), y1: y - 4, x2: at(value), y2: y + height },
      style: { stroke: theme.dim }
    },
    {
      type: 'text',
      style: {
        ...{ text: name, x: at(value) - 3, y: y - 12, fill: theme.text },
        ...{ align: 'right', verticalAlign: 'middle', fontSize: 11, fontWeight: 'bold' }
      }
    }
  ])
}

/** Numbers stand in columns at the right, under their heading. */
function rowWords(
  { line, figure, ratio }: DotRow,
  { dataIndex, coordSys }: DotParams,
  y: number,
  theme: ChartTheme,
  baseline: string
) {
  const right = coordSys.x + coordSys.width
  const word = (text: string, x: number, style: object = {}) => ({
    type: 'text',
    style: {
      text,
      x,
      y,
      align: 'right',
      verticalAlign: 'middle',
      fontSize: 11,
      fill: theme.text,
      ...style
    }
  })
  const weight = line.mark.hollow ? {} : { fontWeight: 'bold' }
  const head = { y: coordSys.y - 12, fill: theme.dim }
  return [
    word(digits(figure.value), right + 54, weight),
    ...(baseline === '' ? [] : [word(times(ratio), right + 118, weight)]),
    ...(dataIndex > 0 || baseline === '' ? [] : [word(`× ${baseline}`, right + 118, head)])
  ]
}

/** From q1 to q3; the value alone where they are not known. */
const endsOf = ({ value, low, high }: Figure): [number, number] => [low || value, high || value]
