/** The open profile and its baseline, and the answers to the view's questions. Runs in the worker; needs no DOM. */
import { UserError } from '@shared/errors'
import { demangle } from '@shared/profile/demangle'
import { availableMetrics, deriveMetric, findTime } from '@shared/profile/deriveMetric'
import { diffTrees } from '@shared/profile/diffTrees'
import { filterTree } from '@shared/profile/filterTree'
import { hotPath } from '@shared/profile/hotPath'
import { icicle, zoomTo } from '@shared/profile/icicle'
import { matchNodes } from '@shared/profile/nameMatcher'
import { openProfile, type OpenedProfile } from '@shared/profile/openProfile'
import { formatValue, printTree } from '@shared/profile/printTree'
import { metadataMask, nodeName, type ProfileTree } from '@shared/profile/profileTree'
import { flattenByKernel, invertCalls } from '@shared/profile/regroup'
import { ownValues, type RollUpRules } from '@shared/profile/rollUp'
import { visibleRows, type SortOrder } from '@shared/profile/visibleRows'
import { csvLines } from '@shared/profile/writeCsv'
import { chromeTracePieces } from '@shared/profile/writeChromeTrace'
import { foldedLines } from '@shared/profile/writeFolded'
import { hatchetPieces } from '@shared/profile/writeHatchet'
import { speedscopePieces } from '@shared/profile/writeSpeedscope'
import { toTransferable } from '@shared/profile/transfer'
import type {
  Detail,
  ProfileInfo,
  ProfileQuery,
  ShownColumn,
  ShownProfile,
  TextForm
} from './profileProtocol'

/** Which nodes are open: all or none, but for those toggled. */
export class Openness extends Set<number> {
  constructor(
    private readonly inverted: boolean,
    toggled: Iterable<number>
  ) {
    super()
    for (const node of toggled) super.add(node)
  }

  override has(node: number): boolean {
    return this.inverted !== super.has(node)
  }
}

const identity = (name: string) => name

export class ProfileSession {
  private opened: OpenedProfile | undefined
  private name = ''
  private base: ProfileTree | undefined
  private sentKey = ''
  private sentColumns: ShownColumn[] | undefined
  private note = ''
  private shapeKey = ''
  private shape: Shape | undefined

  open(bytes: Uint8Array, name: string, onProgress?: (fraction: number) => void): ProfileInfo {
    const opened = openProfile(bytes, name, onProgress)
    this.opened = opened
    this.base = undefined
    this.name = name
    this.note = metadataNote(opened.tree)
    this.sentKey = this.shapeKey = ''
    return infoOf(opened.tree, name)
  }

  openBaseline(
    bytes: Uint8Array,
    name: string,
    onProgress?: (fraction: number) => void
  ): ProfileInfo {
    this.base = openProfile(bytes, name, onProgress).tree
    this.sentKey = this.shapeKey = ''
    return infoOf(this.base, name)
  }

  show(query: ProfileQuery): ShownProfile {
    const began = performance.now()
    const shape = this.shapeOf(query)
    const { tree, columns, state } = shape
    const first = columns[0]
    const shown = filterTree(
      tree,
      {
        include: query.include,
        exclude: query.exclude,
        threshold:
          first && !Number.isNaN(query.threshold)
            ? { values: first.values, atLeast: query.threshold }
            : undefined,
        below: query.below < 0 ? undefined : query.below
      },
      { proton: false, metadata: query.metadata }
    )
    if (query.hotPath && first) keepOnly(shown, hotPath(tree, first.values))
    const { all, toggled } = query.openness
    const rows = visibleRows(
      tree,
      all && toggled.length === 0 ? 'all' : new Openness(all, toggled),
      {
        sort: orderOf(query, columns),
        shown,
        depth: query.depth
      }
    )
    const widths = shape.widths
    const whole = icicle(tree, widths, shown)
    const edges = query.below < 0 ? whole : zoomTo(whole, query.below)
    const key = this.shapeKey
    const isNewTree = key !== this.sentKey
    this.sentKey = key
    const areNewColumns = columns !== this.sentColumns
    this.sentColumns = columns
    return {
      // One copy here, off the UI thread, so that it can be handed over and queries still be answered.
      tree: isNewTree ? structuredClone(toTransferable(tree).message) : null,
      columns: areNewColumns ? columns : null,
      rows,
      x0: edges.x0,
      x1: edges.x1,
      levels: edges.levels,
      state,
      matches: matchesOf(tree, shown, query),
      shownCount: shown.reduce((sum, one) => sum + one, 0),
      note: query.metadata ? '' : this.note,
      took: performance.now() - began
    }
  }

  details(node: number, query: ProfileQuery): Detail[] {
    const { tree, columns, state } = this.shapeOf(query)
    if (state) {
      return columns.map(({ label, values }) => ({
        label,
        value: values[node]!,
        text: '',
        reason: state[node] === 1 ? 'not in the baseline' : 'not in the profile, or no value there'
      }))
    }
    const rules = { proton: false, metadata: query.metadata }
    return availableMetrics(tree).map((request) => {
      const metric = deriveMetric(tree, request, rules)
      return {
        label: metric.label,
        value: metric.values[node]!,
        text: metric.text?.(node) ?? '',
        reason: metric.reason(node)
      }
    })
  }

  /** The whole profile in one form; 'proton' is what is shown, filters applied. */
  text(form: TextForm, query: ProfileQuery): string {
    const { tree, timeline } = this.current()
    const nameOf = query.demangle ? demangle : identity
    switch (form) {
      case 'proton':
        return this.treeText(query)
      case 'csv':
        return [...csvLines(tree, nameOf)].join('')
      case 'folded':
        return [...foldedLines(tree, nameOf)].join('')
      case 'hatchet':
        return [...hatchetPieces(tree)].join('')
      case 'speedscope':
        return [...speedscopePieces(tree, this.name, nameOf)].join('')
      case 'trace':
        return [...chromeTracePieces(tree, timeline, nameOf)].join('')
    }
  }

  private treeText(query: ProfileQuery): string {
    const { tree } = this.shapeOf({ ...query, diff: false })
    const rules = { proton: false, metadata: query.metadata }
    const metrics = query.metrics.map((request) => deriveMetric(tree, request, rules))
    const { include, exclude } = query
    const shown = filterTree(
      tree,
      {
        include,
        exclude,
        threshold: Number.isNaN(query.threshold)
          ? undefined
          : { values: metrics[0]!.values, atLeast: query.threshold },
        below: query.below < 0 || query.diff ? undefined : query.below
      },
      rules
    )
    if (query.hotPath) keepOnly(shown, hotPath(tree, metrics[0]!.values))
    return printTree(tree, metrics, {
      shown,
      depth: query.depth,
      sort: orderOf(query, metrics),
      nameOf: (node) => (query.demangle ? demangle : identity)(nodeName(tree, node))
    })
  }

  private current(): OpenedProfile {
    if (!this.opened) throw new UserError('usage', 'No profile is open.')
    return this.opened
  }

  /** Tree and columns, kept while only filters, order or open nodes change. */
  private shapeOf(query: ProfileQuery): Shape {
    const { metrics, diff, arrangement, metadata, demangle: short } = query
    const isRegrouped = arrangement !== 'calls'
    const key = JSON.stringify([
      diff ? metrics[0] : '',
      diff,
      arrangement,
      metadata,
      isRegrouped && short
    ])
    const columnsKey = JSON.stringify(metrics)
    if (this.shape && key === this.shapeKey && this.shape.columnsKey === columnsKey) {
      return this.shape
    }
    const rules: RollUpRules = { proton: false, metadata }
    const nameOf = short ? demangle : identity
    const regroupBy = { calls: undefined, kernels: flattenByKernel, callers: invertCalls }[
      arrangement
    ]
    const prepare = (tree: ProfileTree) => regroupBy?.(tree, nameOf, rules) ?? tree
    const tree =
      this.shape && key === this.shapeKey && !diff ? this.shape.tree : prepare(this.current().tree)
    this.shape =
      diff && this.base
        ? diffShape(prepare(this.base), tree, metrics[0]!, rules, columnsKey)
        : plainShape(tree, metrics, rules, columnsKey)
    this.shapeKey = key
    return this.shape
  }
}

interface Shape {
  tree: ProfileTree
  columns: ShownColumn[]
  /** What the icicle's widths show. */
  widths: Float64Array
  state: Uint8Array | null
  columnsKey: string
}

function plainShape(
  tree: ProfileTree,
  metrics: string[],
  rules: RollUpRules,
  columnsKey: string
): Shape {
  const columns = metrics.map((request): ShownColumn => {
    const { label, values, text } = deriveMetric(tree, request, rules)
    return { label, values, texts: text ? Array.from(values, (_, node) => text(node)) : null }
  })
  const time = findTime(tree, 'time')
  const widths = time
    ? deriveMetric(tree, 'time/ms', rules).values
    : (columns[0]?.values ?? new Float64Array(tree.count))
  return { tree, columns, widths, state: null, columnsKey }
}

function diffShape(
  base: ProfileTree,
  tree: ProfileTree,
  metric: string,
  rules: RollUpRules,
  columnsKey: string
): Shape {
  const diff = diffTrees([base, tree], metric, { rules })
  const [before, after] = diff.values as [Float64Array, Float64Array]
  return {
    tree: diff.tree,
    columns: [
      { label: `baseline ${metric}`, values: before, texts: null },
      { label: `profile ${metric}`, values: after, texts: null },
      { label: `change ${metric}`, values: diff.change, texts: null },
      { label: 'ratio', values: diff.ratio, texts: null }
    ],
    widths: before.map((value, node) => Math.max(value || 0, after[node]! || 0)),
    state: diff.state,
    columnsKey
  }
}

function infoOf(tree: ProfileTree, name: string): ProfileInfo {
  const { count, format, warnings } = tree
  return { name, count, format, metrics: availableMetrics(tree), warnings }
}

function keepOnly(shown: Uint8Array, nodes: readonly number[]): void {
  const kept = nodes.filter((node) => shown[node])
  shown.fill(0)
  for (const node of kept) shown[node] = 1
}

function orderOf({ sort }: ProfileQuery, columns: readonly { values: Float64Array }[]): SortOrder {
  if (typeof sort === 'string') return { by: sort }
  const column = columns[sort.column]
  if (!column) return { by: 'chronological' }
  return { by: 'metric', values: column.values, descending: sort.descending }
}

function matchesOf(tree: ProfileTree, shown: Uint8Array, { search }: ProfileQuery): Int32Array {
  if (search === '') return new Int32Array(0)
  const mask = matchNodes(tree, search, { ignoreCase: true })
  const nodes: number[] = []
  for (let node = 0; node < tree.count; node++) if (mask[node] && shown[node]) nodes.push(node)
  return Int32Array.from(nodes)
}

function metadataNote(tree: ProfileTree): string {
  const time = findTime(tree, 'time')
  const mask = metadataMask(tree)
  if (!time || !mask.includes(1)) return ''
  const values = ownValues(tree, time.metric, { proton: false, metadata: true })
  let total = 0
  values.forEach((value, node) => (total += mask[node] && !Number.isNaN(value) ? value : 0))
  return `Launch metadata holds ${formatValue(total * time.seconds * 1e6)} us, not counted.`
}
