/** Bars in the rows of the tree: shares of a parent, changes to both sides of a middle. */
import type { FlameLayout } from '@shared/profile/ask/flame'

/** Share of its parent's box, 0 to 1; 1 for a root, 0 where a node has no box. */
export function shareOfParent(
  { box, x0, x1 }: FlameLayout,
  parent: Int32Array,
  node: number
): number {
  const own = box[node] ?? -1
  if (own < 0) return 0
  const above = parent[node]! < 0 ? -1 : box[parent[node]!]!
  const width = x1[own]! - x0[own]!
  return above < 0 ? width : Math.min(1, width / (x1[above]! - x0[above]!))
}

export interface ChangeBar {
  /** From the left edge of the cell, 0 to 1; the middle is no change. */
  left: number
  width: number
  slower: boolean
  /** Longer than there is room. */
  isCut: boolean
}

/** The largest change of a leaf: scopes add their changes up, and would leave those of kernels nothing to be seen of. */
export function largestOfLeaves(changes: Float64Array, end: Int32Array): number {
  let most = 0
  for (let node = 0; node < changes.length; node++) {
    const size = Math.abs(changes[node]!)
    if (end[node] === node + 1 && size > most) most = size
  }
  return most
}

/** @param full the change that fills its side. */
export function changeBar(change: number, full: number): ChangeBar {
  const size = full > 0 && change ? Math.min(1, Math.abs(change) / full) / 2 : 0
  return {
    left: change < 0 ? 0.5 - size : 0.5,
    width: size,
    slower: change > 0,
    isCut: Math.abs(change) > full
  }
}
