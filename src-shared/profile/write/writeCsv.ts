import { nodeName, ownText, type ProfileTree } from '../tree/profileTree'
import { isInclusive, metricValues, ourRules } from '../tree/rollUp'

/**
 * One row per node (RFC 4180): node, parent, depth, name; then each metric's own value and, for sums, its value over the
 * subtree as '<metric> (inc)'; then text properties. Absent values are empty fields.
 */
export function* csvLines(tree: ProfileTree, nameOf: (name: string) => string): Generator<string> {
  const sums = tree.numbers
    .filter((column) => isInclusive(tree, column.name, ourRules))
    .map((column) => ({ name: `${column.name} (inc)`, values: metricValues(tree, column.name) }))
  const names = [
    ...tree.numbers.map((column) => column.name),
    ...sums.map((sum) => sum.name),
    ...tree.texts.map((column) => column.name)
  ]
  yield `${['node', 'parent', 'depth', 'name', ...names].map(field).join(',')}\r\n`
  for (let node = 0; node < tree.count; node++) {
    const parent = tree.parent[node]!
    const cells = [
      String(node),
      parent < 0 ? '' : String(parent),
      String(tree.depth[node]),
      field(nameOf(nodeName(tree, node)))
    ]
    for (const column of tree.numbers)
      cells.push(number(column.written[node] ? column.values[node]! : NaN))
    for (const sum of sums) cells.push(number(sum.values[node]!))
    for (const column of tree.texts) cells.push(field(ownText(tree, column, node)))
    yield `${cells.join(',')}\r\n`
  }
}

function number(value: number): string {
  return Number.isNaN(value) ? '' : String(value)
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text
}
