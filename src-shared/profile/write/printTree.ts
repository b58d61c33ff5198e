/** A profile as text: a header with units, aligned values, the tree at the right, and the reasons of missing values. */
import type { Answer } from '../ask/ask'
import type { DerivedMetric } from '../ask/deriveMetric'
import { beyondNoise, isGone, isNew, withinNoise, type TreeDiff } from '../ask/diffTrees'
import { numberColumn, writtenAsInteger, type ProfileTree } from '../tree/profileTree'

const missingMark = '-'
const reasonsShown = 6

/** Lines without line ends, so that a caller can stream a large tree. */
export function* printTreeLines(
  answer: Pick<Answer, 'tree' | 'columns' | 'rows' | 'nameOf' | 'comparison' | 'isList'>
): Generator<string> {
  const { tree, columns: metrics, rows, nameOf, comparison, isList } = answer
  const cells = metrics.map((metric) => cellsOf(tree, metric, rows))
  const widths = metrics.map((metric, column) =>
    cells[column]!.reduce((width, cell) => Math.max(width, cell.length), metric.label.length)
  )
  yield [...metrics.map((metric, column) => metric.label.padStart(widths[column]!)), 'name'].join(
    '  '
  )
  const prefixes = treePrefixes(tree, rows)
  for (let row = 0; row < rows.length; row++) {
    let values = ''
    for (let column = 0; column < cells.length; column++)
      values += `${cells[column]![row]!.padStart(widths[column]!)}  `
    const prefix = isList ? '' : (prefixes.next().value as string)
    const mark = comparison ? markOf(comparison.diff, rows[row]!) : ''
    yield `${values}${prefix}${nameOf(rows[row]!)}${mark}`
  }
  if (!isList && !comparison) yield* reasonLines(metrics, rows, nameOf)
}

export function printTree(answer: Answer): string {
  return [...printTreeLines(answer), ''].join('\n')
}

function markOf({ state, noise }: TreeDiff, node: number): string {
  if (state[node] === isNew) return ' (new)'
  if (state[node] === isGone) return ' (gone)'
  if (noise[node] === withinNoise) return ' (within noise)'
  return noise[node] === beyondNoise ? ' (beyond noise)' : ''
}

/** A value for a person: integers as they are, the rest with three decimals, large ones with three figures of them. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return missingMark
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 1e15) return value.toExponential(3)
  return value !== 0 && Math.abs(value) < 0.0005 ? value.toExponential(2) : value.toFixed(3)
}

/** The branch characters before each row's name, in row order. Rows are in preorder of what is shown. */
export function* treePrefixes(tree: ProfileTree, rows: Int32Array): Generator<string, undefined> {
  const isLast = lastSiblings(tree, rows)
  const stems: string[] = []
  for (let row = 0; row < rows.length; row++) {
    const depth = tree.depth[rows[row]!]!
    if (depth === 0) {
      stems[0] = ''
      yield ''
      continue
    }
    const stem = stems[depth - 1]!
    stems[depth] = stem + (isLast[row] ? '   ' : '│  ')
    yield stem + (isLast[row] ? '└─ ' : '├─ ')
  }
  return undefined
}

/** Per row: no later row has the same parent. */
function lastSiblings(tree: ProfileTree, rows: Int32Array): Uint8Array {
  const isLast = new Uint8Array(rows.length)
  const seen = new Uint8Array(tree.count)
  for (let row = rows.length - 1; row >= 0; row--) {
    const above = tree.parent[rows[row]!]!
    if (above < 0 || seen[above]) continue
    seen[above] = 1
    isLast[row] = 1
  }
  return isLast
}

function cellsOf(tree: ProfileTree, metric: DerivedMetric, rows: Int32Array): string[] {
  const { text, values } = metric
  if (text) return Array.from(rows, (node) => text(node) || missingMark)
  const integers = isIntegerMetric(tree, metric)
  // A row often has the value of the one before: a caller that is the only one, a call that does nothing else.
  let last = NaN
  let lastText = missingMark
  return Array.from(rows, (node) => {
    const value = values[node]!
    if (Object.is(value, last)) return lastText
    last = value
    lastText = integers && Number.isInteger(value) ? String(value) : formatValue(value)
    return lastText
  })
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}...` : name
}

function isIntegerMetric(tree: ProfileTree, metric: DerivedMetric): boolean {
  const column = numberColumn(tree, metric.column.replace(/ \(inc\)$/, ''))
  return column !== undefined && column.written.includes(writtenAsInteger)
}

/** One line per metric and reason, with how many rows it explains. */
function* reasonLines(
  metrics: readonly DerivedMetric[],
  rows: Int32Array,
  nameOf: (node: number) => string
): Generator<string> {
  const explained = new Map<string, { first: number; rows: number }>()
  for (const metric of metrics) {
    for (const node of rows) {
      if (metric.text ? metric.text(node) !== '' : !Number.isNaN(metric.values[node])) continue
      // On a tree of a million rows the first few thousand say it all.
      if (explained.size > 100) break
      const key = `${metric.label}: ${metric.reason(node)}`
      const known = explained.get(key)
      if (known) known.rows++
      else explained.set(key, { first: node, rows: 1 })
    }
  }
  if (explained.size === 0) return
  yield ''
  const lines = [...explained].slice(0, reasonsShown)
  for (const [reason, { first, rows: count }] of lines) {
    const name = shortened(nameOf(first))
    const where = count === 1 ? name : `${name} and ${count - 1} more`
    yield `${missingMark} ${reason} (${where})`
  }
  if (explained.size > reasonsShown)
    yield `${missingMark} and ${explained.size - reasonsShown} more reasons`
}
