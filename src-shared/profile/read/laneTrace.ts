/** Traces that are slices on lanes and nothing more: a tree by how they nest, and a timeline. */
import { PathTree } from '../tree/pathTree'
import type { ProfileFormat } from '../tree/profileTree'
import type { OpenedProfile } from './reader'
import type { TraceColumns } from './traceColumns'
import { timelineOf } from './traceTimeline'
import { TraceTreeBuilder } from './traceTree'

/** @param notes what was passed over, in sentences */
export function openedSlices(
  events: TraceColumns,
  format: ProfileFormat,
  notes: readonly string[],
  baseTimeNs: number | null
): OpenedProfile {
  const columns = events.finish()
  const paths = new PathTree()
  const found = new TraceTreeBuilder(paths, events, columns).addGeneric()
  const tree = paths.finish(format, [], true)
  tree.warnings.push(...found, ...notes)
  return { tree, timeline: timelineOf(events, columns, paths.order, { flows: [], baseTimeNs }) }
}

/** 'N things were passed over.', one sentence per kind. */
export function passedOver(kinds: ReadonlyMap<string, number>): string[] {
  return [...kinds].map(([kind, count]) => `${count} ${kind} were passed over.`)
}
