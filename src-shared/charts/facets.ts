/** Where the panels of a chart over K, M or N stand: one for each format, of the same size, a ratio chart below each. */
import type { SweepLine } from './sweepSeries'

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
/** Of several shapes: the best of each provider at each of them, while a column beside the panel holds their names. */
const mostOfShapes = 14

/** Lines of a panel that are drawn in full; the others step back. */
export function standingOut(
  lines: readonly SweepLine[],
  valueOf: (line: SweepLine) => number,
  providerOf: (line: SweepLine) => string
): ReadonlySet<string> {
  if (lines.length <= mostNamed) return new Set(lines.map(({ id }) => id))
  const bestOf = (keyOf: (line: SweepLine) => string) => {
    const best = new Map<string, SweepLine>()
    for (const line of lines) {
      const before = best.get(keyOf(line))
      if (!before || valueOf(line) > valueOf(before)) best.set(keyOf(line), line)
    }
    return new Set([...best.values()].map(({ id }) => id))
  }
  const provider = (line: SweepLine) => `${providerOf(line)} ${line.overlay}`
  const ofShapes = bestOf((line) => `${provider(line)} ${line.variant}`)
  return ofShapes.size <= mostOfShapes ? ofShapes : bestOf(provider)
}
