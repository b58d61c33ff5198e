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
  { width, apart, withRatio }: { width: number; apart: boolean; withRatio: boolean }
): Facets {
  const formats = [...new Set(lines.map(({ format }) => format))]
  const groups = apart && formats.length > 1 ? formats : ['']
  const room = width - margin.left - margin.right
  const fitting = Math.max(1, Math.floor((room + gap) / (leastWidth + gap)))
  const columns = Math.min(groups.length, fitting, mostColumns)
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
  return { panels, width, height: Math.ceil(groups.length / columns) * rowHeight }
}

export interface EndLabel {
  line: SweepLine
  /** Pixels from the line's end, up is negative; undefined: there is no room, the tooltip has it. */
  offset: number | undefined
}

const labelHeight = 14

/** Labels at the ends of lines: above its own line, else below it, else left out. `y` in pixels from above, of a panel this high. */
export function placeLabels(
  ends: readonly { line: SweepLine; y: number }[],
  height = Infinity
): EndLabel[] {
  const placed: number[] = []
  const clear = (at: number, own: number) =>
    at <= height - labelHeight / 2 &&
    placed.every((other) => Math.abs(other - at) >= labelHeight) &&
    ends.every(({ y }) => y === own || Math.abs(y - at) >= labelHeight / 2)
  const sorted = [...ends].sort((a, b) => a.y - b.y)
  return sorted.map(({ line, y }) => {
    const offset = [-11, 12].find((by) => clear(y + by, y))
    if (offset !== undefined) placed.push(y + offset)
    return { line, offset }
  })
}

/** More lines than this in one panel are too many to name: the best of each provider stand out. */
export const mostNamed = 6

/** Lines of a panel that are drawn in full; the others step back. */
export function standingOut(
  lines: readonly SweepLine[],
  valueOf: (line: SweepLine) => number,
  providerOf: (line: SweepLine) => string
): ReadonlySet<string> {
  if (lines.length <= mostNamed) return new Set(lines.map(({ id }) => id))
  const best = new Map<string, SweepLine>()
  for (const line of lines) {
    const key = `${providerOf(line)} ${line.overlay}`
    const before = best.get(key)
    if (!before || valueOf(line) > valueOf(before)) best.set(key, line)
  }
  return new Set([...best.values()].map(({ id }) => id))
}
