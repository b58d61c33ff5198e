/** A sweep with one value of K: a row for each kernel, sorted within its format, its median as a dot on one shared axis. */
import { findBlockFormat } from '@shared/formats/blockFormat'
import { digits, tick } from '../format/units'
import type { RatioOf } from './baseline'
import type { Roofs } from './limits'
import {
  figureOf,
  lineName,
  metricTitle,
  sweepScale,
  type Figure,
  type SweepLine,
  type SweepMetric,
  type SweepPoint
} from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

export interface DotRow {
  id: string
  line: SweepLine
  point: SweepPoint
  /** In the unit of the axis. */
  figure: Figure
  share: number | undefined
  /** What the roofline allows it, on the axis of rates. */
  limit: number | undefined
  ratio: number | undefined
}

export interface DotGroup {
  format: string
  /** 'e2m1, e8m0 per 32' */
  about: string
  rows: readonly DotRow[]
}

export interface DotPlot {
  groups: readonly DotGroup[]
  unit: string
  /** Ticks from 0; the last one ends the axis. */
  ticks: readonly number[]
  /** Of the ratio bars: where the longest ends. */
  mostRatio: number
}

/** Whether every line stands at one and the same K. */
export function hasOneK(lines: readonly SweepLine[]): boolean {
  const first = lines[0]?.points[0]?.k
  return lines.every(({ points }) => points.every(({ k }) => k === first))
}

export function dotPlot(
  lines: readonly SweepLine[],
  metric: SweepMetric,
  roofs: Roofs,
  ratioOf: RatioOf | undefined
): DotPlot {
  const { unit, factor } = sweepScale(lines, metric)
  const rows = lines.flatMap((line) => {
    const point = line.points[0]!
    const figure = figureOf(point.step, metric, roofs)
    if (!figure || !Number.isFinite(figure.value)) return []
    const share = figureOf(point.step, 'share', roofs)?.value
    return [
      {
        id: `${line.id} ${point.step.index}`,
        line,
        point,
        figure: {
          value: figure.value * factor,
          low: figure.low * factor,
          high: figure.high * factor
        },
        share,
        limit: metric === 'tflops' && share ? (figure.value * factor) / share : undefined,
        ratio: ratioOf?.(line, point.step)
      }
    ]
  })
  const formats = [...new Set(rows.map(({ line }) => line.format))]
  const isLess = metric === 'time'
  return {
    groups: formats.map((format) => ({
      format,
      about: aboutFormat(format),
      rows: rows.filter(({ line }) => line.format === format).sort(byRank(isLess))
    })),
    unit,
    ticks: ticksTo(axisEnd(rows)),
    mostRatio: Math.max(1.2, ...rows.map(({ ratio }) => ratio ?? 0))
  }
}

/** The limits are on the axis too where they do not press the dots together. */
function axisEnd(rows: readonly Pick<DotRow, 'figure' | 'limit'>[]): number {
  const most = Math.max(0, ...rows.map(({ figure }) => figure.high))
  const limit = Math.max(0, ...rows.map((row) => row.limit ?? 0))
  return limit <= 2.5 * most ? Math.max(most, limit) : most
}

/** References last; the fastest first. */
const byRank =
  (isLess: boolean) =>
  (a: DotRow, b: DotRow): number =>
    Number(a.line.mark.hollow) - Number(b.line.mark.hollow) ||
    (isLess ? a.figure.value - b.figure.value : b.figure.value - a.figure.value)

function aboutFormat(id: string): string {
  try {
    const { a, b, scale, scaleBlockSize } = findBlockFormat(id)
    const codes = a.name === b.name ? a.name : `${a.name} × ${b.name}`
    return `${codes}, ${scale.name} / ${scaleBlockSize}`
  } catch {
    return ''
  }
}

/** Four to eight round steps. */
export function ticksTo(most: number): number[] {
  if (!(most > 0)) return [0, 1]
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => most / (one * power) <= 8) ?? 10)
  const count = Math.ceil(most / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

const rowHeight = 24
const left = 220

/** The same as a chart option, for pictures. */
export function dotPlotOption(plot: DotPlot, metric: SweepMetric, theme: ChartTheme) {
  const rows = plot.groups.flatMap(({ rows: of }) => of)
  return {
    ...baseOption(theme),
    grid: { left, right: 90, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      min: 0,
      max: plot.ticks.at(-1),
      name: `${metricTitle[metric]}, ${plot.unit}`,
      nameLocation: 'middle' as const,
      nameGap: 26,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      inverse: true,
      data: rows.map(({ line }) => lineName(line)),
      axisLabel: { color: theme.text, fontSize: 11, interval: 0 },
      splitLine: { show: false }
    },
    series: [
      {
        type: 'custom' as const,
        silent: true,
        encode: { x: [0, 1, 2], y: 3 },
        data: rows.map(({ figure }, index) => [0, figure.low, figure.high, index]),
        renderItem: (params: { dataIndex: number }, api: DotApi) => {
          const { line, figure } = rows[params.dataIndex]!
          const colour = line.mark.colour[theme.look]
          const at = (value: number) => api.coord([value, params.dataIndex])
          const [[zero, y], [end], [low], [high]] = [
            at(0),
            at(figure.value),
            at(figure.low),
            at(figure.high)
          ]
          return {
            type: 'group',
            children: [
              {
                type: 'line',
                shape: { x1: zero, y1: y, x2: end, y2: y },
                style: { stroke: colour, lineWidth: 2, opacity: 0.45 }
              },
              {
                type: 'rect',
                shape: { x: low, y: y - 5, width: Math.max(3, high - low), height: 10 },
                style: { fill: colour, opacity: 0.45 }
              }
            ]
          }
        }
      },
      ...rows.map(({ line, figure }, index) => ({
        type: 'scatter' as const,
        ...markStyle(line.mark, theme),
        symbolSize: 9,
        data: [
          {
            value: [figure.value, index],
            label: {
              show: true,
              position: 'right' as const,
              color: theme.text,
              formatter: digits(figure.value)
            }
          }
        ]
      }))
    ]
  }
}

interface DotApi {
  coord(point: [number, number]): [number, number]
}

export const dotPlotHeight = (plot: DotPlot): number =>
  76 + rowHeight * plot.groups.reduce((sum, { rows }) => sum + rows.length, 0)
