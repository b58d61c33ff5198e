import type { ProfileTree } from '../tree/profileTree'
import { rootSum } from './amounts'
import { rollUp } from '../tree/rollUp'
import { weightMetric } from './weightMetric'

export interface NestedIntervals {
  metric: string
  /** Whole numbers in the metric's unit from the start of the profile; a node's interval holds its children's. */
  start: Float64Array
  end: Float64Array
}

/** A tree of sums laid out one after another, as if each node had run once: for viewers of timelines. */
export function nestedIntervals(tree: ProfileTree): NestedIntervals {
  const metric = weightMetric(tree)
  const sums = rollUp(tree, metric)
  const total = rootSum(tree, sums)
  const start = new Float64Array(tree.count)
  const end = new Float64Array(tree.count)
  /** Where the next child of a node begins. */
  const cursor = new Float64Array(tree.count)
  let top = 0
  for (let node = 0; node < tree.count; node++) {
    const above = tree.parent[node]!
    const from = above < 0 ? top : cursor[above]!
    // Children whose sums exceed their parent's (mixed trees) are cut at its edge.
    const to = Math.min(from + (sums[node]! > 0 ? sums[node]! : 0), above < 0 ? total : end[above]!)
    start[node] = cursor[node] = from
    end[node] = to
    if (above < 0) top = to
    else cursor[above] = to
  }
  const whole = (x: number) => (Number.isNaN(total) ? 0 : Math.round(x))
  return { metric, start: start.map(whole), end: end.map(whole) }
}
