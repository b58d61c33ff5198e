/** Where the panels of a chart over K, M or N stand: one for each format, of the same size, a ratio chart below each. */
import { groupedBy } from '../groupedBy'
import type { SweepLine, SweepPoint } from './sweepSeries'

export interface Panel {
  format: string
  lines: readonly SweepLine[]
  /** Pixels. */
  left: number
  width: number
  top: number
  height: number
  /** Of the ratio chart; its height is 0 where there is none. */
  ratioTop: number
  ratioHeight: number
}

export interface Facets {
  panels: readonly Panel[]
  columns: number
  width: number
  height: number
}

const margin = { left: 52, right: 42, top: 44, bottom: 34 }
const gap = 42
const panelHeight = { alone: 300, many: 236 }
const ratio = { height: 96, above: 34, below: 26 }
const leastWidth = 215
const mostColumns = 4

export function facetsOf(
  lines: readonly SweepLine[],
  {
    width,
    apart,
    withRatio,
    most = mostColumns
  }: { width: number; apart: boolean; withRatio: boolean; most?: number }
): Facets {
  const formats = [...new Set(lines.map(({ format }) => format))]
  const groups = apart && formats.length > 1 ? formats : ['']
  const room = width - margin.left - margin.right
  const fitting = Math.max(1, Math.floor((room + gap) / (leastWidth + gap)))
  const columns = Math.min(groups.length, fitting, most)
  const each = (room - gap * (columns - 1)) / columns
  const height = groups.length === 1 ? panelHeight.alone : panelHeight.many
  const ratioHeight = withRatio ? ratio.height : 0
  const rowHeight =
    margin.top + height + margin.bottom + (withRatio ? ratio.above + ratioHeight + ratio.below : 0)
  const panels = groups.map((format, index): Panel => {
    const [column, row] = [index % columns, Math.floor(index / columns)]
    const top = row * rowHeight + margin.top
    return {
      format,
      lines: format === '' ? lines : lines.filter((line) => line.format === format),
      left: margin.left + column * (each + gap),
      width: each,
      top,
      height,
      ratioTop: top + height + margin.bottom + ratio.above,
      ratioHeight
    }
  })
  return { panels, columns, width, height: Math.ceil(groups.length / columns) * rowHeight }
}

/** More lines than this in one panel are too many to name: the best of each provider stand out. */
export const mostNamed = 6
/** While a column beside the panel holds their names: of several shapes the best at each, and lines that are better by `clearly` elsewhere on the axis. */
const mostInColumn = 14
const clearly = 1.05

/**
 * Lines of a panel that are drawn in full; the others step back. `valueOf`: of a point, the more the better, or 0. What is best at
 * the end of the axis comes first; a kernel that leads at the other end is named as well while there is room.
 */
export function standingOut(
  lines: readonly SweepLine[],
  valueOf: (point: SweepPoint) => number,
  providerOf: (line: SweepLine) => string
): ReadonlySet<string> {
  if (lines.length <= mostNamed) return new Set(lines.map(({ id }) => id))
  const provider = (line: SweepLine) => `${providerOf(line)} ${line.overlay}`
  const shape = (line: SweepLine) => `${provider(line)} ${line.variant}`
  const ofShapes = [...groupedBy(lines, shape).values()]
  // A line that ends before the others is nothing there, however high it ended.
  const bestAtEnd = (group: readonly SweepLine[]) => {
    const end = Math.max(...group.map(({ points }) => points.at(-1)!.at))
    return group.reduce((best, line) =>
      valueAt(line, end, valueOf) > valueAt(best, end, valueOf) ? line : best
    )
  }
  const anywhere = ofShapes.flatMap((group) => leading(group, bestAtEnd(group), valueOf))
  const atEnd = ofShapes.map(bestAtEnd)
  const fitting = [anywhere, atEnd].find(({ length }) => length <= mostInColumn)
  const ofProviders = [...groupedBy(lines, provider).values()]
  return new Set((fitting ?? ofProviders.map(bestAtEnd)).map(({ id }) => id))
}

function valueAt(line: SweepLine, at: number, valueOf: (point: SweepPoint) => number): number {
  const point = line.points.find((one) => one.at === at)
  return point ? valueOf(point) : 0
}

/** `first`, and what is clearly better than it, and than what was added before, somewhere on the axis. */
function leading(
  group: readonly SweepLine[],
  first: SweepLine,
  valueOf: (point: SweepPoint) => number
): SweepLine[] {
  const found = [first]
  for (const line of group) {
    const isBetter = line.points.some(
      (point) =>
        group.every((other) => valueOf(point) >= valueAt(other, point.at, valueOf)) &&
        found.every((other) => valueOf(point) > clearly * valueAt(other, point.at, valueOf))
    )
    if (isBetter) found.push(line)
  }
  return found
}
