/**
 * What is drawn of a window of time: boxes, of which those too thin to be told apart stand for several slices. Data alone, in
 * time and rows: who draws it places it, also in another window until the next scene is there.
 */
import type { FoundSlices } from './findSlices'
import { groupOfSlice } from './groups'
import { endOf, firstEndingAfter, firstFrom, startOf, type Lanes } from './lanes'
import { largestGroup, type AllRowSums } from './rowSums'
import type { Window } from './window'

export interface SceneQuery extends Window {
  /** Pixels that the window is wide. */
  width: number
  /** Rows to draw, by their index in Lanes. */
  rows: readonly number[]
}

export interface Scene extends Window {
  width: number
  count: number
  row: Int32Array<ArrayBuffer>
  start: Float64Array<ArrayBuffer>
  end: Float64Array<ArrayBuffer>
  /** The slice, or the first of several. */
  slice: Int32Array<ArrayBuffer>
  /** How many slices the box stands for. */
  several: Int32Array<ArrayBuffer>
  /** Group of the slice, or the one with the largest time of several. */
  group: Uint8Array<ArrayBuffer>
  /** Share of the box's time that its slices take, 1 to 255. */
  fill: Uint8Array<ArrayBuffer>
  /** 1 where it is, or holds, what was searched for. */
  hit: Uint8Array<ArrayBuffer>
  /** String id of the name where the box has room for one; -1. */
  name: Int32Array<ArrayBuffer>
}

/** Thinner than this, slices are drawn together. */
const thinnestPx = 2
/** Narrower than this a box has no name. */
const leastForName = 18
/** Bins whose fill differs less than this are drawn as one. */
const fillStep = 32

export function sceneOf(sums: AllRowSums, query: SceneQuery, found: FoundSlices | null): Scene {
  const builder = new SceneBuilder(sums, query, found)
  for (const row of query.rows) builder.addRow(row)
  return builder.finish()
}

class SceneBuilder {
  private readonly lanes: Lanes
  private readonly binNs: number
  private readonly groupSums: Float64Array
  private readonly boxes = new Boxes()

  constructor(
    private readonly sums: AllRowSums,
    private readonly query: SceneQuery,
    private readonly found: FoundSlices | null
  ) {
    this.lanes = sums.lanes
    this.binNs = (thinnestPx * (query.endNs - query.startNs)) / Math.max(1, query.width)
    this.groupSums = new Float64Array(sums.groups.titles.length)
  }

  addRow(row: number): void {
    const { lanes, binNs, query } = this
    const { slices } = lanes.rows[row]!
    let at = firstEndingAfter(lanes, slices, query.startNs)
    while (at < slices.length) {
      const slice = slices[at]!
      const start = startOf(lanes, slice)
      if (start >= query.endNs) break
      const isWide = lanes.timeline.durationNs[slice]! >= binNs
      const next = isWide ? at + 1 : this.endOfBin(slices, at, start)
      if (next === at + 1) this.addOne(row, at)
      else this.addSeveral(row, at, next)
      at = next
    }
  }

  /** The bins stand still when the window moves: they are counted from the first slice of all. */
  private endOfBin(slices: Int32Array, at: number, start: number): number {
    const { lanes, binNs } = this
    const binEnd = (Math.floor(start / binNs) + 1) * binNs
    // Most bins hold few slices: look near before looking everywhere.
    let reach = 4
    let from = at + 1
    while (at + reach < slices.length && startOf(lanes, slices[at + reach]!) < binEnd) {
      from = at + reach
      reach *= 4
    }
    const next = firstFrom(lanes, slices, binEnd, from, Math.min(slices.length, at + reach + 1))
    // What begins here and is wide enough to be seen reaches over the end of the bin, so it is the last one.
    const isLastWide = next - 1 > at && lanes.timeline.durationNs[slices[next - 1]!]! >= binNs
    return isLastWide ? next - 1 : Math.max(next, at + 1)
  }

  private addOne(row: number, at: number): void {
    const { lanes, query, boxes, sums } = this
    const slice = lanes.rows[row]!.slices[at]!
    const name = lanes.timeline.name[slice]!
    const pixels = (lanes.timeline.durationNs[slice]! / this.binNs) * thinnestPx
    const isNamed = pixels >= leastForName && query.width > 0
    boxes.push({
      row,
      start: startOf(lanes, slice),
      end: endOf(lanes, slice),
      slice,
      several: 1,
      group: groupOfSlice(sums.groups, slice),
      fill: 255,
      hit: this.found?.isHit(slice) ? 1 : 0,
      name: isNamed ? name : -1
    })
  }

  private addSeveral(row: number, from: number, to: number): void {
    const { lanes, boxes, sums, groupSums, binNs } = this
    const { slices } = lanes.rows[row]!
    const ofRow = sums.of(row)
    groupSums.fill(0)
    ofRow.addGroups(from, to, groupSums)
    const group = largestGroup(groupSums)
    const start = startOf(lanes, slices[from]!)
    const end = Math.max(endOf(lanes, slices[to - 1]!), start + binNs / thinnestPx)
    const share = Math.min(1, ofRow.busyNs(from, to) / (end - start))
    const fill = Math.max(1, Math.ceil(share * (255 / fillStep)) * fillStep - 1)
    const hit = this.found && this.found.countIn(row, from, to) > 0 ? 1 : 0
    const last = boxes.last
    // Neighbours that look the same are one box, so that a full row is not a thousand of them.
    const goesOn =
      last?.row === row &&
      last.several > 1 &&
      last.group === group &&
      last.fill === fill &&
      last.hit === hit &&
      start - last.end < binNs / thinnestPx
    if (goesOn) boxes.growLast(end, to - from)
    else
      boxes.push({
        row,
        start,
        end,
        slice: slices[from]!,
        several: to - from,
        group,
        fill,
        hit,
        name: -1
      })
  }

  finish(): Scene {
    const { startNs, endNs, width } = this.query
    return { startNs, endNs, width, ...this.boxes.columns() }
  }
}

interface Box {
  row: number
  start: number
  end: number
  slice: number
  several: number
  group: number
  fill: number
  hit: number
  name: number
}

/** Boxes as columns. */
class Boxes {
  private readonly boxes: Box[] = []

  get last(): Box | undefined {
    return this.boxes[this.boxes.length - 1]
  }

  push(box: Box): void {
    this.boxes.push(box)
  }

  growLast(end: number, several: number): void {
    this.last!.end = end
    this.last!.several += several
  }

  columns(): Omit<Scene, keyof SceneQuery> {
    const { boxes } = this
    return {
      count: boxes.length,
      row: Int32Array.from(boxes, ({ row }) => row),
      start: Float64Array.from(boxes, ({ start }) => start),
      end: Float64Array.from(boxes, ({ end }) => end),
      slice: Int32Array.from(boxes, ({ slice }) => slice),
      several: Int32Array.from(boxes, ({ several }) => several),
      group: Uint8Array.from(boxes, ({ group }) => group),
      fill: Uint8Array.from(boxes, ({ fill }) => fill),
      hit: Uint8Array.from(boxes, ({ hit }) => hit),
      name: Int32Array.from(boxes, ({ name }) => name)
    }
  }
}
