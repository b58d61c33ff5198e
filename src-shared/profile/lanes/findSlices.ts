/** Slices whose name is searched for: counted, and walked through in the order of time. Each name is tested once. */
import { demangle } from '../ask/demangle'
import { nameTest } from '../ask/nameMatcher'
import { firstFrom, startOf, type Lanes } from './lanes'

const blockShift = 5
const block = 1 << blockShift

export class FoundSlices {
  private readonly isName: Uint8Array
  /** Hits before every 32nd slice of a row. */
  private readonly ofBlocks: (Uint32Array | undefined)[] = []
  readonly count: number

  /** @param text as in every search here: a substring of any case, or a /regular expression/. */
  constructor(
    private readonly lanes: Lanes,
    text: string
  ) {
    const { name, count, strings } = lanes.timeline
    const test = nameTest(text, { ignoreCase: true })
    this.isName = new Uint8Array(strings.size)
    const tested = new Uint8Array(strings.size)
    let found = 0
    for (let slice = 0; slice < count; slice++) {
      const id = name[slice]!
      if (!tested[id]) {
        tested[id] = 1
        const own = strings.text(id)
        this.isName[id] = Number(test(own) || test(demangle(own)))
      }
      found += this.isName[id]!
    }
    this.count = found
  }

  isHit(slice: number): boolean {
    return this.isName[this.lanes.timeline.name[slice]!] === 1
  }

  /** Hits among the slices [from, to) of a row. */
  countIn(row: number, from: number, to: number): number {
    return this.before(row, to) - this.before(row, from)
  }

  /**
   * The hit that starts next after a slice, or before it, over all rows; round the end to the other. -1 where there is none.
   * @param from a slice, or -1: the first of all, or the last.
   */
  next(from: number, direction: 1 | -1): number {
    if (this.count === 0) return -1
    const ahead = this.nearest(from, direction)
    return ahead >= 0 ? ahead : this.nearest(-1, direction)
  }

  /** Its place in the order of time, from 1; 0 for a slice that is no hit. */
  placeOf(slice: number): number {
    if (slice < 0 || !this.isHit(slice)) return 0
    const { lanes } = this
    let place = 0
    const start = startOf(lanes, slice)
    lanes.rows.forEach(({ slices }, row) => {
      const at = firstFrom(lanes, slices, start)
      place += this.countIn(row, 0, at)
      for (let same = at; same < slices.length; same++) {
        if (startOf(lanes, slices[same]!) > start) break
        if (this.isHit(slices[same]!) && slices[same]! <= slice) place++
      }
    })
    return place
  }

  /** Of slices that start together the one with the lower number is first. */
  private nearest(from: number, direction: 1 | -1): number {
    const { lanes } = this
    let best = -1
    const isBefore = (a: number, b: number) =>
      startOf(lanes, a) < startOf(lanes, b) || (startOf(lanes, a) === startOf(lanes, b) && a < b)
    const isBeyond = (slice: number) =>
      from < 0 || (direction > 0 ? isBefore(from, slice) : isBefore(slice, from))
    lanes.rows.forEach(({ slices }, row) => {
      let at = direction > 0 ? 0 : slices.length - 1
      if (from >= 0) {
        at = firstFrom(lanes, slices, startOf(lanes, from))
        if (direction < 0)
          while (at < slices.length && startOf(lanes, slices[at]!) === startOf(lanes, from)) at++
        if (direction < 0) at = Math.min(at, slices.length - 1)
      }
      while (at >= 0 && at < slices.length) {
        const slice = slices[at]!
        if (this.isHit(slice) && isBeyond(slice)) {
          const isBetter = direction > 0 ? isBefore(slice, best) : isBefore(best, slice)
          if (best < 0 || isBetter) best = slice
          // Those that start with it and have a lower number may come after it in the row.
          const tied = slices[at + direction]
          if (tied === undefined || startOf(lanes, tied) !== startOf(lanes, slice)) break
        }
        at = this.skip(row, at + direction, direction)
      }
    })
    return best
  }

  /** Over whole blocks without a hit. */
  private skip(row: number, at: number, direction: 1 | -1): number {
    const { length } = this.lanes.rows[row]!.slices
    for (;;) {
      const first = at & -block
      const isAtEdge = direction > 0 ? at === first : at === first + block - 1
      if (at < 0 || at >= length || !isAtEdge) return at
      if (this.countIn(row, first, Math.min(length, first + block)) > 0) return at
      at += direction * block
    }
  }

  private before(row: number, place: number): number {
    const { slices } = this.lanes.rows[row]!
    const counts = (this.ofBlocks[row] ??= this.countBlocks(slices))
    let sum = counts[place >> blockShift]!
    for (let at = place & -block; at < place; at++) if (this.isHit(slices[at]!)) sum++
    return sum
  }

  private countBlocks(slices: Int32Array): Uint32Array {
    const counts = new Uint32Array((slices.length >> blockShift) + 1)
    let sum = 0
    for (let at = 0; at < slices.length; at++) {
      if ((at & (block - 1)) === 0) counts[at >> blockShift] = sum
      if (this.isHit(slices[at]!)) sum++
    }
    if ((slices.length & (block - 1)) === 0) counts[counts.length - 1] = sum
    return counts
  }
}
