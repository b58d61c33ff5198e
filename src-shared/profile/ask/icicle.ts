/** Rectangles of an icicle or flame graph. */
import type { ProfileTree } from '../tree/profileTree'

export interface IcicleLayout {
  /** Left and right edge per node, 0..1 of the total; equal where the node has no extent. */
  x0: Float64Array<ArrayBuffer>
  x1: Float64Array<ArrayBuffer>
  /** Row per node: its depth in the tree. */
  depth: Int32Array
  /** Rows in all. */
  levels: number
}

/** The same layout drawn over the width of one node, which becomes 1; its ancestors are cut to it, siblings vanish. */
export function zoomTo(layout: IcicleLayout, node: number): IcicleLayout {
  const [left, right] = [layout.x0[node]!, layout.x1[node]!]
  if (!(right > left)) return layout
  const zoom = (x: number) => Math.min(1, Math.max(0, (x - left) / (right - left)))
  return { ...layout, x0: layout.x0.map(zoom), x1: layout.x1.map(zoom) }
}

/**
 * Places each node within its parent in file order, as wide as its share of the total.
 * @param values subtree sums, such as deriveMetric(tree, 'time/ms').values; NaN and negative count as nothing.
 * @param shown from filterTree; nodes left out take no room.
 */
export function icicle(tree: ProfileTree, values: Float64Array, shown?: Uint8Array): IcicleLayout {
  const x0 = new Float64Array(tree.count)
  const x1 = new Float64Array(tree.count)
  const cursor = new Float64Array(tree.count)
  const amount = (node: number) =>
    values[node]! > 0 && (!shown || shown[node]) ? values[node]! : 0
  let total = 0
  for (let root = 0; root < tree.count; root = tree.end[root]!) total += amount(root)
  let top = 0
  let levels = 0
  for (let node = 0; node < tree.count; node++) {
    const above = tree.parent[node]!
    const start = above < 0 ? top : cursor[above]!
    const width = total > 0 ? amount(node) / total : 0
    x0[node] = start
    // Children whose sums exceed their parent's (mixed trees) are cut at its edge.
    x1[node] = Math.min(start + width, above < 0 ? 1 : x1[above]!)
    cursor[node] = start
    if (above < 0) top = x1[node]!
    else cursor[above] = x1[node]!
    if (width > 0) levels = Math.max(levels, tree.depth[node]! + 1)
  }
  return { x0, x1, depth: tree.depth, levels }
}
