/** From the total before to the total after, one step for each part that changed: the steps add up to the whole change. */
import type { ProfileTree } from '../tree/profileTree'

export interface WaterfallStep {
  /** Whose own change it is, its children's left out; -1 for all others together. */
  node: number
  /** How many nodes it stands for. */
  count: number
  change: number
  /** Running total before and after the step, in the metric's unit. */
  from: number
  to: number
}

export interface Waterfall {
  before: number
  after: number
  /** Largest change first, the others last. */
  steps: WaterfallStep[]
}

interface Sides {
  /** Sums per node in the first and the last profile; NaN where one has no such node. */
  before: Float64Array
  after: Float64Array
}

/** Of the subtree of `root`; at most `most` nodes by name. Time: one pass over the subtree. */
export function waterfall(
  { end }: Pick<ProfileTree, 'end'>,
  { before, after }: Sides,
  root: number,
  most: number
): Waterfall {
  const sum = (values: Float64Array, node: number) => values[node]! || 0
  const start = sum(before, root)
  const finish = sum(after, root)
  // Sums of doubles differ in their last digits: that is no change.
  const rounding = 1e-9 * Math.max(Math.abs(start), Math.abs(finish))
  const changed: { node: number; change: number }[] = []
  for (let node = root; node < end[root]!; node++) {
    // A node's own part is what its children leave.
    let change = sum(after, node) - sum(before, node)
    for (let child = node + 1; child < end[node]!; child = end[child]!)
      change -= sum(after, child) - sum(before, child)
    if (Math.abs(change) > rounding) changed.push({ node, change })
  }
  changed.sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
  const steps: WaterfallStep[] = []
  let at = start
  for (const { node, change } of changed.slice(0, most)) {
    steps.push({ node, count: 1, change, from: at, to: at + change })
    at += change
  }
  const others = changed.length - steps.length
  if (others > 0) steps.push({ node: -1, count: others, change: finish - at, from: at, to: finish })
  return { before: start, after: finish, steps }
}
