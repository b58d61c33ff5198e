import { longestChain } from '../tree/chainLength'
import { nodeName, type ProfileTree } from '../tree/profileTree'
import { ourRules, ownValues } from '../tree/rollUp'
import { weightMetric } from '../ask/weightMetric'

/**
 * Folded stacks, 'a;b;c 123' per line, own values: what flamegraph.pl, inferno and speedscope read. Every line holds a
 * whole stack: of very deep trees the outermost frames are kept, then how many were left out, then the frame itself.
 */
export function* foldedLines(
  tree: ProfileTree,
  nameOf: (name: string) => string
): Generator<string> {
  const own = ownValues(tree, weightMetric(tree), ourRules)
  const value = (node: number) => Math.round(own[node]!)
  const longest = longestChain(tree, (node) => value(node) > 0)
  const path: string[] = []
  for (let node = 0; node < tree.count; node++) {
    path.length = Math.min(tree.depth[node]!, longest)
    const frame = nameOf(nodeName(tree, node))
      .replace(/;/g, ':')
      .replace(/\s*\n\s*/g, ' ')
    const left = tree.depth[node]! - path.length
    const stack = left > 0 ? [...path, `(${left} frames)`, frame] : [...path, frame]
    if (path.length < longest) path.push(frame)
    if (value(node) > 0) yield `${stack.join(';')} ${value(node)}\n`
  }
}
