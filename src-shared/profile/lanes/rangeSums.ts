/** What a stretch of time holds: sums by kernel, and how busy each stream is in it. */
import { demangle } from '../ask/demangle'
import { longestGap, type Gap } from './gaps'
import { groupOfSlice } from './groups'
import { inOrder } from './inOrder'
import {
  endOf,
  firstEndingAfter,
  nameOf,
  startOf,
  workRows,
  type Lanes,
  type ShownLane
} from './lanes'
import type { AllRowSums } from './rowSums'
import type { Window } from './window'

export interface NameSum {
  name: string
  group: number
  /** Lanes it runs on, by index. */
  lanes: number[]
  /** Slices that touch the range. */
  count: number
  /** Their time within the range, ns; of calls, less that of what they call. */
  ns: number
  /** The slice that takes most of it. */
  longest: number
}

export interface LaneSum {
  lane: number
  count: number
  /** Time in which something runs on the lane, ns. */
  busyNs: number
  /** Of a stream the longest time in which nothing does; null where there is none. */
  gap: Gap | null
}

export interface RangeSums extends Window {
  /** By time, the most first. */
  names: NameSum[]
  lanes: LaneSum[]
  count: number
  /** Time of all names, ns: of several streams side by side it may exceed the range. */
  ns: number
}

/** Streams where there are any: what runs on a GPU is what the time went to; else every lane of calls. */
export function workLanes({ lanes }: Lanes): number[] {
  const streams = lanes.flatMap(({ kind }, lane) => (kind === 'stream' ? [lane] : []))
  return streams.length > 0 ? streams : [...lanes.keys()]
}

/** @param among lanes to sum, by index. */
export function rangeSums(
  sums: AllRowSums,
  { startNs, endNs }: Window,
  among: readonly number[]
): RangeSums {
  const { lanes } = sums
  const byName: (NameSum | undefined)[] = []
  const ofLanes: LaneSum[] = []
  for (const at of among) {
    const lane = lanes.lanes[at]!
    const own: LaneSum = { lane: at, count: 0, busyNs: 0, gap: null }
    for (const row of workRows(lanes, lane)) addRow(sums, row, { startNs, endNs }, byName, own)
    if (own.count > 0) {
      own.busyNs = Math.min(busyOfLane(sums, lane, { startNs, endNs }), endNs - startNs)
      if (lane.kind === 'stream') own.gap = longestGap(lanes, at, { startNs, endNs })
    }
    ofLanes.push(own)
  }
  const names = byName.filter((one) => one !== undefined)
  const total = (of: (one: NameSum) => number) => names.reduce((sum, one) => sum + of(one), 0)
  return {
    startNs,
    endNs,
    names: joinedByShownName(names),
    lanes: ofLanes,
    count: total(({ count }) => count),
    ns: total(({ ns }) => ns)
  }
}

function addRow(
  sums: AllRowSums,
  row: number,
  range: Window,
  /** By string id. */
  byName: (NameSum | undefined)[],
  own: LaneSum
): void {
  const { lanes, groups } = sums
  const { timeline } = lanes
  const { slices, lane } = lanes.rows[row]!
  const isNested = lanes.lanes[lane]!.kind === 'thread'
  const last = lanes.lanes[lane]!.firstRow + lanes.lanes[lane]!.rowCount - 1
  for (let at = firstEndingAfter(lanes, slices, range.startNs); at < slices.length; at++) {
    const slice = slices[at]!
    const start = Math.max(startOf(lanes, slice), range.startNs)
    if (start >= range.endNs) break
    const end = Math.min(endOf(lanes, slice), range.endNs)
    const within = isNested && row < last ? sums.of(row + 1).busyIn(start, end) : 0
    const ns = Math.max(0, end - start - within)
    const id = timeline.name[slice]!
    own.count++
    let sum = byName[id]
    if (!sum) {
      sum = {
        name: nameOf(lanes, slice),
        group: groupOfSlice(groups, slice),
        lanes: [],
        count: 0,
        ns: 0,
        longest: slice
      }
      byName[id] = sum
    }
    sum.count++
    sum.ns += ns
    if (timeline.durationNs[slice]! > timeline.durationNs[sum.longest]!) sum.longest = slice
    if (sum.lanes[sum.lanes.length - 1] !== lane) sum.lanes.push(lane)
  }
}

/** Names that are told apart only by how they are mangled are one. */
function joinedByShownName(names: readonly NameSum[]): NameSum[] {
  const joined = new Map<string, NameSum>()
  for (const one of names) {
    const name = demangle(one.name)
    const before = joined.get(name)
    if (!before) joined.set(name, { ...one, name, lanes: [...new Set(one.lanes)] })
    else {
      before.count += one.count
      before.ns += one.ns
      before.lanes = [...new Set([...before.lanes, ...one.lanes])]
    }
  }
  return [...joined.values()].sort((a, b) => b.ns - a.ns || b.count - a.count)
}

/** Of calls the outermost row says it; on a stream, where kernels overlap, their times are joined. */
function busyOfLane(sums: AllRowSums, lane: ShownLane, range: Window): number {
  const { lanes } = sums
  const rows = workRows(lanes, lane)
  if (rows.length === 1 || lane.kind === 'thread')
    return rows.length === 0 ? 0 : sums.of(rows[0]!).busyIn(range.startNs, range.endNs)
  let busy = 0
  let until = range.startNs
  inOrder(lanes, rows, range, (start, end) => {
    const from = Math.max(start, until)
    const to = Math.min(end, range.endNs)
    if (to > from) busy += to - from
    until = Math.max(until, to)
  })
  return busy
}
