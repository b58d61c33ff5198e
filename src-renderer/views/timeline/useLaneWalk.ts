/** Ways through the lanes that are no gesture on them: from slice to slice, from gap to gap, out and in again. */
import { fitted, lengthOf, showing, type Span, type SpanLimits } from '../../canvas/span'
import { useMessages } from '../../stores/messages'
import type { useTimeline } from '../../stores/timeline'

export interface LaneWalk {
  span: () => Span
  limits: () => SpanLimits
  set: (to: Span, smoothly?: boolean) => void
  /** Rows of the lanes that are drawn, from the top. */
  drawnRows: () => readonly number[]
  reveal: (row: number) => void
  /** Ends a measuring that is under way; false where there is none. */
  endMeasuring: () => boolean
}

interface Place {
  startNs: number
  endNs: number
}
export const spanOf = ({ startNs, endNs }: Place): Span => ({ start: startNs, end: endNs })

export function useLaneWalk(timeline: ReturnType<typeof useTimeline>, lanes: LaneWalk) {
  const messages = useMessages()

  /** Brings a slice into sight, in time and among the lanes. */
  function show(place: Place & { row: number }): void {
    lanes.set(showing(lanes.span(), spanOf(place), lanes.limits()), true)
    lanes.reveal(place.row)
  }

  /** Shows what is selected by now. */
  function showSelected(): void {
    if (timeline.facts) show(timeline.facts)
  }

  async function choose(slice: number): Promise<void> {
    await timeline.select(slice)
    showSelected()
  }

  /** The selection, else the range, else all of it; all of it where that is what is shown. */
  function fit(): void {
    const [of, limits] = [timeline.facts ?? timeline.range, lanes.limits()]
    const to = of ? fitted(spanOf(of), limits, 0.05) : limits.whole
    const isThere = Math.abs(lengthOf(to) - lengthOf(lanes.span())) < 1e-3 * lengthOf(to)
    lanes.set(isThere ? limits.whole : to, true)
  }

  async function toGap(direction: 1 | -1): Promise<void> {
    const span = lanes.span()
    const from = timeline.range ?? { startNs: direction > 0 ? span.start : span.end }
    const gap = await timeline.gapFrom(from.startNs, direction)
    if (!gap) {
      messages.say(`No stream is idle for over 5 µs ${direction > 0 ? 'after' : 'before'} this.`)
      return
    }
    timeline.setRange(gap)
    const wide = Math.max(lengthOf(span), (gap.endNs - gap.startNs) * 1.2)
    const middle = (gap.startNs + gap.endNs) / 2
    const isSeen = gap.startNs >= span.start && gap.endNs <= span.end
    if (!isSeen) lanes.set({ start: middle - wide / 2, end: middle + wide / 2 }, true)
  }

  function clear(): void {
    if (lanes.endMeasuring()) return
    if (timeline.range) timeline.setRange(undefined)
    else if (timeline.facts) void timeline.select(-1)
    else lanes.set(lanes.limits().whole, true)
  }

  async function stepRow(by: 1 | -1): Promise<void> {
    const rows = lanes.drawnRows()
    const to = rows[rows.indexOf(timeline.facts?.row ?? -1) + by]
    if (to !== undefined) await timeline.stepToRow(to)
  }

  async function onKey(event: KeyboardEvent): Promise<void> {
    const moves: Record<string, () => Promise<void> | void> = {
      ArrowLeft: () => timeline.stepBeside(-1),
      ArrowRight: () => timeline.stepBeside(1),
      ArrowUp: () => stepRow(-1),
      ArrowDown: () => stepRow(1),
      Enter: () => timeline.facts && timeline.setRange(timeline.facts),
      Escape: clear
    }
    const move = moves[event.key]
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const isArrow = event.key.startsWith('Arrow')
    if (isArrow && !timeline.facts) {
      const [row] = lanes.drawnRows()
      const { start, end } = lanes.span()
      if (row !== undefined) await timeline.selectAt(row, (start + end) / 2, Infinity)
    } else await move()
    if (isArrow) showSelected()
  }

  return { showSelected, choose, fit, toGap, onKey }
}
