import { icicle } from './icicle'
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
  const layout = icicle(tree, sums)
  const at = (x: number) => (Number.isNaN(total) ? 0 : Math.round(x * total))
  return { metric, start: layout.x0.map(at), end: layout.x1.map(at) }
}
