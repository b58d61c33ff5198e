/** Which names a person means: a substring, a /regular expression/, or a path query 'a > ** > /K=\d+/'. */
import { UserError } from '../../errors'
import type { ProfileTree } from '../tree/profileTree'

/** One byte per node: 1 where the text names it. Each distinct name is tested once. */
export function matchNodes(
  tree: ProfileTree,
  text: string,
  { ignoreCase = false } = {}
): Uint8Array {
  const segments = text.split(/\s+>\s+/)
  if (segments.length > 1) return matchPath(tree, segments)
  return matchNames(tree, nameTest(text, { ignoreCase }))
}

/** proton-viewer's patterns: a regular expression that must match from the start of the name. */
export function matchProtonPattern(tree: ProfileTree, pattern: string): Uint8Array {
  const expression = compile(`^(?:${pattern})`, '', pattern)
  return matchNames(tree, (name) => expression.test(name))
}

/**
 * The test of one segment. Text between slashes, or with '.*', '^...' or '...$' in it, is a regular expression that
 * may match anywhere in the name; other text is a substring, of any case with `ignoreCase`.
 */
export function nameTest(text: string, { ignoreCase = false } = {}): (name: string) => boolean {
  const slashes = /^\/(.+)\/([imsu]*)$/.exec(text)
  if (slashes) {
    const expression = compile(slashes[1]!, slashes[2]!, text)
    return (name) => expression.test(name)
  }
  if (/\.\*|^\^|\$$/.test(text)) {
    const expression = compile(text, '', text)
    return (name) => expression.test(name)
  }
  if (!ignoreCase) return (name) => name.includes(text)
  const wanted = text.toLowerCase()
  return (name) => name.toLowerCase().includes(wanted)
}

export function compile(source: string, flags: string, shown: string): RegExp {
  try {
    return new RegExp(source, flags)
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /, '') : ''
    throw new UserError('usage', `'${shown}' is not a regular expression: ${why}.`, {
      cause: error
    })
  }
}

function matchNames(tree: ProfileTree, test: (name: string) => boolean): Uint8Array {
  const tested = new Uint8Array(tree.strings.size)
  const matches = new Uint8Array(tree.count)
  for (let node = 0; node < tree.count; node++) {
    const id = tree.name[node]!
    if (tested[id] === 0) tested[id] = test(tree.strings.text(id)) ? 2 : 1
    if (tested[id] === 2) matches[node] = 1
  }
  return matches
}

/**
 * Path queries. Segments match one node each from the root (or ROOT's children) down; '*' is any one node, '**' any
 * number of nodes. The states reached by a node are the bits of one integer, so a query has at most 30 segments.
 */
function matchPath(tree: ProfileTree, segments: readonly string[]): Uint8Array {
  if (segments.length > 30) {
    throw new UserError('usage', `The path query has ${segments.length} segments; the most is 30.`)
  }
  const last = segments.length
  const tests = segments.map((segment) =>
    segment === '*' || segment === '**' ? null : matchNames(tree, nameTest(segment))
  )
  const start = closure(1, segments)
  const reached = new Int32Array(tree.count)
  const matches = new Uint8Array(tree.count)
  for (let node = 0; node < tree.count; node++) {
    const above = tree.parent[node]!
    const isBelowRoot = above >= 0 && tree.parent[above]! < 0
    const before = above < 0 ? start : reached[above]! | (isBelowRoot ? start : 0)
    let after = 0
    for (let i = 0; i < last; i++) {
      if (!(before & (1 << i))) continue
      if (segments[i] === '**') after |= 1 << i
      else if (segments[i] === '*' || tests[i]![node]) after |= 1 << (i + 1)
    }
    after = closure(after, segments)
    reached[node] = after
    if (after & (1 << last)) matches[node] = 1
  }
  return matches
}

/** '**' may stand for nothing: whoever waits before it also waits behind it. */
function closure(states: number, segments: readonly string[]): number {
  for (let i = 0; i < segments.length; i++) {
    if (states & (1 << i) && segments[i] === '**') states |= 1 << (i + 1)
  }
  return states
}
