import { inclusiveNames } from '../tree/pathTree'
import { lastRoot } from '../tree/rollUp'
import { writtenAsInteger, type ProfileTree } from '../tree/profileTree'

/**
 * The tree with a zero on its last root for every inclusive metric. Proton from 3.7 on leaves flops and bytes out of that
 * list, and proton-viewer then prints nan for every scope.
 */
export function withRootZeros(tree: ProfileTree): ProfileTree {
  const root = lastRoot(tree)
  const inclusive = new Set(inclusiveNames(tree.numbers.map((column) => column.name)))
  const numbers = tree.numbers.map((column) => {
    if (!inclusive.has(column.name) || column.written[root]) return column
    const written = column.written.slice()
    written[root] = writtenAsInteger
    return { ...column, written }
  })
  return { ...tree, numbers }
}
