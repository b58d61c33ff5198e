/** Where nothing runs: of one stream, and of a whole device, which is the time that a faster kernel does not give back. */
import { inOrder } from './inOrder'
import { endOf, firstEndingAfter, startOf, workRows, type Lanes } from './lanes'
import type { Window } from './window'

export interface Gap extends Window {
  /** The slice that ends it; -1 where the range does. */
  next: number
}

/** Idle times of devices, ascending by start. */
export interface DeviceGaps {
  startNs: Float64Array
  endNs: Float64Array
  /** The slice that ends each, on whose lane it is drawn. */
  next: Int32Array
}

/** Shorter ones are what it takes to start the next kernel of a queue. */
export const leastGapNs = 5000

/** The longest time in a range in which nothing runs on a lane; null where something always does. */
export function longestGap(lanes: Lanes, lane: number, range: Window): Gap | null {
  let until = range.startNs
  let longest: Gap | null = null
  const end = (startNs: number, endNs: number, next: number) => {
    if (endNs - startNs > (longest ? longest.endNs - longest.startNs : 0))
      longest = { startNs, endNs, next }
  }
  inOrder(lanes, workRows(lanes, lanes.lanes[lane]!), range, (startNs, endNs, slice) => {
    if (startNs > until) end(until, startNs, slice)
    until = Math.max(until, endNs)
  })
  if (range.endNs > until) end(until, range.endNs, -1)
  return longest
}

/** Times of at least `leastNs` in which no stream of a device runs anything, between its first slice and its last. */
export function deviceGaps(lanes: Lanes, leastNs = leastGapNs): DeviceGaps {
  const rowsOfDevice = new Map<string, number[]>()
  for (const lane of lanes.lanes) {
    if (lane.kind !== 'stream') continue
    const rows = rowsOfDevice.get(lane.processId) ?? []
    rowsOfDevice.set(lane.processId, [...rows, ...workRows(lanes, lane)])
  }
  const found = [...rowsOfDevice.values()].flatMap((rows) => commonGaps(lanes, rows, leastNs))
  found.sort((a, b) => a.startNs - b.startNs)
  return {
    startNs: Float64Array.from(found, ({ startNs }) => startNs),
    endNs: Float64Array.from(found, ({ endNs }) => endNs),
    next: Int32Array.from(found, ({ next }) => next)
  }
}

/** Those of the fullest row, of which each other row leaves what it does not fill: every slice is looked at once at most. */
function commonGaps(lanes: Lanes, rows: readonly number[], leastNs: number): Gap[] {
  const fullestFirst = [...rows].sort(
    (a, b) => lanes.rows[b]!.slices.length - lanes.rows[a]!.slices.length
  )
  let gaps: Gap[] = [{ startNs: -Infinity, endNs: Infinity, next: -1 }]
  for (const row of fullestFirst) {
    gaps = gaps.flatMap((gap) => gapsWithin(lanes, lanes.rows[row]!.slices, gap, leastNs))
  }
  return gaps.filter(({ startNs, endNs }) => startNs > -Infinity && endNs < Infinity)
}

function gapsWithin(lanes: Lanes, slices: Int32Array, gap: Gap, leastNs: number): Gap[] {
  const left: Gap[] = []
  let until = gap.startNs
  for (let at = firstEndingAfter(lanes, slices, gap.startNs); at < slices.length; at++) {
    const next = slices[at]!
    const startNs = startOf(lanes, next)
    if (startNs >= gap.endNs) break
    if (startNs - until >= leastNs) left.push({ startNs: until, endNs: startNs, next })
    until = Math.max(until, endOf(lanes, next))
  }
  if (gap.endNs - until >= leastNs) left.push({ ...gap, startNs: until })
  return left
}

/** The gap that starts next after a time, or before it; -1 where there is none. */
export function nextGap({ startNs }: DeviceGaps, ns: number, direction: 1 | -1): number {
  let low = 0
  let high = startNs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (direction > 0 ? startNs[middle]! <= ns : startNs[middle]! < ns) low = middle + 1
    else high = middle
  }
  return direction > 0 ? (low < startNs.length ? low : -1) : low - 1
}
