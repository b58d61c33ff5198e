/** A sweep of one shape: a row for each kernel and format, grouped and sorted, its median as a dot on one shared axis. */
import { findBlockFormat } from '../formats/blockFormat'
import { familyOf, providerTitles } from '../measurement/marks'
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

/** What rows stand together: those of one format, or of one kernel. */
export const dotGroupings = ['format', 'kernel'] as const
export type DotGrouping = (typeof dotGroupings)[number]

/** By rate or time; by the share of the limit; by the ratio to the baseline; by name. */
export const dotSorts = ['best', 'share', 'ratio', 'name'] as const
export type DotSort = (typeof dotSorts)[number]

export interface DotArrangement {
  by: DotGrouping
  sort: DotSort
}

export interface DotGroup {
  /** Of the format or the kernel that its rows share. */
  name: string
  /** 'e2m1, e8m0 / 32'; of a kernel its provider. */
  about: string
  rows: readonly DotRow[]
}

export interface DotPlot {
  by: DotGrouping
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
  ratioOf: RatioOf | undefined,
  { by, sort }: DotArrangement = { by: 'format', sort: 'best' }
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
  const rated = metric === 'tflops' ? ratedRoofs(lines, roofs, factor) : []
  const ticks = ticksTo(axisEnd(rows, rated))
  const order = rankBy(sort, by, metric === 'time')
  const groups = [...new Set(rows.map(({ line }) => line[by]))].map((name): DotGroup => {
    const of = rows.filter(({ line }) => line[by] === name).sort(order)
    const about = by === 'format' ? aboutFormat(name) : providerTitles[familyOf(of[0]!.line)]
    return { name, about, rows: of }
  })
  // Formats stand as they were asked for; kernels as their best rows do.
  if (by === 'kernel') groups.sort((a, b) => order(a.rows[0]!, b.rows[0]!))
  return {
    by,
    groups,
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

/** References last; then what a person asks for, the best first; a row without such a figure after those that have one. */
function rankBy(sort: DotSort, by: DotGrouping, isLess: boolean) {
  const figure = ({ figure: { value } }: DotRow) => (isLess ? -value : value)
  const rankOf = (row: DotRow): number =>
    (sort === 'share' ? row.share : sort === 'ratio' ? row.ratio : figure(row)) ?? -Infinity
  const nameOf = ({ line: { kernel, format } }: DotRow) =>
    by === 'format' ? kernel : `${kernel} ${format}`
  return (a: DotRow, b: DotRow): number =>
    Number(a.line.mark.hollow) - Number(b.line.mark.hollow) ||
    (sort === 'name' ? nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true }) : 0) ||
    compare(rankOf(b), rankOf(a)) ||
    figure(b) - figure(a)
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)

function aboutFormat(id: string): string {
  try {
    const { a, b, scale, scaleBlockSize } = findBlockFormat(id)
    const codes = a.name === b.name ? a.name : `${a.name} × ${b.name}`
    return `${codes}, ${scale.name} / ${scaleBlockSize}`
  } catch {
    return ''
  }
}
