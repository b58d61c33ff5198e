/**
 * A timeline ready to be drawn and asked: lanes of processes, each with rows in which no slice overlaps another, so that
 * every question is a binary search. A slice is an event of the timeline, named by its index there. Times are ns from the
 * first slice, as doubles: of a trace of hours a thousandth of a nanosecond is still told apart.
 */
import { deviceLanes, gpuAnnotation, gpuKinds } from '../tree/traceCategories'
import type { Timeline } from '../tree/timeline'
import { sortByStart } from './sortByStart'

/** 'stream': kernels and copies, one after another; 'thread': calls within calls, on a CPU or within a kernel. */
export type LaneKind = 'stream' | 'thread'

export interface LaneRow {
  lane: number
  /** Ascending by start, none overlaps the next. */
  slices: Int32Array
  /** False for what only annotates a stream: it takes no time of the device. */
  isWork: boolean
}

export interface ShownLane {
  name: string
  process: string
  processId: string
  processLabel: string
  part?: number
  kind: LaneKind
  /** Its rows, outermost first: rows[firstRow, firstRow + rowCount). */
  firstRow: number
  rowCount: number
  sliceCount: number
}

export interface Lanes {
  timeline: Timeline
  /** Of the first slice, in the time of the timeline. */
  originNs: number
  lengthNs: number
  lanes: ShownLane[]
  rows: LaneRow[]
  /** Slices nested deeper than the rows that a lane has: they are in the tree only. */
  tooDeep: number
}

/** Rows that a lane has at most: no screen shows more, and a trace may be nested a hundred thousand deep. */
const mostRows = 512

export const startOf = ({ timeline, originNs }: Lanes, slice: number): number =>
  timeline.startNs[slice]! - originNs

export const endOf = ({ timeline, originNs }: Lanes, slice: number): number =>
  timeline.startNs[slice]! - originNs + timeline.durationNs[slice]!

export const nameOf = ({ timeline }: Lanes, slice: number): string =>
  timeline.strings.text(timeline.name[slice]!)

export function lanesOf(timeline: Timeline): Lanes {
  const { count, startNs, durationNs } = timeline
  let originNs = Infinity
  let endNs = -Infinity
  for (let slice = 0; slice < count; slice++) {
    originNs = Math.min(originNs, startNs[slice]!)
    endNs = Math.max(endNs, startNs[slice]! + durationNs[slice]!)
  }
  if (count === 0) originNs = endNs = 0
  // Starts and ends that were rounded apart: in units of the last place of the largest, at least half a nanosecond.
  const slackNs = Math.max(0.5, Math.abs(endNs) * 2 ** -50)
  const found: Lanes = {
    timeline,
    originNs,
    lengthNs: endNs - originNs,
    lanes: [],
    rows: [],
    tooDeep: 0
  }
  const kinds = kindsOf(timeline)
  const isWork = workCategories(timeline)
  for (const [lane, slices] of slicesByLane(timeline).entries()) {
    sortByStart(slices, startNs, durationNs)
    const firstRow = found.rows.length
    const isStream = kinds[lane] === 'stream'
    const parts: [boolean, Int32Array][] = isStream
      ? [false, true].map((work) => [work, slicesThat(slices, isWork, work)])
      : [[true, slices]]
    for (const [work, part] of parts) {
      const { rows, left } = rowsOf(part, startNs, durationNs, slackNs)
      found.tooDeep += left
      for (const row of rows) found.rows.push({ lane, slices: row, isWork: work })
    }
    const rowCount = found.rows.length - firstRow
    const about = { kind: kinds[lane]!, firstRow, rowCount, sliceCount: slices.length }
    found.lanes.push({ ...timeline.lanes[lane]!, ...about })
  }
  return found
}

/** Index of the row that holds a slice, -1 for one that is too deep. */
export function rowOfSlice(lanes: Lanes, slice: number): number {
  const { firstRow, rowCount } = lanes.lanes[lanes.timeline.lane[slice]!]!
  for (let row = firstRow; row < firstRow + rowCount; row++) {
    if (placeInRow(lanes, row, slice) >= 0) return row
  }
  return -1
}

/** Place of a slice in a row, -1 where another row has it. */
export function placeInRow(lanes: Lanes, row: number, slice: number): number {
  const { slices } = lanes.rows[row]!
  const start = startOf(lanes, slice)
  for (let at = firstFrom(lanes, slices, start); at < slices.length; at++) {
    if (slices[at] === slice) return at
    if (startOf(lanes, slices[at]!) > start) break
  }
  return -1
}

/** The first place in [from, to) of a row whose slice starts at or after a time; `to` where none does. */
export function firstFrom(
  lanes: Lanes,
  slices: Int32Array,
  ns: number,
  from = 0,
  to = slices.length
): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (startOf(lanes, slices[middle]!) < ns) low = middle + 1
    else high = middle
  }
  return low
}

/** The first place in a row whose slice ends after a time, or starts at it. */
export function firstEndingAfter(lanes: Lanes, slices: Int32Array, ns: number): number {
  let low = 0
  let high = slices.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const slice = slices[middle]!
    if (endOf(lanes, slice) <= ns && startOf(lanes, slice) < ns) low = middle + 1
    else high = middle
  }
  return low
}

/** A lane's name, with that of its process where another has the same. */
export function laneTitle({ lanes }: Pick<Lanes, 'lanes'>, at: number): string {
  const { name, process, processLabel } = lanes[at]!
  const isAlone = lanes.every((other, place) => place === at || other.name !== name)
  return isAlone && name !== '' ? name : `${processLabel || process} ${name}`.trim() || 'no thread'
}

/** Rows of a lane that take time; what annotates a stream does not. */
export function workRows({ rows }: Lanes, { firstRow, rowCount }: ShownLane): number[] {
  const found: number[] = []
  for (let row = firstRow; row < firstRow + rowCount; row++) if (rows[row]!.isWork) found.push(row)
  return found
}

function kindsOf(timeline: Timeline): LaneKind[] {
  const isGpuCategory = categoryMask(timeline, (category) => gpuKinds.has(category))
  const isStream = deviceLanes(timeline.lanes).map((kind) => kind === 'work')
  const isInKernel = timeline.lanes.map(({ process }) => / Core\d+ CTA\d+$/.test(process))
  for (let slice = 0; slice < timeline.count; slice++) {
    const lane = timeline.lane[slice]!
    if (isGpuCategory[timeline.category[slice]!] && !isInKernel[lane]) isStream[lane] = true
  }
  return isStream.map((stream) => (stream ? 'stream' : 'thread'))
}

const annotations = new Set([gpuAnnotation, 'user_annotation', 'scope', 'metric'])

function workCategories(timeline: Timeline): (slice: number) => boolean {
  const isAnnotation = categoryMask(timeline, (category) => annotations.has(category))
  return (slice) => !isAnnotation[timeline.category[slice]!]
}

/** As filter does, which calls back through a slower door. */
function slicesThat(slices: Int32Array, test: (slice: number) => boolean, is: boolean): Int32Array {
  const found = new Int32Array(slices.length)
  let count = 0
  for (const slice of slices) if (test(slice) === is) found[count++] = slice
  return found.slice(0, count)
}

/** By string id; ids of other strings are asked only when they are a category. */
function categoryMask(
  { category, strings, count }: Timeline,
  is: (name: string) => boolean
): Uint8Array {
  const mask = new Uint8Array(strings.size)
  const ids = new Set<number>()
  for (let slice = 0; slice < count; slice++) ids.add(category[slice]!)
  for (const id of ids) mask[id] = Number(is(strings.text(id).toLowerCase()))
  return mask
}

function slicesByLane({ lane, lanes, count }: Timeline): Int32Array[] {
  const size = new Int32Array(lanes.length)
  for (let slice = 0; slice < count; slice++) size[lane[slice]!]!++
  const found = Array.from(size, (slices) => new Int32Array(slices))
  const filled = new Int32Array(lanes.length)
  for (let slice = 0; slice < count; slice++) {
    const at = lane[slice]!
    found[at]![filled[at]!++] = slice
  }
  return found
}

/** Each slice into the first row that is free at its start: of slices that nest, the row is the level. */
function rowsOf(
  slices: Int32Array,
  startNs: Float64Array,
  durationNs: Float64Array,
  slackNs: number
): { rows: Int32Array[]; left: number } {
  const rowOf = new Uint16Array(slices.length)
  const ends: number[] = []
  const sizes: number[] = []
  let left = 0
  for (let at = 0; at < slices.length; at++) {
    const start = startNs[slices[at]!]!
    let row = 0
    while (row < ends.length && ends[row]! > start + slackNs) row++
    if (row === mostRows) left++
    else {
      ends[row] = start + durationNs[slices[at]!]!
      sizes[row] = (sizes[row] ?? 0) + 1
    }
    rowOf[at] = row
  }
  const rows = sizes.map((size) => new Int32Array(size))
  const filled = new Int32Array(rows.length)
  for (let at = 0; at < slices.length; at++) {
    const row = rowOf[at]!
    if (row < rows.length) rows[row]![filled[row]!++] = slices[at]!
  }
  return { rows, left }
}
