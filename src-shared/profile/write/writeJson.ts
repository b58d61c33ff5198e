import { nodeName, ownText, type ProfileTree } from '../tree/profileTree'
import { isInclusive, metricValues, ourRules } from '../tree/rollUp'

/**
 * Flat JSON for scripts: { devices, nodes: [{ node, parent, name, own: {...}, sums: {...} }] }, nodes in preorder, own
 * values as recorded, sums over the subtree.
 */
export function* jsonPieces(
  tree: ProfileTree,
  nameOf: (name: string) => string
): Generator<string> {
  const sums = tree.numbers
    .filter((column) => isInclusive(tree, column.name, ourRules))
    .map((column) => ({ name: column.name, values: metricValues(tree, column.name) }))
  yield `{"devices":${JSON.stringify(tree.devices)},\n"nodes":[\n`
  for (let node = 0; node < tree.count; node++) {
    const own: [string, unknown][] = []
    for (const column of tree.numbers) {
      if (column.written[node]) own.push([column.name, column.values[node]])
    }
    for (const column of tree.texts) {
      if (column.values[node]! >= 0) own.push([column.name, ownText(tree, column, node)])
    }
    const row = {
      node,
      parent: tree.parent[node]! < 0 ? null : tree.parent[node],
      name: nameOf(nodeName(tree, node)),
      own: Object.fromEntries(own),
      sums: Object.fromEntries(
        sums.flatMap(({ name, values }) =>
          Number.isNaN(values[node]) ? [] : [[name, values[node]]]
        )
      )
    }
    yield `${JSON.stringify(row)}${node + 1 < tree.count ? ',' : ''}\n`
  }
  yield ']}\n'
}
