/** The timelines of several files as one: their lanes one file after the other, their clocks put together where they say when they began. */
import type { Timeline } from '../tree/timeline'
import { StringTable } from '../tree/stringTable'

export interface PartOfTimeline {
  /** 'rank 3' */
  name: string
  timeline: Timeline
  /** Of each node of the part's tree the one in the joined tree. */
  node: Int32Array
}

/** A timeline whose times are larger counts nanoseconds since 1970 and says no base: PyTorch's before 2.4. */
const sinceEpochNs = 1e18

/** @returns the timeline, which begins at 0, and in sentences how its clocks were put together */
export function joinTimelines(parts: readonly PartOfTimeline[]): {
  timeline: Timeline
  notes: string[]
} {
  const { offsets, baseTimeNs, notes } = alignClocks(parts)
  const count = parts.reduce((sum, { timeline }) => sum + timeline.count, 0)
  const joined: Timeline = {
    count,
    strings: new StringTable(),
    name: new Int32Array(count),
    category: new Int32Array(count),
    lane: new Int32Array(count),
    startNs: new Float64Array(count),
    durationNs: new Float64Array(count),
    node: new Int32Array(count),
    correlation: new Float64Array(count),
    bytes: new Float64Array(count),
    facts: new Int32Array(count),
    lanes: [],
    flows: [],
    baseTimeNs
  }
  let first = 0
  for (const [at, part] of parts.entries()) {
    append(joined, part, first, offsets[at]!)
    first += part.timeline.count
  }
  return { timeline: joined, notes }
}

function append(
  joined: Timeline,
  { name, timeline, node }: PartOfTimeline,
  first: number,
  offsetNs: number
): void {
  const stringOf = internedIn(joined.strings, timeline.strings)
  const firstLane = joined.lanes.length
  const part = (joined.lanes.at(-1)?.part ?? -1) + 1
  for (const lane of timeline.lanes)
    joined.lanes.push({
      ...lane,
      processId: `${name} ${lane.processId}`,
      processLabel: lane.processLabel === '' ? name : `${name}, ${lane.processLabel}`,
      part
    })
  joined.durationNs.set(timeline.durationNs, first)
  joined.correlation.set(timeline.correlation, first)
  joined.bytes.set(timeline.bytes, first)
  for (let event = 0; event < timeline.count; event++) {
    const to = first + event
    joined.name[to] = stringOf(timeline.name[event]!)
    joined.category[to] = stringOf(timeline.category[event]!)
    joined.facts[to] = stringOf(timeline.facts[event]!)
    joined.lane[to] = firstLane + timeline.lane[event]!
    joined.startNs[to] = timeline.startNs[event]! + offsetNs
    const at = timeline.node[event]!
    joined.node[to] = at < 0 ? -1 : node[at]!
  }
  for (const counter of timeline.counters ?? [])
    (joined.counters ??= []).push({
      ...counter,
      process: `${name}, ${counter.process}`,
      processId: `${name} ${counter.processId}`,
      ns: counter.ns.map((ns) => ns + offsetNs)
    })
  for (const { from, to } of timeline.flows)
    joined.flows.push({ from: first + from, to: first + to })
}

/** Ids of one table in another; each text crosses once. */
function internedIn(table: StringTable, from: StringTable): (id: number) => number {
  const ids = new Int32Array(from.size).fill(-1)
  return (id) => {
    if (id < 0) return -1
    if (ids[id]! < 0) ids[id] = table.intern(from.text(id))
    return ids[id]!
  }
}

/** What is added to the times of each part, ns, so that the first slice of all begins at 0. */
function alignClocks(parts: readonly PartOfTimeline[]): {
  offsets: number[]
  baseTimeNs: number | null
  notes: string[]
} {
  const spans = parts.map(({ timeline }) => spanOf(timeline))
  const bases = parts.map(
    ({ timeline: { baseTimeNs } }, at) =>
      baseTimeNs ?? (spans[at]!.startNs > sinceEpochNs ? 0 : null)
  )
  const silent = parts.filter((_, at) => bases[at] === null).map(({ name }) => name)
  if (silent.length > 0) {
    const notes = [
      `The clocks are not aligned, for nothing says when ${silent.join(', ')} began: each starts at 0, and what stands below one another did not run at the same time.`
    ]
    return { offsets: spans.map(({ startNs }) => 0 - startNs), baseTimeNs: null, notes }
  }
  // Bases differ by little or not at all: their difference is exact where they themselves fill a double.
  const shifts = bases.map((base) => base! - bases[0]!)
  const begins = spans.map(({ startNs }, at) => startNs + shifts[at]!)
  const origin = begins.reduce((least, at) => Math.min(least, at), Infinity)
  const notes = [
    'The clocks are aligned by the time of day that each file says it began: between hosts they agree as far as the clocks of the hosts do.'
  ]
  const ends = spans.map(({ endNs }, at) => endNs + shifts[at]!)
  if (Math.max(...begins) > Math.min(...ends))
    notes.push('They were not recorded at the same time: some end before others begin.')
  return { offsets: shifts.map((shift) => shift - origin), baseTimeNs: bases[0]! + origin, notes }
}

function spanOf({ count, startNs, durationNs }: Timeline): { startNs: number; endNs: number } {
  if (count === 0) return { startNs: 0, endNs: 0 }
  let [first, last] = [Infinity, -Infinity]
  for (let event = 0; event < count; event++) {
    first = Math.min(first, startNs[event]!)
    last = Math.max(last, startNs[event]! + durationNs[event]!)
  }
  return { startNs: first, endNs: last }
}
