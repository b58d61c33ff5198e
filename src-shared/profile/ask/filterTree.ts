/**
 * Which nodes are shown. One rule for totals, the same everywhere: values are those of the whole run, computed before
 * the filter; a filter only chooses rows. ROOT keeps the full total and percentages stay relative to it.
 */
import { matchNodes, matchProtonPattern } from './nameMatcher'
import type { ProfileTree } from '../tree/profileTree'
import { ourRules, skippedMask, type RollUpRules } from '../tree/rollUp'

export interface TreeFilter {
  /** Substring, /regex/ or path query: keeps every node on a path through a match. */
  include?: string
  /** The same forms: drops matches and all below them. */
  exclude?: string
  /** Keeps nodes with a value of at least this, and their ancestors. */
  threshold?: { values: Float64Array; atLeast: number }
  /** Keeps this node, what is below it and its ancestors. */
  below?: number
}

/** One byte per node: 1 = shown. The ancestors of a shown node are shown. Empty when nothing matches. */
export function filterTree(
  tree: ProfileTree,
  filter: TreeFilter,
  rules: RollUpRules = ourRules
): Uint8Array {
  const match = rules.proton ? matchProtonPattern : matchNodes
  const skipped = skippedMask(tree, rules)
  const shown = new Uint8Array(tree.count)
  for (let node = 0; node < tree.count; node++) shown[node] = skipped[node] ? 0 : 1
  if (filter.include) keepPathsThrough(tree, shown, match(tree, filter.include))
  if (filter.exclude) dropSubtrees(tree, shown, match(tree, filter.exclude))
  if (filter.threshold) {
    const { values, atLeast } = filter.threshold
    for (let node = 0; node < tree.count; node++) if (!(values[node]! >= atLeast)) shown[node] = 0
    keepAncestors(tree, shown)
  }
  if (filter.below !== undefined) {
    shown.fill(0, 0, filter.below)
    shown.fill(0, tree.end[filter.below])
    keepAncestors(tree, shown)
  }
  return shown
}

export function isEmpty(shown: Uint8Array): boolean {
  return !shown.includes(1)
}

function keepPathsThrough(tree: ProfileTree, shown: Uint8Array, matches: Uint8Array): void {
  for (let node = 0; node < tree.count;) {
    if (!matches[node]) {
      shown[node] = 0
      node++
    } else node = tree.end[node]!
  }
  keepAncestors(tree, shown)
}

function dropSubtrees(tree: ProfileTree, shown: Uint8Array, matches: Uint8Array): void {
  for (let node = 0; node < tree.count;) {
    if (matches[node]) {
      shown.fill(0, node, tree.end[node])
      node = tree.end[node]!
    } else node++
  }
}

function keepAncestors(tree: ProfileTree, shown: Uint8Array): void {
  for (let node = tree.count - 1; node > 0; node--) {
    const above = tree.parent[node]!
    if (shown[node] && above >= 0) shown[above] = 1
  }
}
