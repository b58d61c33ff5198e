/** Nodes by the names above them, for links: 'ROOT > step 1 > matmul'. */
import { demangle } from './demangle'
import { childrenOf, nodeName, pathOf, type ProfileTree } from '../tree/profileTree'

const separator = ' > '

export function pathText(tree: ProfileTree, node: number): string {
  return pathOf(tree, node).join(separator)
}

/**
 * The node with this path, from the root or from its children down; names as recorded or demangled. -1 when there is
 * none. A name may hold the separator itself, so names are compared with the text rather than cut out of it.
 */
export function nodeAtPath(tree: ProfileTree, path: string): number {
  const roots = childrenOf(tree, -1)
  const starts = [...roots, ...roots.flatMap((root) => childrenOf(tree, root))]
  return find(tree, starts, path.trim())
}

function find(tree: ProfileTree, starts: readonly number[], path: string): number {
  const stack = starts.map((node) => ({ node, rest: path })).reverse()
  while (stack.length > 0) {
    const { node, rest } = stack.pop()!
    const after = restAfter(nodeName(tree, node), rest)
    if (after === undefined) continue
    if (after === '') return node
    const children = childrenOf(tree, node)
    for (let i = children.length - 1; i >= 0; i--) stack.push({ node: children[i]!, rest: after })
  }
  return -1
}

/** What follows a name in a path; '' when the path ends with it, undefined when it does not begin with it. */
function restAfter(recorded: string, path: string): string | undefined {
  for (const name of [recorded, demangle(recorded)]) {
    if (path === name) return ''
    if (path.startsWith(name + separator)) return path.slice(name.length + separator.length)
  }
  return undefined
}
