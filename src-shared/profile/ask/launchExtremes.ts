import { samplesOf, type ProfileTree } from '../tree/profileTree'
import { cached, skippedMask, type RollUpRules } from '../tree/rollUp'

/**
 * Shortest or longest launch under each node, ns; only profiles that keep per-launch times have them. Cached per tree; do not
 * write into it.
 */
export function launchExtremes(
  tree: ProfileTree,
  which: 'min_time' | 'max_time',
  rules: RollUpRules
): { values: Float64Array; reason: (node: number) => string } {
  const key = `${which}|${rules.proton}|${rules.metadata}`
  const values = cached(tree, key, () => extremesOf(tree, which, rules))
  const reason = () =>
    tree.samples
      ? 'no launches recorded under this scope'
      : 'the profile holds sums only, not the time of each launch'
  return { values, reason }
}

function extremesOf(
  tree: ProfileTree,
  which: 'min_time' | 'max_time',
  rules: RollUpRules
): Float64Array {
  const values = new Float64Array(tree.count).fill(NaN)
  const skipped = skippedMask(tree, rules)
  const better = which === 'min_time' ? Math.min : Math.max
  const take = (node: number, ns: number) => {
    values[node] = Number.isNaN(values[node]) ? ns : better(values[node]!, ns)
  }
  for (const node of tree.samples?.node ?? []) {
    if (skipped[node]) continue
    for (const ns of samplesOf(tree, node)) take(node, ns)
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const above = tree.parent[node]!
    if (above >= 0 && !Number.isNaN(values[node])) take(above, values[node]!)
  }
  return values
}
