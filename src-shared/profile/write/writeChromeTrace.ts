import { nestedIntervals } from '../ask/nestedIntervals'
import { nodeName, ownText, type ProfileTree } from '../tree/profileTree'
import { ownTraceKey, type Timeline } from '../tree/timeline'
import { hatchetPieces } from './writeHatchet'

/**
 * Trace Event Format, for Perfetto and chrome://tracing. A timeline keeps its lanes, times and launch flows; a tree of
 * sums is laid out one node after another on one lane, its own metrics in args.
 */
export function* chromeTracePieces(
  tree: ProfileTree,
  timeline: Timeline | null,
  nameOf: (name: string) => string
): Generator<string> {
  yield '{"displayTimeUnit":"ns",'
  yield* ownProfilePieces(tree)
  if (timeline) yield* stackFramePieces(tree, timeline)
  yield '"traceEvents":[\n'
  let separator = ''
  const events = timeline ? timelineEvents(tree, timeline, nameOf) : treeEvents(tree, nameOf)
  for (const event of events) {
    yield `${separator}${JSON.stringify(event)}`
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** The tree itself ahead of the events, so that a trace of ours opens as what it was made from. */
export function* ownProfilePieces(tree: ProfileTree): Generator<string> {
  yield `"${ownTraceKey}":`
  yield* hatchetPieces(tree)
  yield ','
}

/** Where an event took place: a kernel has a node of its own, a call that of the scope it was made in. 0: outside all. */
function scopeOf(tree: ProfileTree, timeline: Timeline, event: number): number {
  const node = timeline.node[event]!
  const name = timeline.strings.text(timeline.name[event]!)
  return node > 0 && nodeName(tree, node) === name ? tree.parent[node]! : node
}

/** The scopes that events name by `sf`: frames of Python, NVTX ranges, threads. */
function* stackFramePieces(tree: ProfileTree, timeline: Timeline): Generator<string> {
  const isNamed = new Uint8Array(tree.count)
  for (let event = 0; event < timeline.count; event++)
    for (let at = scopeOf(tree, timeline, event); at > 0 && !isNamed[at]; at = tree.parent[at]!)
      isNamed[at] = 1
  yield '"stackFrames":{'
  let separator = ''
  for (let node = 1; node < tree.count; node++) {
    if (!isNamed[node]) continue
    const parent = tree.parent[node]!
    const frame = {
      category: 'scope',
      name: nodeName(tree, node),
      ...(parent > 0 && { parent: String(parent) })
    }
    yield `${separator}"${node}":${JSON.stringify(frame)}`
    separator = ',\n'
  }
  yield '},\n'
}

function* treeEvents(tree: ProfileTree, nameOf: (name: string) => string): Generator<object> {
  const { metric, start, end } = nestedIntervals(tree)
  yield named('thread_name', 0, 0, `Sums of ${metric}, laid out in order`)
  for (let node = 0; node < tree.count; node++) {
    if (!(end[node]! > start[node]!)) continue
    const own: [string, unknown][] = []
    for (const column of tree.numbers) {
      if (column.written[node]) own.push([column.name, column.values[node]])
    }
    for (const column of tree.texts) {
      if (column.values[node]! >= 0) own.push([column.name, ownText(tree, column, node)])
    }
    yield {
      ph: 'X',
      name: nameOf(nodeName(tree, node)),
      pid: 0,
      tid: 0,
      ts: start[node]! / 1000,
      dur: (end[node]! - start[node]!) / 1000,
      args: Object.fromEntries(own)
    }
  }
}

function* timelineEvents(
  tree: ProfileTree,
  timeline: Timeline,
  nameOf: (name: string) => string
): Generator<object> {
  const processes = [...new Set(timeline.lanes.map(({ processId }) => processId))]
  const pidOf = timeline.lanes.map(({ processId }) => processes.indexOf(processId))
  for (const [pid, id] of processes.entries()) {
    const { process, processLabel } = timeline.lanes.find(({ processId }) => processId === id)!
    yield named('process_name', pid, 0, process)
    if (processLabel !== '')
      yield { ph: 'M', name: 'process_labels', pid, tid: 0, args: { labels: processLabel } }
  }
  for (const [tid, lane] of timeline.lanes.entries())
    yield named('thread_name', pidOf[tid]!, tid, lane.name)
  const place = (event: number) => {
    const lane = timeline.lane[event]!
    return { pid: pidOf[lane], tid: lane, ts: timeline.startNs[event]! / 1000 }
  }
  for (let event = 0; event < timeline.count; event++) {
    const scope = scopeOf(tree, timeline, event)
    yield {
      ph: 'X',
      name: nameOf(timeline.strings.text(timeline.name[event]!)),
      cat: timeline.strings.text(timeline.category[event]!),
      ...place(event),
      dur: timeline.durationNs[event]! / 1000,
      ...(scope > 0 && { sf: String(scope) }),
      args: { node: timeline.node[event]!, ...(scope > 0 && { within: nodeName(tree, scope) }) }
    }
  }
  for (const { name, processId, ns, value } of timeline.counters ?? []) {
    // A counter may be of a process that has no lane.
    const pid = processes.includes(processId) ? processes.indexOf(processId) : `${processId}`
    for (let sample = 0; sample < ns.length; sample++)
      yield { ph: 'C', name, pid, ts: ns[sample]! / 1000, args: { value: value[sample] } }
  }
  for (const [id, { from, to }] of timeline.flows.entries()) {
    const flow = { name: 'launch->kernel', cat: 'flow', id }
    yield { ph: 's', ...flow, ...place(from) }
    yield { ph: 'f', bp: 'e', ...flow, ...place(to) }
  }
}

function named(
  what: 'thread_name' | 'process_name',
  pid: number,
  tid: number,
  name: string
): object {
  return { ph: 'M', name: what, pid, tid, args: { name } }
}
