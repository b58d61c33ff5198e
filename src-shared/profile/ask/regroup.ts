/** The same measurements under other headings: flat by kernel, by caller, or by what a regular expression captures. */
import { longestChain } from '../tree/chainLength'
import { wholeOf } from '../tree/operation'
import { PathTree } from '../tree/pathTree'
import {
  callsMetric,
  nodeName,
  numberColumn,
  ownText,
  samplesOf,
  timeMetric,
  writtenAsInteger,
  type ProfileTree
} from '../tree/profileTree'
import { ourRules, skippedMask, type RollUpRules } from '../tree/rollUp'
import { isSummed } from '../tree/summedMetrics'

export const noMatchGroup = '(no match)'
export const furtherCallers = '(further callers)'

/** ROOT with one child per name, own values of all its nodes summed. CPU time belongs to scopes and is left out. */
export function flattenByKernel(
  tree: ProfileTree,
  nameOf: (name: string) => string = (name) => name,
  rules: RollUpRules = ourRules
): ProfileTree {
  const name = namer(tree, nameOf)
  return regroup(tree, (node) => [name(node)], rules)
}

/**
 * ROOT with one child per name, and below each the chain of who called it, nearest first: where a kernel that runs in
 * many places takes its time. Own values lie at the end of each chain, so that sums are those of the callers.
 */
export function invertCalls(
  tree: ProfileTree,
  nameOf: (name: string) => string = (name) => name,
  rules: RollUpRules = ourRules
): ProfileTree {
  const name = namer(tree, nameOf)
  const longest = longestChain(tree, measured(tree, rules))
  const pathOf = (node: number) => {
    const path: string[] = []
    // Roots, mostly a ROOT, call everything and say nothing.
    for (let at = node; tree.parent[at]! >= 0; at = tree.parent[at]!) {
      if (path.length > longest) return [...path, furtherCallers]
      path.push(name(at))
    }
    return path
  }
  const inverted = regroup(tree, pathOf, rules)
  if (longest < Infinity) {
    inverted.warnings.push(
      `The profile is ${tree.depth.reduce((a, b) => Math.max(a, b), 0)} levels deep: callers further than ${longest} calls away are one row, '${furtherCallers}'.`
    )
  }
  return inverted
}

/**
 * ROOT, then one scope per captured text, then kernels by name. A node belongs to the group of the nearest name on its
 * path, itself first, that the expression matches: its captures joined with ', ', or the whole match.
 */
export function groupByCapture(
  tree: ProfileTree,
  expression: RegExp,
  nameOf: (name: string) => string = (name) => name,
  rules: RollUpRules = ourRules
): ProfileTree {
  const pattern = new RegExp(expression.source, expression.flags.replace(/[gy]/g, ''))
  const groupOfName = new Map<number, string | null>()
  const groups: string[] = new Array<string>(tree.count)
  for (let node = 0; node < tree.count; node++) {
    const id = tree.name[node]!
    let own = groupOfName.get(id)
    if (own === undefined) {
      const match = pattern.exec(nodeName(tree, node))
      own = match ? match.slice(1).filter(Boolean).join(', ') || match[0] : null
      groupOfName.set(id, own)
    }
    const above = tree.parent[node]!
    groups[node] = own ?? (above < 0 ? noMatchGroup : groups[above]!)
  }
  const name = namer(tree, nameOf)
  return regroup(tree, (node) => [groups[node]!, name(node)], rules)
}

/** The name shown of a node; each distinct name is made once. */
function namer(tree: ProfileTree, nameOf: (name: string) => string): (node: number) => string {
  const names: string[] = []
  return (node) => (names[tree.name[node]!] ??= nameOf(nodeName(tree, node)))
}

/** What rows that are put together may add up. */
function summedColumns(tree: ProfileTree) {
  return tree.numbers.filter((column) => isSummed(column.name))
}

/** Whether a node has values of its own that an arrangement puts somewhere. */
function measured(tree: ProfileTree, rules: RollUpRules): (node: number) => boolean {
  const skipped = skippedMask(tree, rules)
  // Where something ran on a GPU, a call of the host is who started it and no row of its own.
  const hasTime = numberColumn(tree, timeMetric) !== undefined
  const columns = summedColumns(tree).filter(({ name }) => !hasTime || name !== callsMetric)
  return (node) =>
    !skipped[node] &&
    tree.parent[node]! >= 0 &&
    columns.some((column) => Boolean(column.written[node]))
}

function regroup(
  tree: ProfileTree,
  pathOf: (node: number) => string[],
  rules: RollUpRules
): ProfileTree {
  const out = new PathTree()
  const isMeasured = measured(tree, rules)
  // The kernels launched for an operation are in its row.
  const whole = wholeOf(tree)
  const place = new Int32Array(tree.count).fill(-1)
  const columns = summedColumns(tree)
  for (let node = 0; node < tree.count; node++) {
    if (!isMeasured(node)) continue
    const to = out.at(pathOf(whole[node]!))
    place[node] = to
    for (const column of columns) {
      if (!column.written[node]) continue
      out.addNumber(to, column.name, column.values[node]!, column.written[node] === 2)
    }
    for (const ns of samplesOf(tree, node)) out.addSample(to, ns)
  }
  keepCommonTexts(tree, out, place)
  keepCommonNumbers(tree, out, place)
  const flat = out.finish(tree.format, tree.devices, true)
  flat.warnings.push(...tree.warnings)
  return flat
}

/** A share or a rate, which nothing adds up, stays where all the nodes that were joined agree on it. */
function keepCommonNumbers(tree: ProfileTree, out: PathTree, place: Int32Array): void {
  for (const column of tree.numbers) {
    if (isSummed(column.name) || /cpu_time|\(inc\)/i.test(column.name)) continue
    const common = new Map<number, number>()
    for (let node = 0; node < tree.count; node++) {
      const to = place[node]!
      if (to < 0 || !column.written[node]) continue
      const value = column.values[node]!
      common.set(to, (common.get(to) ?? value) === value ? value : NaN)
    }
    const isFloat = !column.written.includes(writtenAsInteger)
    for (const [to, value] of common)
      if (!Number.isNaN(value))
        out.addNumber(to, column.name, value, isFloat || !Number.isInteger(value))
  }
}

/** A property such as device_id stays where all the nodes that were joined agree on it. */
function keepCommonTexts(tree: ProfileTree, out: PathTree, place: Int32Array): void {
  for (const column of tree.texts) {
    const disagreeing = new Set<number>()
    for (let node = 0; node < tree.count; node++) {
      const to = place[node]!
      if (to < 0 || column.values[node]! < 0 || disagreeing.has(to)) continue
      const text = ownText(tree, column, node)
      const before = out.textAt(to, column.name)
      if (before !== undefined && before !== text) {
        disagreeing.add(to)
        out.removeText(to, column.name)
      } else out.setText(to, column.name, text)
    }
  }
}
