/**
 * Sums of the slices of a row in constant time: totals at every 32nd slice, the rest by walking. So a bin of a pixel costs the
 * same whether it holds ten slices or a million, at every zoom, and is exact.
 */
import { groupOfSlice, type Groups } from './groups'
import { endOf, firstEndingAfter, firstFrom, startOf, type LaneRow, type Lanes } from './lanes'

const blockShift = 5
const block = 1 << blockShift

export class RowSums {
  private readonly durationNs: Float64Array
  private readonly ofBlocks: Float64Array
  private readonly groupsOfBlocks: Float64Array

  constructor(
    private readonly lanes: Lanes,
    private readonly row: LaneRow,
    private readonly groups: Groups
  ) {
    this.durationNs = lanes.timeline.durationNs
    const { slices } = row
    const width = groups.titles.length
    const blocks = (slices.length >> blockShift) + 1
    this.ofBlocks = new Float64Array(blocks)
    this.groupsOfBlocks = new Float64Array(blocks * width)
    const sums = new Float64Array(width)
    let total = 0
    for (let at = 0; at < slices.length; at++) {
      if ((at & (block - 1)) === 0) {
        this.ofBlocks[at >> blockShift] = total
        this.groupsOfBlocks.set(sums, (at >> blockShift) * width)
      }
      const ns = this.durationNs[slices[at]!]!
      total += ns
      sums[groupOfSlice(groups, slices[at]!)]! += ns
    }
    if ((slices.length & (block - 1)) === 0) {
      this.ofBlocks[blocks - 1] = total
      this.groupsOfBlocks.set(sums, (blocks - 1) * width)
    }
  }

  /** Time of the slices [from, to), ns. */
  busyNs(from: number, to: number): number {
    return this.before(to) - this.before(from)
  }

  /** Adds the times of the slices [from, to) by group to `sums`, ns. */
  addGroups(from: number, to: number, sums: Float64Array): void {
    const { slices } = this.row
    if (to - from <= 2 * block) {
      for (let at = from; at < to; at++) {
        const slice = slices[at]!
        sums[groupOfSlice(this.groups, slice)]! += this.durationNs[slice]!
      }
      return
    }
    this.addBefore(to, sums, 1)
    this.addBefore(from, sums, -1)
  }

  /** Time of the slices within a stretch, ns. */
  busyIn(startNs: number, endNs: number): number {
    const { from, to, before, behind } = this.part(startNs, endNs)
    return to > from ? Math.max(0, this.busyNs(from, to) - before - behind) : 0
  }

  /** Adds the time of the slices within a stretch by group to `sums`, ns. */
  addGroupsIn(startNs: number, endNs: number, sums: Float64Array): void {
    const { from, to, before, behind } = this.part(startNs, endNs)
    if (to <= from) return
    this.addGroups(from, to, sums)
    const { slices } = this.row
    sums[groupOfSlice(this.groups, slices[from]!)]! -= before
    sums[groupOfSlice(this.groups, slices[to - 1]!)]! -= behind
  }

  /** The slices of a stretch, and what of the first and the last lies outside it, ns. */
  private part(startNs: number, endNs: number) {
    const { lanes } = this
    const { slices } = this.row
    const from = firstEndingAfter(lanes, slices, startNs)
    const to = firstFrom(lanes, slices, endNs, from)
    if (to <= from) return { from, to, before: 0, behind: 0 }
    const before = Math.max(0, startNs - startOf(lanes, slices[from]!))
    const behind = Math.max(0, endOf(lanes, slices[to - 1]!) - endNs)
    return { from, to, before, behind }
  }

  private before(place: number): number {
    const { slices } = this.row
    let sum = this.ofBlocks[place >> blockShift]!
    for (let at = place & -block; at < place; at++) sum += this.durationNs[slices[at]!]!
    return sum
  }

  private addBefore(place: number, sums: Float64Array, sign: number): void {
    const { slices } = this.row
    const first = (place >> blockShift) * sums.length
    for (let group = 0; group < sums.length; group++)
      sums[group]! += sign * this.groupsOfBlocks[first + group]!
    for (let at = place & -block; at < place; at++) {
      const slice = slices[at]!
      sums[groupOfSlice(this.groups, slice)]! += sign * this.durationNs[slice]!
    }
  }
}

/** Sums of rows, made when a row is first asked for. */
export class AllRowSums {
  private readonly made: (RowSums | undefined)[] = []

  constructor(
    readonly lanes: Lanes,
    readonly groups: Groups
  ) {}

  of(row: number): RowSums {
    return (this.made[row] ??= new RowSums(this.lanes, this.lanes.rows[row]!, this.groups))
  }
}

/** The group that has most; 0 where none has any. */
export function largestGroup(sums: Float64Array): number {
  let largest = 0
  for (let group = 1; group < sums.length; group++) {
    if (sums[group]! > sums[largest]!) largest = group
  }
  return largest
}
