/** Own values to subtree sums. */
import { metadataMask, numberColumn, type ProfileTree } from './profileTree'
import { isSummed } from './summedMetrics'

/**
 * Whose rules a metric follows. blockscope: every numeric metric but CPU time is summed over its subtree, metadata
 * subtrees are not the workload's. proton: only what ROOT names is summed, frames removed as proton-viewer does.
 */
export interface RollUpRules {
  proton: boolean
  /** Count launch-metadata subtrees too. */
  metadata: boolean
}

export const ourRules: RollUpRules = { proton: false, metadata: false }

/** NaN where no node of the subtree has the metric. Cached per tree; do not write into it. */
export function rollUp(
  tree: ProfileTree,
  metric: string,
  rules: RollUpRules = ourRules
): Float64Array {
  const key = `${rules.proton}|${rules.metadata}|${metric}`
  return cached(tree, key, () => sumUp(tree, ownValues(tree, metric, rules)))
}

/** Sums in place from the leaves up: nodes are in preorder, so a loop backwards meets children first. */
export function sumUp(tree: ProfileTree, values: Float64Array): Float64Array {
  const parent = tree.parent
  for (let node = tree.count - 1; node > 0; node--) {
    const value = values[node]!
    const above = parent[node]!
    if (value !== value || above < 0) continue
    const sum = values[above]!
    values[above] = sum === sum ? sum + value : value
  }
  return values
}

/** A metric's own values with NaN where absent or not counted; a fresh array. */
export function ownValues(tree: ProfileTree, metric: string, rules: RollUpRules): Float64Array {
  const values = new Float64Array(tree.count).fill(NaN)
  const column = numberColumn(tree, metric)
  if (!column) return values
  const skipped = skippedMask(tree, rules)
  for (let node = 0; node < tree.count; node++) {
    if (column.written[node] && !skipped[node]) values[node] = column.values[node]!
  }
  // Zeros on a root are Proton's list of inclusive metrics, not measurements.
  if (!rules.proton) {
    for (let root = 0; root < tree.count; root = tree.end[root]!) {
      if (values[root] === 0) values[root] = NaN
    }
  }
  return values
}

/** Whether the metric's column is a subtree sum. */
export function isInclusive(tree: ProfileTree, metric: string, rules: RollUpRules): boolean {
  if (metric.includes('(inc)')) return false
  if (!rules.proton) return isSummed(metric)
  const column = numberColumn(tree, metric)
  return column !== undefined && column.written[lastRoot(tree)] !== 0
}

export function lastRoot(tree: ProfileTree): number {
  let root = 0
  for (let next = 0; next < tree.count; next = tree.end[next]!) root = next
  return root
}

/** The sums of an inclusive metric, the own values of an exclusive one. */
export function metricValues(
  tree: ProfileTree,
  metric: string,
  rules: RollUpRules = ourRules
): Float64Array {
  if (isInclusive(tree, metric, rules)) return rollUp(tree, metric, rules)
  const key = `own|${rules.proton}|${rules.metadata}|${metric}`
  return cached(tree, key, () => ownValues(tree, metric, rules))
}

/** Nodes that do not count: 1 inside launch metadata; under Proton's rules everything that its viewer removes. */
export function skippedMask(tree: ProfileTree, rules: RollUpRules): Uint8Array {
  const key = `skipped|${rules.proton}|${rules.metadata}`
  return cached(tree, key, () => {
    if (rules.proton) return protonRemoved(tree)
    return rules.metadata ? new Uint8Array(tree.count) : metadataMask(tree)
  })
}

/** proton-viewer drops metadata frames, empty leaves, and every node that thereby lost all its children. */
function protonRemoved(tree: ProfileTree): Uint8Array {
  const removed = metadataMask(tree)
  const hasMetrics = new Uint8Array(tree.count)
  for (const column of tree.numbers) {
    for (let node = 0; node < tree.count; node++) hasMetrics[node]! |= column.written[node]!
  }
  for (const column of tree.texts) {
    for (let node = 0; node < tree.count; node++)
      if (column.values[node]! >= 0) hasMetrics[node] = 1
  }
  for (const vector of tree.vectors) hasMetrics[vector.node] = 1
  const kept = new Int32Array(tree.count)
  for (let node = tree.count - 1; node >= 0; node--) {
    const isLeaf = tree.end[node] === node + 1
    if (isLeaf ? !hasMetrics[node] : kept[node] === 0) removed[node] = 1
    const above = tree.parent[node]!
    if (!removed[node] && above >= 0) kept[above]!++
  }
  return removed
}

const caches = new WeakMap<ProfileTree, Map<string, unknown>>()

/** Computes once per tree and key. A tree is never changed after it is built. */
export function cached<T>(tree: ProfileTree, key: string, compute: () => T): T {
  let cache = caches.get(tree)
  if (!cache) caches.set(tree, (cache = new Map()))
  if (!cache.has(key)) cache.set(key, compute())
  return cache.get(key) as T
}
