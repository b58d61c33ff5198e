import { operationProperty } from '../tree/operation'
import {
  childrenOf,
  countMetric,
  nodeName,
  numberColumn,
  textColumn,
  type ProfileTree
} from '../tree/profileTree'

/**
 * Profiles of runs once held sums over all samples in `time (ns)` and `count`, so that they show how long each kernel was
 * sampled. A sentence that says so, where the tree is one of those: sweep > format > K=... > kernel [M=...], operations
 * not marked as such.
 */
export function whatOlderRunsHold(tree: ProfileTree): string[] {
  if (textColumn(tree, operationProperty) || !numberColumn(tree, countMetric)) return []
  const scope = childrenOf(tree, 0)
  if (scope.length !== 1 || nodeName(tree, scope[0]!) !== 'sweep') return []
  const first = [0, 1, 2].reduce((node) => childrenOf(tree, node)[0] ?? node, scope[0]!)
  const isPoint = / \[M=\d+, N=\d+, K=\d+\]$/.test(nodeName(tree, first))
  if (!isPoint || tree.depth[first] !== 4) return []
  return [
    'An earlier blockscope wrote this profile: its times and counts are sums over all samples, so they show how long each ' +
      'kernel was sampled. avg_time is the mean of one launch; the run itself (its folder or run.json) has the times of ' +
      'one operation.'
  ]
}
