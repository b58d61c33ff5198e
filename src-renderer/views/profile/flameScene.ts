/** What of a flame graph is drawn: the boxes of a stretch, level by level. Time goes with the pixels, not with the nodes. */
import {
  boxUnder,
  firstBeyond,
  firstFrom,
  widestOf,
  type FlameLayout
} from '@shared/profile/ask/flame'
import { pixelOf, valueAt, type Span } from '../../canvas/span'

/** Narrower boxes are drawn together, pixels. */
export const thin = 2
export const rowHeight = 22

export interface SceneBox {
  level: number
  x: number
  width: number
  /** Boxes of the layout: [from, to), more than one where they are too narrow to be told apart. */
  from: number
  to: number
  /** The widest of them. */
  box: number
  /** How much of the width they cover, 0 to 1. */
  covered: number
}

export interface SceneView {
  span: Span
  /** Pixels. */
  width: number
  firstLevel: number
  /** The one after the last. */
  endLevel: number
}

export function sceneBoxes(layout: FlameLayout, view: SceneView): SceneBox[] {
  const boxes: SceneBox[] = []
  const { levelStart } = layout
  const end = Math.min(view.endLevel, levelStart.length - 1)
  for (let level = Math.max(0, view.firstLevel); level < end; level++) {
    const stop = levelStart[level + 1]!
    let at = firstBeyond(layout, view.span.start, levelStart[level]!, stop)
    const last = firstFrom(layout, view.span.end, at, stop)
    while (at < last) {
      const to = runEnd(layout, view, at, last)
      boxes.push(boxOf(layout, view, level, at, to))
      at = to
    }
  }
  return boxes
}

/** One after the last box that is drawn together with `at`. */
function runEnd({ x0, x1 }: FlameLayout, { span, width }: SceneView, at: number, last: number) {
  const left = pixelOf(x0[at]!, span, width)
  if (pixelOf(x1[at]!, span, width) - left >= thin) return at + 1
  const limit = valueAt(Math.max(left, 0) + thin, span, width)
  let [low, high] = [at + 1, last]
  while (low < high) {
    const middle = (low + high) >> 1
    if (x0[middle]! >= limit) high = middle
    else low = middle + 1
  }
  // A wide one at the end of a run stands for itself.
  const wide = ((span.end - span.start) / width) * thin
  return low - 1 > at && x1[low - 1]! - x0[low - 1]! >= wide ? low - 1 : low
}

function boxOf(
  layout: FlameLayout,
  { span, width }: SceneView,
  level: number,
  from: number,
  to: number
): SceneBox {
  const { x0, x1, covered } = layout
  const x = pixelOf(x0[from]!, span, width)
  const wide = pixelOf(x1[to - 1]!, span, width) - x
  const reach = x1[to - 1]! - x0[from]!
  return {
    level,
    x,
    width: wide,
    from,
    to,
    box: to - from === 1 ? from : widestOf(layout, from, to),
    covered: reach > 0 ? Math.min(1, (covered[to]! - covered[from]!) / reach) : 1
  }
}

/** The box of the layout under a point of the picture; among those too narrow to be told apart the widest. */
export function boxAtPoint(
  layout: FlameLayout,
  { span, width }: Pick<SceneView, 'span' | 'width'>,
  level: number,
  x: number
): number {
  const { levelStart } = layout
  if (level < 0 || level + 1 >= levelStart.length) return -1
  const exact = boxUnder(layout, level, valueAt(x, span, width))
  const isWide = (box: number) =>
    pixelOf(layout.x1[box]!, span, width) - pixelOf(layout.x0[box]!, span, width) >= thin
  if (exact >= 0 && isWide(exact)) return exact
  const [from, stop] = [levelStart[level]!, levelStart[level + 1]!]
  const first = firstBeyond(layout, valueAt(x - thin, span, width), from, stop)
  const after = firstFrom(layout, valueAt(x + thin, span, width), first, stop)
  return after > first ? widestOf(layout, first, after) : -1
}

/** For each box how many before it are hits, so that a run of boxes is asked in one step. */
export function hitCounts(layout: FlameLayout, matches: Int32Array): Int32Array {
  const counts = new Int32Array(layout.node.length + 1)
  for (const node of matches) {
    const box = layout.box[node] ?? -1
    if (box >= 0) counts[box + 1] = 1
  }
  for (let at = 0; at < layout.node.length; at++) counts[at + 1]! += counts[at]!
  return counts
}

/** The class of each column of the overview: that of the widest box of the deepest level there, -1 where there is none. */
export function overviewColumns(layout: FlameLayout, columns: number): Int32Array {
  const { levelStart } = layout
  const found = new Int32Array(columns).fill(-1)
  const whole: SceneView = {
    ...{ span: { start: 0, end: 1 }, width: columns },
    ...{ firstLevel: 0, endLevel: 0 }
  }
  for (let level = 0; level + 1 < levelStart.length; level++) {
    for (const { x, width, box } of sceneBoxes(layout, {
      ...whole,
      firstLevel: level,
      endLevel: level + 1
    })) {
      const first = Math.max(0, Math.floor(x + 0.5))
      const end = Math.min(columns, Math.max(first + 1, Math.floor(x + width + 0.5)))
      for (let column = first; column < end; column++) found[column] = box
    }
  }
  return found
}

/** Columns of the overview in which there is a hit. */
export function hitColumns(layout: FlameLayout, matches: Int32Array, columns: number): number[] {
  const found = new Uint8Array(columns)
  for (const node of matches) {
    const box = layout.box[node] ?? -1
    if (box < 0) continue
    const middle = (layout.x0[box]! + layout.x1[box]!) / 2
    found[Math.min(columns - 1, Math.floor(middle * columns))] = 1
  }
  return Array.from(found.keys()).filter((column) => found[column])
}

export type Direction = 'left' | 'right' | 'up' | 'down'

/** The box that an arrow key goes to: the next one of the level, the one above, the widest below. */
export function neighbour(
  layout: FlameLayout,
  shape: { parent: Int32Array },
  box: number,
  level: number,
  to: Direction
): number {
  const { levelStart, node, x0, x1 } = layout
  if (to === 'left') return box > levelStart[level]! ? box - 1 : box
  if (to === 'right') return box + 1 < levelStart[level + 1]! ? box + 1 : box
  if (to === 'up') {
    const above = shape.parent[node[box]!]!
    return above >= 0 ? layout.box[above]! : box
  }
  if (level + 2 >= levelStart.length) return box
  const [from, stop] = [levelStart[level + 1]!, levelStart[level + 2]!]
  const first = firstFrom(layout, x0[box]!, from, stop)
  const after = firstFrom(layout, x1[box]!, first, stop)
  const below = after > first ? widestOf(layout, first, after) : -1
  return below >= 0 && shape.parent[node[below]!] === node[box] ? below : box
}
