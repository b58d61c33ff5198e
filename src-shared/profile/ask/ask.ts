/**
 * The one question about a profile, with all that can be asked at once, and its answer. The command line, the page's
 * worker and every text ask here, so that one question has one answer.
 */
import { UserError } from '../../errors'
import { nodeName, type ProfileTree } from '../tree/profileTree'
import type { RollUpRules } from '../tree/rollUp'
import { arranged, type Arrangement } from './arrange'
import { comparisonOf, type Comparison } from './comparison'
import { deriveMetric, type DerivedMetric } from './deriveMetric'
import { demangle } from './demangle'
import { filterTree } from './filterTree'
import { formatFrame, type FrameFormat } from './frameFormat'
import { hotPath } from './hotPath'
import { lastOf } from './lastOf'
import { nodeAtPath } from './nodePath'
import { shortName } from './shortName'
import { suggestedMetrics } from './suggestedMetrics'
import { listedRows, visibleRows, type SortOrder } from './visibleRows'
import { widthsOf } from './weightMetric'

/** Proton's own default of --depth. */
export const defaultDepth = 100

export interface Query {
  /** By the first are the threshold, the hot path and the order of values. None: those that the profile suggests. */
  metrics?: readonly string[]
  arrangement?: Arrangement
  /** Names to keep or to drop: text, /regex/ or path. */
  include?: string
  exclude?: string
  /** Least value of the first metric; nodes without one are left out with it. */
  threshold?: number
  /** Only this subtree: the path of its node, or its number in the answer's tree. */
  node?: string | number
  /** Levels 0 .. depth - 1. */
  depth?: number
  /** 'metric': largest first, in a comparison largest change first. A column's number counts from 0. */
  sort?: 'chronological' | 'name' | 'metric' | { column: number; descending: boolean }
  hotPath?: boolean
  /** Rows as a list by value instead of a tree, at most so many. */
  list?: number
  /** Show and count launch-metadata subtrees. */
  metadata?: boolean
  /** C++ names demangled: yes, unless said otherwise. */
  demangle?: boolean
  /** Names shortened as the app's rows are; filters and paths are of whole names all the same. */
  short?: boolean
  /** Form of names such as 'dir/file.py:12@function'. */
  frame?: FrameFormat
  /** In a comparison: also match names that differ only in extents, tiles or mangling. */
  byName?: boolean
  /** In a comparison: what the profiles are called, the base first. */
  names?: readonly string[]
}

export interface Answer {
  /** What the numbers of nodes below mean: the profile, its rearrangement, or the union of those compared. */
  tree: ProfileTree
  columns: readonly DerivedMetric[]
  /** One byte per node: 1 where the filters keep it. */
  shown: Uint8Array
  /** Nodes in the order of display. */
  rows: Int32Array
  /** Rows that a list would have without its limit. */
  rowCount: number
  /** Extent of each node in a flame graph. */
  widths: Float64Array
  nameOf: (node: number) => string
  /** Null where one profile was asked about. */
  comparison: Comparison | null
  /** Rows are a list, not a tree. */
  isList: boolean
  /** What the arrangement left out or joined, in sentences. */
  remarks: string[]
}

/** What a question is about, before filters, order and open nodes choose rows of it. */
export type Subject = Pick<Answer, 'tree' | 'columns' | 'comparison'>

/** The subject of a question alone, for those who know their node already. */
export function subjectOf(
  profile: ProfileTree,
  query: Query,
  baselines: readonly ProfileTree[] = []
): Subject {
  const rules = rulesOf(query)
  const comparison = comparisonOf(profile, baselines, query, rules)
  const tree = comparison?.tree ?? arranged(profile, query, rules)
  return { tree, columns: comparison?.columns ?? columnsOf(tree, query, rules), comparison }
}

const rulesOf = ({ metadata }: Query): RollUpRules => ({
  proton: false,
  metadata: metadata === true
})

/**
 * @param baselines compared with, the base first; none for the profile alone.
 * @param open nodes whose children are shown.
 * @throws UserError for a metric, a pattern or a path that the profile does not have.
 */
export function ask(
  profile: ProfileTree,
  query: Query = {},
  baselines: readonly ProfileTree[] = [],
  open: ReadonlySet<number> | 'all' = 'all'
): Answer {
  const rules = rulesOf(query)
  const { tree, columns, comparison } = subjectOf(profile, query, baselines)
  const widths = comparison?.widths ?? widthsOf(tree, columns, rules)
  /** Of a comparison: the larger side, so that nothing that is large in any of the profiles is left out. */
  const leading = comparison?.widths ?? columns[0]?.values ?? new Float64Array(tree.count)
  const below = nodeAsked(tree, query.node)
  const { include, exclude, threshold } = query
  const shown = filterTree(
    tree,
    {
      include,
      exclude,
      threshold: threshold === undefined ? undefined : { values: leading, atLeast: threshold },
      below
    },
    rules
  )
  if (query.hotPath) keepOnly(shown, hotPath(tree, leading))
  const byValue = comparison?.sizes ?? leading
  const all =
    query.list === undefined
      ? visibleRows(tree, open, {
          shown,
          depth: query.depth ?? defaultDepth,
          sort: orderOf(query, columns, byValue)
        })
      : listedRows(tree, shown, byValue)
  return {
    tree,
    columns,
    shown,
    rows: query.list === undefined ? all : all.slice(0, query.list),
    rowCount: all.length,
    widths,
    nameOf: namesOf(tree, query),
    comparison,
    isList: query.list !== undefined,
    remarks: tree.warnings.filter((warning) => !profile.warnings.includes(warning))
  }
}

/** Refuses an answer without rows or columns, for those to whom that is an error. */
export function refuseEmpty({ shown, tree, columns }: Answer, { include }: Query): void {
  if (columns.length === 0) throw new UserError('usage', 'The profile has no metrics to show.')
  if (shown.includes(1)) return
  const what = include ? `No name matches '${include}'` : 'The filter leaves no node'
  throw new UserError('usage', `${what} in this profile of ${tree.count} nodes.`)
}

function columnsOf(tree: ProfileTree, query: Query, rules: RollUpRules): readonly DerivedMetric[] {
  const metrics = query.metrics?.length ? query.metrics : suggestedMetrics(tree)
  return lastOf(tree, 'columns', JSON.stringify([metrics, rules]), () =>
    metrics.map((metric) => deriveMetric(tree, metric, rules))
  )
}

function nodeAsked(tree: ProfileTree, node: string | number | undefined): number | undefined {
  if (typeof node !== 'string') return node
  const found = nodeAtPath(tree, node)
  if (found >= 0) return found
  throw new UserError(
    'usage',
    `No node at '${node}': a path is the names from ROOT or below it, with ' > ' between them.`
  )
}

function keepOnly(shown: Uint8Array, nodes: readonly number[]): void {
  const kept = nodes.filter((node) => shown[node])
  shown.fill(0)
  for (const node of kept) shown[node] = 1
}

function orderOf(
  { sort = 'chronological' }: Query,
  columns: readonly DerivedMetric[],
  byValue: Float64Array
): SortOrder {
  if (sort === 'metric') return { by: 'metric', values: byValue, descending: true }
  if (typeof sort === 'string') return { by: sort }
  const column = columns[sort.column]
  if (!column) return { by: 'chronological' }
  return { by: 'metric', values: column.values, descending: sort.descending }
}

/** Each distinct name is made once. */
function namesOf(tree: ProfileTree, query: Query): (node: number) => string {
  const names: string[] = []
  const shown = query.short
    ? shortName
    : query.demangle === false
      ? (name: string) => name
      : demangle
  return (node) =>
    (names[tree.name[node]!] ??= formatFrame(shown(nodeName(tree, node)), query.frame ?? 'full'))
}
