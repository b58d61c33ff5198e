/**
 * V8's .cpuprofile: Node's --cpu-prof, Chrome's developer tools, and the older form with a "head"
 * (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). A sample lasts until the next one.
 */
import { UserError } from '../../errors'
import { timeMetric } from '../tree/profileTree'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import type { OpenedProfile } from './reader'
import { StackTree } from './stackTree'

interface CallNode {
  id: number
  name: string
  file: string
  /** 1-based; NaN: none. */
  line: number
  hits: number
  children: number[]
}

export function readCpuProfile(bytes: Uint8Array, fileName: string): OpenedProfile {
  const file = parseJson(bytes, fileName)
  const nodes = isObject(property(file, 'head'))
    ? nodesBelow(property(file, 'head'))
    : listOf(property(file, 'nodes')).map(nodeOf)
  const root = nodes[0]
  if (!root) throw new UserError('usage', `${fileName}: the CPU profile has no nodes.`)
  const tree = new StackTree()
  const nodeOfId = place(tree, nodes, fileName)
  const times = timesOf(file)
  const samples = listOf(property(file, 'samples'))
  if (times) {
    times.forEach((us, at) => {
      const node = nodeOfId.get(numberOr(samples[at], NaN))
      if (node === undefined)
        throw new UserError(
          'usage',
          `${fileName}: sample ${at + 1} is of a node ${String(samples[at])} that is not there.`
        )
      tree.add(node, timeMetric, Math.round(us * 1000))
      tree.add(node, 'samples', 1)
    })
  } else
    for (const { id, hits } of nodes) if (hits > 0) tree.add(nodeOfId.get(id)!, 'samples', hits)
  const notes = times
    ? []
    : ['The CPU profile has no times of its samples: only their number is known.']
  return { tree: tree.finish('cpuprofile', notes), timeline: null }
}

/** Below the root of the tree, each node below the one that calls it. @returns the tree's node of each id */
function place(tree: StackTree, nodes: readonly CallNode[], fileName: string): Map<number, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const placed = new Map<number, number>([[nodes[0]!.id, 0]])
  const open = [nodes[0]!]
  for (let node = open.pop(); node; node = open.pop()) {
    const parent = placed.get(node.id)!
    for (const id of node.children) {
      const child = byId.get(id)
      if (!child || placed.has(id))
        throw new UserError(
          'usage',
          `${fileName}: node ${node.id} calls node ${id}, which ${child ? 'has a caller already' : 'is not there'}.`
        )
      const { name, file, line } = child
      const frame = { name, file, ...(Number.isFinite(line) && { line }) }
      placed.set(id, tree.child(parent, id, frame))
    }
    // The last one is taken first: in order they stand as the file has them.
    for (let at = node.children.length - 1; at >= 0; at--) open.push(byId.get(node.children[at]!)!)
  }
  return placed
}

/** How long each sample lasts, in microseconds, in the file's order; null where it does not say. */
function timesOf(file: unknown): number[] | null {
  const count = listOf(property(file, 'samples')).length
  const deltas = listOf(property(file, 'timeDeltas'))
  const stamps = listOf(property(file, 'timestamps'))
  const start = numberOr(property(file, 'startTime'), 0)
  // The older form has its ends in seconds and its samples in microseconds.
  const end = numberOr(property(file, 'endTime'), NaN) * (stamps.length > 0 ? 1e6 : 1)
  const at: number[] = []
  if (count > 0 && deltas.length === count) {
    let now = start
    for (const delta of deltas) at.push((now += numberOr(delta, 0)))
  } else if (count > 0 && stamps.length === count)
    for (const stamp of stamps) at.push(numberOr(stamp, 0))
  else return null
  // Threads of V8 may write samples out of order: each lasts until the next in time.
  const order = at.map((_, index) => index).sort((a, b) => at[a]! - at[b]!)
  const lasts = new Array<number>(count).fill(0)
  order.forEach((index, place) => {
    const next = order[place + 1]
    const until = next === undefined ? end : at[next]!
    lasts[index] = Math.max(0, Number.isNaN(until) ? 0 : until - at[index]!)
  })
  return lasts
}

function nodeOf(value: unknown): CallNode {
  const frame = property(value, 'callFrame') ?? value
  return {
    id: numberOr(property(value, 'id'), NaN),
    name: stringOr(property(frame, 'functionName'), '') || '(anonymous)',
    file: stringOr(property(frame, 'url'), ''),
    line: numberOr(property(frame, 'lineNumber'), -1) + 1 || NaN,
    hits: numberOr(property(value, 'hitCount'), 0),
    children: listOf(property(value, 'children')).map((child) =>
      isObject(child) ? numberOr(property(child, 'id'), NaN) : numberOr(child, NaN)
    )
  }
}

/** The older form nests its nodes. */
function nodesBelow(head: unknown): CallNode[] {
  const nodes: CallNode[] = []
  const open = [head]
  for (let at = 0; at < open.length; at++) {
    nodes.push(nodeOf(open[at]))
    for (const child of listOf(property(open[at], 'children'))) open.push(child)
  }
  return nodes
}
