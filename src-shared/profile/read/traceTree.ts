/**
 * Call paths of trace events that do not say theirs. Events of a thread nest by time. In PyTorch's traces (Kineto) what
 * runs on the GPU belongs to the call that launched it, by "correlation", or to the operator, by "External id".
 */
import { integers } from '../tree/growing'
import type { PathTree } from '../tree/pathTree'
import { callsMetric, countMetric, timeMetric } from '../tree/profileTree'
import { deviceLanes, gpuAnnotation, gpuKinds, launchKinds } from '../tree/traceCategories'
import { GpuOverlap, isCommunication } from './gpuOverlap'
import type { FinishedColumns, TraceColumns } from './traceColumns'

export const cpuTimeMetric = 'cpu_time (ns)'
const bytesMetric = 'bytes'
const unknownLaunch = '(launch not recorded)'

const kinetoOnly = [
  'cpu_op',
  'operator',
  'cuda_runtime',
  'cuda_driver',
  'hip_runtime',
  'runtime',
  'python_function',
  'user_annotation',
  gpuAnnotation,
  'gpu_memcpy',
  'gpu_memset',
  'memcpy',
  'memset'
]
/** What has no place among calls and launches, and as what a note counts it. */
const timelineOnly: ReadonlyMap<string, string> = new Map([
  [gpuAnnotation, 'annotations of GPU streams'],
  ['cuda_sync', 'waits of GPU streams'],
  ['trace', 'spans of the profiler itself'],
  ['overhead', 'spans of the profiler itself']
])

/** Whether the categories are those of PyTorch's profiler. */
export function isKineto(categories: Iterable<string>): boolean {
  const found = new Set([...categories].map((category) => category.toLowerCase()))
  return kinetoOnly.some((category) => found.has(category)) || found.has('kernel')
}

export class TraceTreeBuilder {
  /** Events that are the call and what it launched, by correlation. */
  get launches(): { from: number; to: number }[] {
    const [from, to] = [this.launchFrom.trimmed(), this.launchTo.trimmed()]
    return Array.from(from, (call, at) => ({ from: call, to: to[at]! }))
  }
  private readonly launchFrom = integers()
  private readonly launchTo = integers()
  private readonly kinds: string[] = []
  /** Facts by their string's id, and those that a node was given last: launches repeat them. */
  private readonly facts = new Map<number, [string, string][]>()
  private readonly factsOfNode = new Map<number, number>()
  /** Of each string of the trace its number as a name of the tree. */
  private readonly names: number[] = []

  constructor(
    private readonly tree: PathTree,
    private readonly events: TraceColumns,
    private readonly columns: FinishedColumns
  ) {}

  /** Gives every event that has no node yet its node, and the nodes their sums; what is left out, in sentences. */
  addKineto(): string[] {
    const { columns, tree } = this
    const onCpu: number[] = []
    const onGpu: number[] = []
    const inTimelineOnly = new Map<string, number>()
    for (let event = 0; event < this.events.count; event++) {
      if (columns.node[event]! >= 0) continue
      const kind = this.kind(event)
      if (gpuKinds.has(kind)) onGpu.push(event)
      else if (timelineOnly.has(kind)) {
        columns.node[event] = 0
        const what = timelineOnly.get(kind)!
        inTimelineOnly.set(what, (inTimelineOnly.get(what) ?? 0) + 1)
      } else onCpu.push(event)
    }
    this.nest(onCpu, this.processScopes(onCpu))
    const launchOf = new Map<number, number>()
    for (const event of onCpu) {
      const correlation = columns.correlation[event]!
      if (launchKinds.has(this.kind(event)) && !Number.isNaN(correlation))
        launchOf.set(correlation, event)
    }
    // Asked only where a call was not recorded: a trace has millions of operators.
    let operatorOf: Map<number, number> | undefined
    let withoutLaunch = 0
    for (const event of onGpu) {
      const call = launchOf.get(columns.correlation[event]!)
      if (call !== undefined) {
        this.launchFrom.push(call)
        this.launchTo.push(event)
      }
      const launch =
        call ?? (operatorOf ??= this.operatorsOf(onCpu)).get(columns.externalId[event]!)
      if (launch === undefined) withoutLaunch++
      // Where no calls were recorded at all, no launch is missing.
      const otherwise = onCpu.length > 0 ? [unknownLaunch] : []
      const parent = launch === undefined ? tree.at(otherwise) : columns.node[launch]!
      const node = this.child(parent, event)
      columns.node[event] = node
      this.addLaunch(event, node)
      this.setKind(node, gpuKinds.get(this.kind(event))!)
    }
    // Behind what ran on GPUs, whose metrics come first.
    for (const event of onCpu) {
      this.addCall(event)
      this.addFacts(event, columns.node[event]!)
    }
    const notes: string[] = []
    if (withoutLaunch > 0 && onCpu.length > 0)
      notes.push(
        `The calls of ${withoutLaunch} of ${onGpu.length} GPU events were not recorded: they stand under '${unknownLaunch}'.`
      )
    for (const [what, count] of inTimelineOnly)
      notes.push(`${count} ${what} are in the timeline only.`)
    this.addOverlap(onGpu)
    return notes
  }

  /**
   * Any other trace: process, thread, events nested by time. Time is that of each event less what it calls; where some
   * processes are devices (XLA's '/device:GPU:0'), only their streams have GPU time and the rest has CPU time.
   */
  addGeneric(): string[] {
    const { columns, events, tree } = this
    const kinds = deviceLanes(events.lanes)
    const hasDevices = kinds.some((kind) => kind !== 'host')
    const open: number[] = []
    for (let event = 0; event < events.count; event++) {
      if (columns.node[event]! < 0) open.push(event)
    }
    const scopes = events.lanes.map((lane) =>
      tree.at([lane.process, lane.name].filter((name) => name !== ''))
    )
    const ownNs = this.nest(open, scopes)
    open.forEach((event, at) => {
      const lane = columns.lane[event]!
      const node = columns.node[event]!
      if (!hasDevices || kinds[lane] === 'work') {
        this.sum(timeMetric, node, Math.round(ownNs[at]!))
        this.sum(countMetric, node, 1)
        tree.addSample(node, columns.durationNs[event]!)
        const bytes = columns.bytes[event]!
        if (!Number.isNaN(bytes)) this.sum(bytesMetric, node, bytes)
      } else if (kinds[lane] === 'host') this.addCall(event)
      this.addFacts(event, node)
    })
    return []
  }

  /** On the root, so that ranks joined later each have their own. */
  private addOverlap(onGpu: readonly number[]): void {
    const { columns, events, tree } = this
    const overlap = new GpuOverlap()
    for (const event of onGpu) {
      const isKernel = gpuKinds.get(this.kind(event)) === 'kernel'
      const ofKernel = isCommunication(this.name(event)) ? 'communication' : 'compute'
      overlap.add(
        events.lanes[columns.lane[event]!]!.processId,
        isKernel ? ofKernel : this.kind(event) === 'gpu_graph' ? 'compute' : 'copy',
        columns.startNs[event]!,
        columns.durationNs[event]!
      )
    }
    for (const [metric, ns] of overlap.sums()) tree.addNumber(0, metric, Math.round(ns), false)
  }

  addLaunch(event: number, node: number): void {
    const { columns, tree } = this
    const ns = columns.durationNs[event]!
    this.sum(timeMetric, node, Math.round(ns))
    this.sum(countMetric, node, 1)
    tree.addSample(node, ns)
    const bytes = columns.bytes[event]!
    if (!Number.isNaN(bytes)) this.sum(bytesMetric, node, bytes)
    this.addFacts(event, node)
  }

  private addFacts(event: number, node: number): void {
    const { columns, tree } = this
    const facts = columns.facts[event]!
    if (facts < 0 || this.factsOfNode.get(node) === facts) return
    this.factsOfNode.set(node, facts)
    for (const [name, value] of this.parsedFacts(facts)) {
      const before = tree.textAt(node, name)
      // Launches of one kernel may differ: what they do not share is told per launch, on the timeline.
      if (before === undefined) tree.setText(node, name, value)
      else if (before !== value) tree.setText(node, name, 'varies')
    }
  }

  private parsedFacts(facts: number): [string, string][] {
    let parsed = this.facts.get(facts)
    if (!parsed) {
      const text = this.events.strings.text(facts)
      parsed = Object.entries(JSON.parse(text) as Record<string, string>)
      this.facts.set(facts, parsed)
    }
    return parsed
  }

  private setKind(node: number, kind: string): void {
    if (this.tree.textAt(node, 'kind') === undefined) this.tree.setText(node, 'kind', kind)
  }

  private sum(metric: string, node: number, value: number): void {
    this.tree.addNumber(node, metric, value, false)
  }

  private addCall(event: number): void {
    const node = this.columns.node[event]!
    this.sum(cpuTimeMetric, node, Math.round(this.columns.durationNs[event]!))
    this.sum(callsMetric, node, 1)
  }

  /** A scope of its own per program, where there are several; threads share the scopes. */
  private processScopes(onCpu: readonly number[]): number[] {
    const { lanes } = this.events
    const used = new Set(onCpu.map((event) => this.columns.lane[event]!))
    const processes = new Set([...used].map((lane) => lanes[lane]!.process))
    return lanes.map(({ process }, lane) =>
      processes.size > 1 && used.has(lane) ? this.tree.at([process]) : 0
    )
  }

  /**
   * Places events of each lane below the one that surrounds them.
   * @param scopes node of each lane that its outermost events stand below
   * @returns of each event its duration less those of the events directly within, ns
   */
  private nest(found: readonly number[], scopes: readonly number[]): Float64Array {
    const { lane, startNs, durationNs, node } = this.columns
    const own = new Float64Array(found.length)
    const around: number[] = []
    for (const inLane of this.byLane(found)) {
      around.length = 0
      for (const at of inLane) {
        const event = found[at]!
        while (around.length > 0) {
          const outer = found[around[around.length - 1]!]!
          if (startNs[event]! < startNs[outer]! + durationNs[outer]!) break
          around.pop()
        }
        const outer = around[around.length - 1]
        const parent = outer === undefined ? scopes[lane[event]!]! : node[found[outer]!]!
        node[event] = this.child(parent, event)
        own[at] = durationNs[event]!
        if (outer !== undefined) own[outer] = Math.max(0, own[outer]! - durationNs[event]!)
        around.push(at)
      }
    }
    return own
  }

  /** Places in `found` of the events of each lane, those that begin first and last longest first. */
  private byLane(found: readonly number[]): number[][] {
    const { lane, startNs, durationNs } = this.columns
    const lanes: number[][] = this.events.lanes.map(() => [])
    found.forEach((event, at) => lanes[lane[event]!]!.push(at))
    // Sorted as the file has them, they are mostly in order: a sort that merges runs takes little.
    for (const places of lanes)
      places.sort((a, b) => {
        const [x, y] = [found[a]!, found[b]!]
        return startNs[x]! - startNs[y]! || durationNs[y]! - durationNs[x]! || x - y
      })
    return lanes
  }

  /** The node of the event's name below another. */
  private child(parent: number, event: number): number {
    const id = this.columns.name[event]!
    const name = (this.names[id] ??= this.tree.nameId(this.events.strings.text(id)))
    return this.tree.childOfId(parent, name)
  }

  private name(event: number): string {
    return this.events.strings.text(this.columns.name[event]!)
  }

  private kind(event: number): string {
    const id = this.columns.category[event]!
    return (this.kinds[id] ??= this.events.strings.text(id).toLowerCase())
  }

  /** Operators by the "External id" that what they start repeats. */
  private operatorsOf(onCpu: readonly number[]): Map<number, number> {
    const { externalId } = this.columns
    const found = new Map<number, number>()
    for (const event of onCpu) {
      if (!launchKinds.has(this.kind(event)) && !Number.isNaN(externalId[event]))
        found.set(externalId[event]!, event)
    }
    return found
  }
}
