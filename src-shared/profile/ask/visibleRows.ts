/** The rows of a tree view, top to bottom: which children come first, which nodes are open, how deep. */
import { nodeName, type ProfileTree } from '../tree/profileTree'

export type SortOrder =
  /** As the profile recorded them. */
  | { by: 'chronological' }
  | { by: 'name' }
  /** Nodes without a value come last either way. */
  | { by: 'metric'; values: Float64Array; descending: boolean }

export const chronological: SortOrder = { by: 'chronological' }

export interface RowOptions {
  sort?: SortOrder
  /** One byte per node, from filterTree; all nodes when absent. */
  shown?: Uint8Array
  /** Levels 0 .. depth - 1. */
  depth?: number
}

/**
 * Node numbers in display order. A virtualised view draws any window of it.
 * @param expanded nodes whose children are shown; 'all' opens everything.
 */
export function visibleRows(
  tree: ProfileTree,
  expanded: ReadonlySet<number> | 'all',
  options: RowOptions = {}
): Int32Array {
  const sort = options.sort ?? chronological
  return sort.by === 'chronological'
    ? chronologicalRows(tree, expanded, options)
    : sortedRows(tree, expanded, options, comparator(tree, sort))
}

/** Every node that is shown, whatever its level, largest value first; roots, which hold all, are left out. */
export function listedRows(tree: ProfileTree, shown: Uint8Array, values: Float64Array): Int32Array {
  const rows = Int32Array.from(tree.parent.keys()).filter(
    (node) => shown[node] && tree.parent[node]! >= 0
  )
  return rows.sort(comparator(tree, { by: 'metric', values, descending: true }))
}

function chronologicalRows(
  tree: ProfileTree,
  expanded: ReadonlySet<number> | 'all',
  { shown, depth = Infinity }: RowOptions
): Int32Array {
  const rows = new Int32Array(tree.count)
  let count = 0
  for (let node = 0; node < tree.count;) {
    if (shown && !shown[node]) {
      node = tree.end[node]!
      continue
    }
    if (tree.depth[node]! < depth) rows[count++] = node
    const isOpen = tree.depth[node]! + 1 < depth && (expanded === 'all' || expanded.has(node))
    node = isOpen ? node + 1 : tree.end[node]!
  }
  return rows.slice(0, count)
}

function sortedRows(
  tree: ProfileTree,
  expanded: ReadonlySet<number> | 'all',
  { shown, depth = Infinity }: RowOptions,
  compare: (a: number, b: number) => number
): Int32Array {
  const rows = new Int32Array(tree.count)
  let count = 0
  const stack = shownChildren(tree, -1, shown).sort(compare).reverse()
  while (stack.length > 0) {
    const node = stack.pop()!
    if (tree.depth[node]! >= depth) continue
    rows[count++] = node
    if (expanded !== 'all' && !expanded.has(node)) continue
    const children = shownChildren(tree, node, shown)
    if (children.length > 1) children.sort(compare)
    for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!)
  }
  return rows.slice(0, count)
}

function shownChildren(tree: ProfileTree, node: number, shown: Uint8Array | undefined): number[] {
  const children: number[] = []
  const stop = node < 0 ? tree.count : tree.end[node]!
  for (let child = node + 1; child < stop; child = tree.end[child]!) {
    if (!shown || shown[child]) children.push(child)
  }
  return children
}

function comparator(tree: ProfileTree, sort: SortOrder): (a: number, b: number) => number {
  if (sort.by === 'name') {
    return (a, b) => {
      const left = nodeName(tree, a)
      const right = nodeName(tree, b)
      return left < right ? -1 : left > right ? 1 : a - b
    }
  }
  if (sort.by === 'chronological') return (a, b) => a - b
  const { values, descending } = sort
  return (a, b) => {
    const left = values[a]!
    const right = values[b]!
    if (Number.isNaN(left) || Number.isNaN(right)) {
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || a - b
    }
    return (descending ? right - left : left - right) || a - b
  }
}
