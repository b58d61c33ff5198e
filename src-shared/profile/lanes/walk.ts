/** From slice to slice: under the pointer, before and after, and on the lanes above and below. */
import { endOf, firstEndingAfter, placeInRow, startOf, type Lanes } from './lanes'

/** The slice of a row at a time, or the nearest within `reachNs`; of several there the longest. -1: none. */
export function sliceAt(lanes: Lanes, row: number, ns: number, reachNs: number): number {
  const { slices } = lanes.rows[row]!
  let best = -1
  for (let at = firstEndingAfter(lanes, slices, ns - reachNs); at < slices.length; at++) {
    const slice = slices[at]!
    if (startOf(lanes, slice) > ns + reachNs) break
    if (startOf(lanes, slice) <= ns && endOf(lanes, slice) > ns) return slice
    if (best < 0 || lanes.timeline.durationNs[slice]! > lanes.timeline.durationNs[best]!)
      best = slice
  }
  return best
}

/** The slice before or after in the same row; -1 at its ends. */
export function besides(lanes: Lanes, row: number, slice: number, direction: 1 | -1): number {
  return lanes.rows[row]!.slices[placeInRow(lanes, row, slice) + direction] ?? -1
}

/** The slice of a row nearest to the middle of another. */
export function nearestIn(lanes: Lanes, row: number, slice: number): number {
  const { slices } = lanes.rows[row]!
  const ns = (startOf(lanes, slice) + endOf(lanes, slice)) / 2
  const at = firstEndingAfter(lanes, slices, ns)
  const distance = (place: number) => {
    const other = slices[place]
    if (other === undefined) return Infinity
    return Math.max(0, startOf(lanes, other) - ns, ns - endOf(lanes, other))
  }
  const nearest = distance(at - 1) < distance(at) ? at - 1 : at
  return slices[nearest] ?? -1
}
