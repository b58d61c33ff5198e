/**
 * A flame graph as data: one box per node, level by level, each level from left to right, so that what a stretch of it shows is
 * found by bisection and drawn in the time of its pixels, not of its nodes.
 */
export interface FlameShape {
  count: number
  /** -1 for a root; a parent stands before its children. */
  parent: Int32Array
  depth: Int32Array
}

export interface FlameLayout {
  /** Boxes of level d: [levelStart[d], levelStart[d + 1]). */
  levelStart: Int32Array<ArrayBuffer>
  /** Node of each box. */
  node: Int32Array<ArrayBuffer>
  /** Box of each node; -1 where it has none. */
  box: Int32Array<ArrayBuffer>
  /** Edges of each box, 0 to 1 of the total. */
  x0: Float64Array<ArrayBuffer>
  x1: Float64Array<ArrayBuffer>
  /** Widths of all boxes before each one, summed: what a run of boxes covers. */
  covered: Float64Array<ArrayBuffer>
  /** The widest box of every 64: the widest of a run in few steps. */
  widest: Int32Array<ArrayBuffer>
}

/** Order of siblings: as the profile has them, in preorder; the heaviest left; or by a rank of each node, least first. */
export type FlameOrder = 'recorded' | 'heavy' | { rank: Float64Array }

const blockBits = 6

/**
 * @param weights subtree sums per node; what is not above 0 has no box, nor has what lies below it.
 * @param shown from filterTree; nodes left out have no box.
 */
export function flameLayout(
  shape: FlameShape,
  weights: Float64Array,
  order: FlameOrder = 'recorded',
  shown?: Uint8Array
): FlameLayout {
  const { levelStart, node } = byLevel(shape, weights, shown)
  const box = new Int32Array(shape.count).fill(-1)
  for (let at = 0; at < node.length; at++) box[node[at]!] = at
  sortSiblings(shape, weights, order, levelStart, node, box)
  const { x0, x1 } = place(shape, weights, levelStart, node, box)
  return { levelStart, node, box, x0, x1, ...pyramid(x0, x1) }
}

function byLevel(shape: FlameShape, weights: Float64Array, shown: Uint8Array | undefined) {
  const { count, parent, depth } = shape
  const kept = new Uint8Array(count)
  let levels = 0
  let boxes = 0
  for (let node = 0; node < count; node++) {
    const above = parent[node]!
    if (!(weights[node]! > 0) || (shown && !shown[node]) || (above >= 0 && !kept[above])) continue
    kept[node] = 1
    boxes++
    if (depth[node]! >= levels) levels = depth[node]! + 1
  }
  const levelStart = new Int32Array(levels + 1)
  for (let node = 0; node < count; node++) if (kept[node]) levelStart[depth[node]! + 1]!++
  for (let level = 0; level < levels; level++) levelStart[level + 1]! += levelStart[level]!
  const cursor = levelStart.slice()
  const node = new Int32Array(boxes)
  for (let at = 0; at < count; at++) if (kept[at]) node[cursor[depth[at]!]!++] = at
  return { levelStart, node }
}

/** Siblings in the order asked for, below parents that are in theirs already. */
function sortSiblings(
  { parent }: FlameShape,
  weights: Float64Array,
  order: FlameOrder,
  levelStart: Int32Array,
  node: Int32Array,
  box: Int32Array
): void {
  // A level of a tree in preorder is in the order of its parents already.
  if (order === 'recorded') return
  const compare =
    order === 'heavy'
      ? (a: number, b: number) => weights[b]! - weights[a]! || a - b
      : (a: number, b: number) => order.rank[a]! - order.rank[b]! || a - b
  for (let level = 0; level + 1 < levelStart.length; level++) {
    const [from, to] = [levelStart[level]!, levelStart[level + 1]!]
    const above = level === 0 ? 0 : levelStart[level - 1]!
    const start = new Int32Array(level === 0 ? 2 : from - above + 1)
    const groupOf = (one: number) => (level === 0 ? 0 : box[parent[one]!]! - above)
    for (let at = from; at < to; at++) start[groupOf(node[at]!) + 1]!++
    for (let group = 1; group < start.length; group++) start[group]! += start[group - 1]!
    const cursor = start.slice()
    const sorted = new Int32Array(to - from)
    for (let at = from; at < to; at++) sorted[cursor[groupOf(node[at]!)]!++] = node[at]!
    for (let group = 0; group + 1 < start.length; group++) {
      const [first, end] = [start[group]!, start[group + 1]!]
      if (end - first > 1) sorted.subarray(first, end).sort(compare)
    }
    node.set(sorted, from)
    for (let at = from; at < to; at++) box[node[at]!] = at
  }
}

function place(
  { parent }: FlameShape,
  weights: Float64Array,
  levelStart: Int32Array,
  node: Int32Array,
  box: Int32Array
) {
  const x0 = new Float64Array(node.length)
  const x1 = new Float64Array(node.length)
  const cursor = new Float64Array(node.length)
  let total = 0
  for (let at = 0; at < (levelStart[1] ?? 0); at++) total += weights[node[at]!]!
  let top = 0
  for (let at = 0; at < node.length; at++) {
    const above = parent[node[at]!]!
    const holder = above < 0 ? -1 : box[above]!
    const left = holder < 0 ? top : cursor[holder]!
    // Children whose sums exceed their parent's (mixed trees) are cut at its edge.
    const right = Math.min(left + weights[node[at]!]! / total, holder < 0 ? 1 : x1[holder]!)
    x0[at] = cursor[at] = left
    x1[at] = right
    if (holder < 0) top = right
    else cursor[holder] = right
  }
  return { x0, x1 }
}

function pyramid(x0: Float64Array, x1: Float64Array) {
  const covered = new Float64Array(x0.length + 1)
  const widest = new Int32Array((x0.length >> blockBits) + 1).fill(-1)
  for (let at = 0; at < x0.length; at++) {
    const width = x1[at]! - x0[at]!
    covered[at + 1] = covered[at]! + width
    const best = widest[at >> blockBits]!
    if (best < 0 || width > x1[best]! - x0[best]!) widest[at >> blockBits] = at
  }
  return { covered, widest }
}

/** The widest box of [from, to), which is not empty. */
export function widestOf({ x0, x1, widest }: FlameLayout, from: number, to: number): number {
  let best = from
  const take = (at: number) => {
    if (x1[at]! - x0[at]! > x1[best]! - x0[best]!) best = at
  }
  let at = from
  for (; at < to && at & ((1 << blockBits) - 1); at++) take(at)
  for (; at + (1 << blockBits) <= to; at += 1 << blockBits) take(widest[at >> blockBits]!)
  for (; at < to; at++) take(at)
  return best
}

/** First box of [from, to) whose right edge lies beyond x; `to` where none does. */
export function firstBeyond({ x1 }: FlameLayout, x: number, from: number, to: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if (x1[middle]! > x) high = middle
    else low = middle + 1
  }
  return low
}

/** First box of [from, to) that begins at x or beyond it. */
export function firstFrom({ x0 }: FlameLayout, x: number, from: number, to: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if (x0[middle]! >= x) high = middle
    else low = middle + 1
  }
  return low
}

/** The box of a level under x, or -1. */
export function boxUnder(layout: FlameLayout, level: number, x: number): number {
  const { levelStart, x0 } = layout
  if (level < 0 || level + 1 >= levelStart.length) return -1
  const at = firstBeyond(layout, x, levelStart[level]!, levelStart[level + 1]!)
  return at < levelStart[level + 1]! && x0[at]! <= x ? at : -1
}

/**
 * Widths of a comparison, in which each node is as wide as the larger of its sides: a parent is at least as wide as its
 * children together, so that what is gone stays visible beside what is new.
 */
export function grownWeights({ count, parent }: FlameShape, weights: Float64Array): Float64Array {
  const sums = new Float64Array(count)
  const grown = new Float64Array(count)
  for (let node = count - 1; node >= 0; node--) {
    grown[node] = Math.max(weights[node]! || 0, sums[node]!)
    if (parent[node]! >= 0) sums[parent[node]!]! += grown[node]!
  }
  return grown
}
