/**
 * A profile as columns. Nodes are numbered in preorder, children in the order they were first seen, so the subtree of
 * node i is the range [i, end[i]), its first child is i + 1 and its next sibling is end[i]: a roll-up is one loop
 * backwards, and a million nodes are a handful of typed arrays that cross threads without copying.
 */
import type { StringTable } from './stringTable'

/** How a number was written; 0 where the node has none. Kept so that a file written again equals the one read. */
export const absent = 0
export const writtenAsInteger = 1
export const writtenAsFloat = 2

export interface NumberColumn {
  /** As in the file, unit included, in today's spelling: 'time (ns)'. */
  name: string
  /** Own (exclusive) value per node; 0 where absent. */
  values: Float64Array<ArrayBuffer>
  /** Per node: absent, writtenAsInteger or writtenAsFloat. */
  written: Uint8Array<ArrayBuffer>
  /** Integers beyond 2^53, which a double cannot hold, by node. */
  exact: Map<number, bigint>
}

export interface TextColumn {
  name: string
  /** String id per node, -1 where absent. */
  values: Int32Array<ArrayBuffer>
}

export interface Vector {
  node: number
  name: string
  values: Float64Array<ArrayBuffer>
  written: number
}

/** Per-launch times of the nodes that have them: values[start[i], start[i + 1]) ns belong to node[i]; node ascends. */
export interface Samples {
  node: Int32Array<ArrayBuffer>
  start: Int32Array<ArrayBuffer>
  values: Float64Array<ArrayBuffer>
}

/** Proton's device element: one entry per device that ran a kernel. */
export interface ProfileDevice {
  /** 'CUDA', 'HIP' */
  type: string
  /** '0', '1' */
  id: string
  /** '90', 'gfx942' */
  arch: string
  busWidthBits: number
  clockRateKHz: number
  memoryClockRateKHz: number
  multiprocessors: number
}

export type ProfileFormat =
  | 'hatchet'
  | 'hatchet_msgpack'
  | 'chrome_trace'
  | 'nsys'
  | 'capture'
  | 'rocprofv3'
  | 'ncu'
  | 'nvbench'
  | 'run'
  | 'built'
  | 'xplane'
  | 'perfetto'
  | 'speedscope'
  | 'folded'
  | 'cpuprofile'
  | 'caliper'
  | 'csv'
  | 'json'

export interface ProfileTree {
  count: number
  /** -1 for a root. A Proton profile has one root; literals of other tools may have several. */
  parent: Int32Array<ArrayBuffer>
  /** First node after the subtree. */
  end: Int32Array<ArrayBuffer>
  depth: Int32Array<ArrayBuffer>
  /** String id of the frame's name. */
  name: Int32Array<ArrayBuffer>
  /** String id of the frame's type, -1 where the file has none. */
  frameType: Int32Array<ArrayBuffer>
  strings: StringTable
  numbers: NumberColumn[]
  texts: TextColumn[]
  vectors: Vector[]
  samples: Samples | null
  devices: ProfileDevice[]
  format: ProfileFormat
  /** Proton 3.1 wrote 'Time (ns)', 'Count', 'DeviceId', 'DeviceType'. */
  titleCase: boolean
  /** False: the file was [tree] or a bare tree, without a device element. */
  hasDeviceElement: boolean
  /** One sentence per thing in the file that was passed over. */
  warnings: string[]
}

export const metadataFrame = '__proton_launch_metadata'
export const timeMetric = 'time (ns)'
export const countMetric = 'count'
/** How often a call or range of the host ran, beside its CPU time. */
export const callsMetric = 'calls'

export function nodeName(tree: ProfileTree, node: number): string {
  return tree.strings.text(tree.name[node]!)
}

/** What is told by the name of a node alone is worked out once for each name. */
export function byNameId(
  tree: ProfileTree,
  of: (name: string) => number
): (node: number) => number {
  const known: number[] = []
  return (node) => (known[tree.name[node]!] ??= of(nodeName(tree, node)))
}

/** Children of a node in file order; of the roots for -1. */
export function childrenOf(tree: ProfileTree, node: number): number[] {
  const children: number[] = []
  const stop = node < 0 ? tree.count : tree.end[node]!
  for (let child = node + 1; child < stop; child = tree.end[child]!) children.push(child)
  return children
}

/** Names from the root to the node. */
export function pathOf(tree: ProfileTree, node: number): string[] {
  const path: string[] = []
  for (let at = node; at >= 0; at = tree.parent[at]!) path.push(nodeName(tree, at))
  return path.reverse()
}

export function numberColumn(tree: ProfileTree, name: string): NumberColumn | undefined {
  return tree.numbers.find((column) => column.name === name)
}

export function textColumn(tree: ProfileTree, name: string): TextColumn | undefined {
  return tree.texts.find((column) => column.name === name)
}

/** Own value of a node, NaN where absent. */
export function ownValue(column: NumberColumn | undefined, node: number): number {
  return column && column.written[node] ? column.values[node]! : NaN
}

/** Text property of a node, '' where absent. */
export function ownText(tree: ProfileTree, column: TextColumn | undefined, node: number): string {
  return column ? tree.strings.text(column.values[node]!) : ''
}

/** The per-launch times of a node in ns; empty where the profile has only sums. */
export function samplesOf(tree: ProfileTree, node: number): Float64Array {
  const samples = tree.samples
  if (!samples) return new Float64Array(0)
  let low = 0
  let high = samples.node.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (samples.node[middle]! < node) low = middle + 1
    else high = middle
  }
  if (samples.node[low] !== node) return new Float64Array(0)
  return samples.values.subarray(samples.start[low], samples.start[low + 1])
}

/** One byte per node: 1 inside a launch-metadata subtree, whose time is not the workload's. */
export function metadataMask(tree: ProfileTree): Uint8Array {
  const mask = new Uint8Array(tree.count)
  const isMetadata = new Uint8Array(tree.strings.size)
  let any = false
  for (let id = 0; id < isMetadata.length; id++) {
    const text = tree.strings.text(id)
    if (text === metadataFrame || text.startsWith(`${metadataFrame}:`)) {
      isMetadata[id] = 1
      any = true
    }
  }
  if (!any) return mask
  for (let node = 0; node < tree.count;) {
    if (isMetadata[tree.name[node]!]) {
      mask.fill(1, node, tree.end[node])
      node = tree.end[node]!
    } else node++
  }
  return mask
}
