/** Several profiles in one answer: a metric's value in each, its change and ratio. */
import { UserError } from '../../errors'
import { nodeName, type ProfileTree } from '../tree/profileTree'
import type { RollUpRules } from '../tree/rollUp'
import { arranged, type Arrangement } from './arrange'
import type { DerivedMetric } from './deriveMetric'
import { diffTrees, type TreeDiff } from './diffTrees'
import { lastOf, numberOf } from './lastOf'
import { suggestedMetrics } from './suggestedMetrics'

export interface Comparison {
  /** Union of the profiles: names and structure only. */
  tree: ProfileTree
  diff: TreeDiff
  columns: readonly DerivedMetric[]
  /** The larger side's value. */
  widths: Float64Array
  /** Size of the change. */
  sizes: Float64Array
  /** One byte per node: 1 where the last profile calls it otherwise than the first. */
  renamed: Uint8Array
}

interface Asked {
  arrangement?: Arrangement
  metrics?: readonly string[]
  demangle?: boolean
  byName?: boolean
  names?: readonly string[]
}

/** Null without baselines. */
export function comparisonOf(
  profile: ProfileTree,
  baselines: readonly ProfileTree[],
  query: Asked,
  rules: RollUpRules
): Comparison | null {
  const { arrangement, demangle, byName = false, names = [] } = query
  const isNone = baselines.length === 0
  const key = isNone
    ? ''
    : JSON.stringify([
        baselines.map(numberOf),
        query.metrics,
        arrangement,
        demangle,
        byName,
        names,
        rules
      ])
  return lastOf(profile, 'comparison', key, () => {
    if (isNone) return null
    const trees = [...baselines, profile].map((tree) => arranged(tree, query, rules))
    const metrics = query.metrics?.length
      ? query.metrics
      : suggestedMetrics(trees[trees.length - 1]!).slice(0, 1)
    const metric = theOne(metrics)
    const diff = diffTrees(trees, metric, { byNormalisedName: byName, rules })
    const widths = new Float64Array(diff.tree.count)
    for (const values of diff.values) {
      for (let node = 0; node < widths.length; node++)
        widths[node] = Math.max(widths[node]!, values[node]! || 0)
    }
    const titles = trees.map(
      (_, at) => names[at] ?? (at < baselines.length ? 'baseline' : 'profile')
    )
    return {
      tree: diff.tree,
      diff,
      columns: columnsOf(diff, titles),
      widths,
      sizes: diff.change.map(Math.abs),
      renamed: renamedOf(diff, trees)
    }
  })
}

function renamedOf({ nodesOf }: TreeDiff, trees: readonly ProfileTree[]): Uint8Array {
  const [first, last] = [0, trees.length - 1]
  return Uint8Array.from(nodesOf[first]!, (before, node) => {
    const after = nodesOf[last]![node]!
    if (before < 0 || after < 0) return 0
    return +(nodeName(trees[first]!, before) !== nodeName(trees[last]!, after))
  })
}

function columnsOf(
  { nodesOf, isSum, metric, values, change, ratio }: TreeDiff,
  titles: readonly string[]
): DerivedMetric[] {
  const column = (
    label: string,
    of: Float64Array,
    reason: (node: number) => string
  ): DerivedMetric => ({
    label,
    column: label,
    inclusive: isSum,
    values: of,
    text: null,
    reason
  })
  const oneSided = () => 'one side has no value'
  return [
    ...values.map((of, at) =>
      column(`${titles[at]!} ${metric}`, of, (node) =>
        nodesOf[at]![node]! < 0 ? `not in ${titles[at]!}` : 'no value there'
      )
    ),
    column('change', change, oneSided),
    column('ratio', ratio, oneSided)
  ]
}

function theOne(metrics: readonly string[]): string {
  const [metric, ...others] = metrics
  if (metric === undefined) throw new UserError('usage', 'The profiles have no metric to compare.')
  if (others.length === 0) return metric
  throw new UserError('usage', `A comparison is of one metric: name one of ${metrics.join(', ')}.`)
}
