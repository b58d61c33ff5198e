import { nodeName, type ProfileTree } from './profileTree'
import { ourRules, ownValues } from './rollUp'
import { weightMetric } from './weightMetric'

/** Folded stacks, 'a;b;c 123' per line, own values: what flamegraph.pl, inferno and speedscope read. */
export function* foldedLines(
  tree: ProfileTree,
  nameOf: (name: string) => string
): Generator<string> {
  const own = ownValues(tree, weightMetric(tree), ourRules)
  const path: string[] = []
  for (let node = 0; node < tree.count; node++) {
    path.length = tree.depth[node]!
    path.push(
      nameOf(nodeName(tree, node))
        .replace(/;/g, ':')
        .replace(/\s*\n\s*/g, ' ')
    )
    const value = Math.round(own[node]!)
    if (value > 0) yield `${path.join(';')} ${value}\n`
  }
}
