import type { ProfileTree } from './profileTree'

/** Steps that are always allowed, and steps allowed per node: every ordinary profile stays below. */
const freeSteps = 500_000
const stepsPerNode = 32

/**
 * What writes a node's whole path for every node (callers, folded stacks) takes depth times nodes, which a tree of 20,000
 * levels makes quadratic. The longest path to write per node that keeps the sum within 32 steps a node; Infinity where
 * all paths together are short enough.
 * @param writes whether the node's path is written at all
 */
export function longestChain(tree: ProfileTree, writes: (node: number) => boolean): number {
  const nodesAtDepth: number[] = []
  let writing = 0
  let steps = 0
  for (let node = 0; node < tree.count; node++) {
    if (!writes(node)) continue
    const depth = tree.depth[node]!
    nodesAtDepth[depth] = (nodesAtDepth[depth] ?? 0) + 1
    writing++
    steps += depth
  }
  const allowed = Math.max(freeSteps, stepsPerNode * tree.count)
  if (steps <= allowed) return Infinity
  // Each further step of length costs as many steps as there are deeper paths.
  let length = 0
  for (let sum = 0, deeper = writing; ; length++) {
    deeper -= nodesAtDepth[length] ?? 0
    sum += deeper
    if (sum > allowed) return Math.max(1, length)
  }
}
