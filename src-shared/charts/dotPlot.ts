/** A sweep of one shape: a row for each kernel, sorted within its format, its median as a dot on one shared axis. */
import { findBlockFormat } from '../formats/blockFormat'
import type { RatioOf } from './baseline'
import type { Roofs } from './limits'
import { ratedRoofs } from './ratedRoofs'
import {
  figureOf,
  sweepScale,
  type Figure,
  type SweepLine,
  type SweepMetric,
  type SweepPoint
} from './sweepSeries'
import { ticksTo } from './ticks'

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
  /** What each instruction reaches at the device's highest clock, on the axis of rates: those that the axis holds, lowest first. */
  roofs: readonly { name: string; value: number }[]
}

/** Whether every line stands at one and the same place of its axis. */
export function hasOnePlace(lines: readonly SweepLine[]): boolean {
  const first = lines[0]?.points[0]?.at
  return lines.every(({ points }) => points.every(({ at }) => at === first))
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
  const rated = metric === 'tflops' ? ratedRoofs(lines, roofs, factor) : []
  const ticks = ticksTo(axisEnd(rows, rated))
  const isLess = metric === 'time'
  return {
    groups: formats.map((format) => ({
      format,
      about: aboutFormat(format),
      rows: rows.filter(({ line }) => line.format === format).sort(byRank(isLess))
    })),
    unit,
    ticks,
    mostRatio: Math.max(1.2, ...rows.map(({ ratio }) => ratio ?? 0)),
    roofs: rated.filter(({ value }) => value <= ticks.at(-1)!)
  }
}

/** The limits are on the axis too where they do not press the dots together. */
function axisEnd(
  rows: readonly Pick<DotRow, 'figure' | 'limit'>[],
  rated: readonly { value: number }[]
): number {
  const most = Math.max(0, ...rows.map(({ figure }) => figure.high || figure.value))
  const limits = [...rows.map((row) => row.limit ?? 0), ...rated.map(({ value }) => value)]
  return Math.max(most, ...limits.filter((limit) => limit <= 2.5 * most))
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
