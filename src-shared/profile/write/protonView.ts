/**
 * The text of proton-viewer 3.8.0, its order and its number formats included, for scripts that read it. Only what a terminal
 * would obey in a name is an escape here.
 */
import { UserError } from '../../errors'
import { plainLine } from '../../plainLine'
import { deriveMetric, type DerivedMetric } from '../ask/deriveMetric'
import { filterTree, isEmpty } from '../ask/filterTree'
import { formatFrameLikeProton, type FrameFormat } from '../ask/frameFormat'
import { parseMetricRequest, withoutUnit } from '../ask/metricRequest'
import { treePrefixes } from './printTree'
import { nodeName, type ProfileTree } from '../tree/profileTree'
import { isInclusive, lastRoot, ownValues, sumUp, type RollUpRules } from '../tree/rollUp'
import { unionTrees } from '../ask/unionTree'
import { visibleRows } from '../ask/visibleRows'

export interface ProtonViewOptions {
  metrics: readonly string[]
  include?: string
  exclude?: string
  threshold?: number
  /** Levels 0 .. depth - 1. */
  depth: number
  format: FrameFormat
  printSorted: boolean
  /** Shown is the profile minus this one. */
  minus?: ProfileTree
}

const protonRules: RollUpRules = { proton: true, metadata: false }

/** What `proton-viewer -l` prints. */
export function protonMetricList(tree: ProfileTree): string {
  const columns = columnOrder(tree)
  const root = lastRoot(tree)
  const onRoot = tree.numbers.filter((column) => column.written[root])
  const inclusive = columns.filter((name) => onRoot.some((column) => column.name === name))
  const exclusive = ['name', ...columns.filter((name) => !inclusive.includes(name))]
  const line = (name: string) => `- ${plainLine(withoutUnit(name))}\n`
  return `Available inclusive metrics:\n${inclusive.map(line).join('')}Available exclusive metrics:\n${exclusive.map(line).join('')}`
}

/** What `proton-viewer -m ...` prints. */
export function protonView(tree: ProfileTree, options: ProtonViewOptions): string {
  if (options.metrics.length === 0) return ''
  const self = prepared(tree, options)
  const shownMetrics = options.metrics.slice(0, 2)
  if (options.minus) return difference(self, prepared(options.minus, options), options)
  const text = render(
    tree,
    self.metrics.slice(0, shownMetrics.length).map((metric) => metric.values),
    self.shown,
    options,
    () => ''
  )
  const sorted = options.printSorted ? sortedList(tree, self.metrics[0]!, self.shown) : ''
  return `${text}\n\n${sorted}`
}

interface Prepared {
  tree: ProfileTree
  metrics: DerivedMetric[]
  shown: Uint8Array
}

function prepared(tree: ProfileTree, options: ProtonViewOptions): Prepared {
  const metrics = options.metrics.map((name) => {
    const metric = deriveMetric(tree, name, protonRules)
    if (!metric.text) return metric
    throw new UserError(
      'usage',
      `Metric '${name}' holds text; without --proton it is shown as text.`
    )
  })
  const { include, exclude, threshold } = options
  const shown = filterTree(
    tree,
    {
      include,
      exclude,
      threshold: threshold ? { values: metrics[0]!.values, atLeast: threshold } : undefined
    },
    protonRules
  )
  if (isEmpty(shown)) {
    throw new UserError('usage', 'The filter leaves no node; nothing matches it in this profile.')
  }
  const isFiltered = Boolean(include || exclude || threshold)
  return { tree, metrics: metrics.map((m) => (isFiltered ? resummed(tree, m, shown) : m)), shown }
}

/** Raw sums are taken again over what the filter left; derived columns keep their values. As the viewer does. */
function resummed(tree: ProfileTree, metric: DerivedMetric, shown: Uint8Array): DerivedMetric {
  const request = parseMetricRequest(tree, metric.label)
  if (request.kind !== 'raw' || !isInclusive(tree, request.metric, protonRules)) return metric
  const own = ownValues(tree, request.metric, protonRules)
  for (let node = 0; node < tree.count; node++) if (!shown[node]) own[node] = NaN
  return { ...metric, values: sumUp(tree, own) }
}

function render(
  tree: ProfileTree,
  metrics: readonly Float64Array[],
  shown: Uint8Array,
  options: ProtonViewOptions,
  mark: (node: number) => string
): string {
  const rows = visibleRows(tree, 'all', { sort: { by: 'name' }, shown, depth: options.depth })
  const prefixes = treePrefixes(tree, rows)
  const lines: string[] = []
  for (const node of rows) {
    const values = metrics.map((values) => threeDecimals(values[node]!)).join(' ')
    const name = plainLine(formatFrameLikeProton(nodeName(tree, node), options.format))
    lines.push(`${prefixes.next().value as string}${values} ${name}${mark(node)}`)
  }
  return lines.join('\n')
}

function difference(self: Prepared, other: Prepared, options: ProtonViewOptions): string {
  const union = unionTrees([self.tree, other.tree], { shown: [self.shown, other.shown] })
  const [mine, theirs] = union.nodesOf as [Int32Array, Int32Array]
  const values = self.metrics.slice(0, 2).map((metric, index) => {
    const minus = other.metrics[index]!.values
    return Float64Array.from(mine, (node, at) => {
      if (node < 0) return NaN
      return theirs[at]! < 0 ? metric.values[node]! : metric.values[node]! - minus[theirs[at]!]!
    })
  })
  const everything = new Uint8Array(union.tree.count).fill(1)
  const mark = (node: number) => (theirs[node]! < 0 ? ' ◀ ' : mine[node]! < 0 ? ' ▶ ' : '')
  return `${render(union.tree, values, everything, options, mark)}\n\n`
}

function sortedList(tree: ProfileTree, metric: DerivedMetric, shown: Uint8Array): string {
  const rows = [...visibleRows(tree, 'all', { sort: { by: 'name' }, shown })]
  const value = (node: number) => metric.values[node]!
  rows.sort((a, b) => {
    if (Number.isNaN(value(a)) || Number.isNaN(value(b))) {
      return Number(Number.isNaN(value(a))) - Number(Number.isNaN(value(b)))
    }
    return value(b) - value(a)
  })
  const lines = rows.slice(1).map((node) => {
    const full = plainLine(nodeName(tree, node))
    const name = full.length > 100 ? `${full.slice(0, 100)}...` : full
    return `${name.padEnd(105)} ${fourFigures(value(node))}\n`
  })
  return `Sorted kernels by metric ${metric.column}\n${lines.join('')}`
}

/** Columns in the order in which hatchet meets them, node by node. */
function columnOrder(tree: ProfileTree): string[] {
  const first = new Map<string, number>()
  const note = (name: string, node: number) => {
    if (!first.has(name)) first.set(name, node)
  }
  for (const column of tree.numbers)
    note(
      column.name,
      column.written.findIndex((kind) => kind > 0)
    )
  for (const column of tree.texts)
    note(
      column.name,
      column.values.findIndex((id) => id >= 0)
    )
  for (const vector of tree.vectors) note(vector.name, vector.node)
  return [...first]
    .sort(([a, nodeA], [b, nodeB]) => nodeA - nodeB || (a < b ? -1 : 1))
    .map(([name]) => name)
}

/** Python's '%.3f': exact ties go to the even digit, where toFixed rounds them up. */
export function threeDecimals(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const sixteenths = value * 16
  if (Number.isInteger(sixteenths) && Math.abs(sixteenths % 2) === 1) {
    const below = Math.floor(value * 1000)
    return ((below % 2 === 0 ? below : below + 1) / 1000).toFixed(3)
  }
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}.000`
  const text = value.toFixed(3)
  return Object.is(value, -0) ? `-${text}` : text
}

/** Python's format(value, '.4') of a float. */
export function fourFigures(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (value === 0) return '0.0'
  const [mantissa, power] = value.toExponential(3).split('e') as [string, string]
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 3) {
    const sign = exponent < 0 ? '-' : '+'
    const digits = String(Math.abs(exponent)).padStart(2, '0')
    return `${mantissa.replace(/\.?0+$/, '')}e${sign}${digits}`
  }
  const fixed = Number(value.toPrecision(4))
    .toFixed(3 - exponent)
    .replace(/0+$/, '')
  return fixed.endsWith('.') ? `${fixed}0` : fixed
}
