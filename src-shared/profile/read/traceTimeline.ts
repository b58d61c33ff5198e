/** The timeline of a trace's columns. */
import type { Timeline } from '../tree/timeline'
import type { FinishedColumns, TraceColumns } from './traceColumns'

/** @param order of each node of the tree under construction its number in the finished one; null where they are that */
export function timelineOf(
  events: TraceColumns,
  columns: FinishedColumns,
  order: Int32Array | null,
  more: Pick<Timeline, 'flows' | 'baseTimeNs' | 'counters'> = { flows: [], baseTimeNs: null }
): Timeline {
  const { name, category, lane, startNs, durationNs, node, correlation, bytes, facts } = columns
  return {
    count: events.count,
    strings: events.strings,
    name,
    category,
    lane,
    startNs,
    durationNs,
    node: order ? node.map((at) => order[at]!) : node,
    correlation,
    bytes,
    facts,
    lanes: events.lanes,
    ...more
  }
}
