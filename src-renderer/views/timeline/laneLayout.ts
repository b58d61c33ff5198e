/** Where each lane and each of its rows is drawn, in pixels from the top of all lanes. Pure. */
import type { ShownLane } from '@shared/profile/lanes/lanes'

export interface LaneState {
  /** Processes whose lanes are not shown, by their key. */
  closed: ReadonlySet<string>
  /** Lanes that show all their rows, by index. */
  unfolded: ReadonlySet<number>
  hidden: ReadonlySet<number>
  /** Lanes that stay at the top, by index, in this order. */
  pinned: readonly number[]
}

export interface RowPlace {
  row: number
  y: number
  height: number
}

export interface ProcessItem {
  kind: 'process'
  key: string
  title: string
  y: number
  height: number
  isOpen: boolean
  laneCount: number
}

export interface LaneItem {
  kind: 'lane'
  lane: number
  title: string
  about: string
  y: number
  height: number
  rows: RowPlace[]
  /** Rows that are not drawn until it is unfolded. */
  foldedRows: number
  isUnfolded: boolean
}

export interface LaneLayout {
  items: (ProcessItem | LaneItem)[]
  rows: RowPlace[]
  height: number
}

const processHeight = 22
/** Room for its title and what it is about. */
const leastLaneHeight = 38
const streamRow = 30
const callRow = 20
const annotationRow = 18
const padding = 4
/** Rows that a deep lane shows at first. */
export const rowsWhenFolded = 6

export const processKey = ({ process, processId }: ShownLane): string => `${process}\0${processId}`

/** Of pinned lanes alone, or of all others below the headings of their processes. */
export function layLanes(
  lanes: readonly ShownLane[],
  isWork: readonly boolean[],
  state: LaneState,
  part: 'pinned' | 'others',
  aboutOf: (lane: number) => string = () => ''
): LaneLayout {
  const items: LaneLayout['items'] = []
  let y = 0
  const add = (lane: number) => {
    const item = laneItem(lanes[lane]!, lane, isWork, state.unfolded.has(lane), y, aboutOf(lane))
    items.push(item)
    y += item.height
  }
  if (part === 'pinned') {
    for (const lane of state.pinned) if (!state.hidden.has(lane)) add(lane)
  } else {
    for (const [key, found] of byProcess(lanes)) {
      const shown = found.filter((at) => !state.hidden.has(at) && !state.pinned.includes(at))
      if (shown.length === 0) continue
      const isOpen = !state.closed.has(key)
      const title = titleOfProcess(lanes[shown[0]!]!)
      const laneCount = shown.length
      items.push({ kind: 'process', key, title, y, height: processHeight, isOpen, laneCount })
      y += processHeight
      if (isOpen) shown.forEach(add)
    }
  }
  const rows = items.flatMap((item) => (item.kind === 'lane' ? item.rows : []))
  return { items, rows, height: y }
}

/** File by file; in each, processes of calls before those of streams, lanes by their names: 'stream 7' before 'stream 20'. */
function byProcess(lanes: readonly ShownLane[]): [string, number[]][] {
  const found = new Map<string, number[]>()
  for (const [at, lane] of lanes.entries()) {
    const key = processKey(lane)
    const before = found.get(key)
    if (before) before.push(at)
    else found.set(key, [at])
  }
  const hasStreams = (among: readonly number[]) => among.some((at) => lanes[at]!.kind === 'stream')
  const byName = new Intl.Collator('en', { numeric: true }).compare
  for (const among of found.values()) {
    among.sort(
      (a, b) =>
        Number(lanes[a]!.kind === 'stream') - Number(lanes[b]!.kind === 'stream') ||
        byName(lanes[a]!.name, lanes[b]!.name)
    )
  }
  const partOf = ([first]: readonly number[]) => lanes[first!]!.part ?? 0
  return [...found].sort(
    ([, a], [, b]) => partOf(a) - partOf(b) || Number(hasStreams(a)) - Number(hasStreams(b))
  )
}

function titleOfProcess({ process, processId, processLabel }: ShownLane): string {
  const more = processLabel || (processId === process ? '' : processId)
  return [process, more].filter((part) => part !== '').join(', ') || 'No process'
}

function laneItem(
  shown: ShownLane,
  lane: number,
  isWork: readonly boolean[],
  isUnfolded: boolean,
  y: number,
  streamAbout: string
): LaneItem {
  const count = isUnfolded ? shown.rowCount : Math.min(shown.rowCount, rowsWhenFolded)
  // Of a stream what runs on it is at the bottom, and more worth seeing than what annotates it.
  const first = shown.kind === 'stream' ? shown.firstRow + shown.rowCount - count : shown.firstRow
  const rows: RowPlace[] = []
  let at = y + padding
  for (let row = first; row < first + count; row++) {
    const height =
      shown.kind === 'thread' ? callRow : isWork[row] === false ? annotationRow : streamRow
    rows.push({ row, y: at, height: height - 2 })
    at += height
  }
  const height = Math.max(leastLaneHeight, at - y + padding - 2)
  const foldedRows = shown.rowCount - rowsWhenFolded
  const about = shown.kind === 'stream' ? streamAbout : `${shown.rowCount} deep`
  return {
    kind: 'lane',
    lane,
    title: shown.name || 'No thread',
    about,
    y,
    height,
    rows,
    foldedRows: Math.max(0, foldedRows),
    isUnfolded
  }
}

/** Rows that lie, wholly or in part, between two heights. */
export function rowsBetween({ rows }: LaneLayout, top: number, bottom: number): number[] {
  return rows.filter(({ y, height }) => y < bottom && y + height > top).map(({ row }) => row)
}

/** The row at a height, with the gap to its neighbours; undefined over a heading. */
export function rowAt({ rows }: LaneLayout, y: number): RowPlace | undefined {
  return rows.find((place) => y >= place.y - 1 && y < place.y + place.height + 1)
}
