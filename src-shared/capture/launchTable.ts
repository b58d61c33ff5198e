/** Everything that is known of one launch, as a row of CSV or JSON. */
import { copyName, setName } from './copyNames'
import type { CapturedActivity } from './captureReader'
import type { ShardNames } from './shardNames'

export interface LaunchRow {
  kind: CapturedActivity['kind']
  name: string
  process: string
  thread: string
  /** NVTX ranges, outermost first; of a kernel in a graph those of the replay. */
  path: readonly string[]
  /** Frames of Python that the call was made from, outermost first; empty where they were not asked for. */
  python: readonly string[]
  /** Frames and ranges of its capture; empty outside graphs. */
  capturedAt: readonly string[]
  /** ns after the start of the capture; null where counters measured the launch, which then ran several times over. */
  startNs: number | null
  durationNs: number | null
  /** When its call began; null where that was not recorded. */
  launchNs: number | null
  device: number | null
  context: number | null
  stream: number | null
  correlation: number
  graph: number
  node: number
  bytes: number | null
  grid: readonly number[]
  block: readonly number[]
  cluster: readonly number[]
  registersPerThread: number | null
  staticSharedBytes: number | null
  dynamicSharedBytes: number | null
  localBytesPerThread: number | null
}

export function launchOf(
  activity: CapturedActivity,
  names: ShardNames,
  process: string
): LaunchRow {
  const { kind, path, thread, node } = activity
  const shape = kind === 'kernel' ? names.shapes[activity.shape] : undefined
  const place = names.places[activity.place]
  const captured = node === 0 ? undefined : names.pathOfNode.get(node)
  const known = names.threads[thread]
  return {
    kind,
    name: nameOf(activity, shape?.kernel),
    process,
    thread: known ? `${known.name} (${known.tid})` : '',
    path: path > 0 ? names.namesOf(path, 'ranges') : [],
    python: path > 0 ? names.namesOf(path, 'python') : [],
    capturedAt: captured === undefined ? [] : names.namesOf(captured),
    startNs: numberOrNull(activity.startNs),
    durationNs: numberOrNull(activity.durationNs),
    launchNs: numberOrNull(activity.launchNs),
    device: place?.device ?? null,
    context: place?.context ?? null,
    stream: place?.stream ?? null,
    correlation: activity.correlation,
    graph: activity.graph,
    node,
    bytes: numberOrNull(activity.bytes),
    grid: shape?.grid ?? [],
    block: shape?.block ?? [],
    cluster: shape?.cluster ?? [],
    registersPerThread: shape?.registersPerThread ?? null,
    staticSharedBytes: shape?.staticSharedBytes ?? null,
    dynamicSharedBytes: shape?.dynamicSharedBytes ?? null,
    localBytesPerThread: shape?.localBytesPerThread ?? null
  }
}

const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

function nameOf(activity: CapturedActivity, kernel: string | undefined): string {
  const { kind, graph, copyKind, sourceKind, targetKind } = activity
  if (kind === 'kernel') return kernel || '(unnamed kernel)'
  if (kind === 'graph') return `CUDA graph ${graph}`
  return kind === 'copy' ? copyName(copyKind, sourceKind, targetKind) : setName(targetKind)
}

const columns = [
  ...['kind', 'name', 'process', 'thread', 'path', 'python', 'capturedAt', 'startNs', 'durationNs'],
  ...['launchNs', 'device', 'context', 'stream', 'correlation', 'graph', 'node', 'bytes', 'grid'],
  ...['block', 'cluster', 'registersPerThread', 'staticSharedBytes', 'dynamicSharedBytes'],
  'localBytesPerThread'
] as (keyof LaunchRow)[]

export const launchCsvHeader = columns.join(',')

/** RFC 4180; lists with > between ranges and x between extents, absent values empty. */
export function launchCsvLine(row: LaunchRow): string {
  return columns.map((column) => field(row[column], column)).join(',')
}

function field(value: LaunchRow[keyof LaunchRow], column: keyof LaunchRow): string {
  if (value === null) return ''
  const isPath = column === 'path' || column === 'python' || column === 'capturedAt'
  const text = Array.isArray(value) ? value.join(isPath ? ' > ' : 'x') : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
