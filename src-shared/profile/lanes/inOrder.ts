import { endOf, firstEndingAfter, startOf, type Lanes } from './lanes'
import type { Window } from './window'

/** Calls back for the slices of several rows in a stretch of time, in the order of their starts. */
export function inOrder(
  lanes: Lanes,
  rows: readonly number[],
  { startNs, endNs }: Window,
  take: (startNs: number, endNs: number, slice: number) => void
): void {
  const all = rows.map((row) => lanes.rows[row]!.slices)
  const places = all.map((slices) => firstEndingAfter(lanes, slices, startNs))
  const starts = all.map((slices, at) => startAt(lanes, slices, places[at]!))
  for (;;) {
    let first = -1
    let least = endNs
    for (let at = 0; at < starts.length; at++) {
      if (starts[at]! < least) {
        least = starts[at]!
        first = at
      }
    }
    if (first < 0) return
    const slice = all[first]![places[first]!++]!
    starts[first] = startAt(lanes, all[first]!, places[first]!)
    take(least, endOf(lanes, slice), slice)
  }
}

const startAt = (lanes: Lanes, slices: Int32Array, place: number): number =>
  place < slices.length ? startOf(lanes, slices[place]!) : Infinity
