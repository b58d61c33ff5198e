/**
 * Proton's chrome traces, to a timeline and to a tree. Kernel traces: one tree path per call_stack, kernel durations
 * summed as time. Intra-kernel traces: kernel, then the nested scopes, cycles summed (Proton writes cycles as ns).
 */
import { UserError } from '../errors'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import { PathTree } from './pathTree'
import { countMetric, timeMetric, type ProfileTree } from './profileTree'
import { StringTable } from './stringTable'
import type { Lane, Timeline } from './timeline'

const deepestStack = 100_000

interface TraceEvent {
  name: string
  category: string
  startNs: number
  durationNs: number
  lane: number
  node: number
}

export function readChromeTrace(
  bytes: Uint8Array,
  fileName: string
): { tree: ProfileTree; timeline: Timeline } {
  const parsed = parseJson(bytes, fileName)
  const list = Array.isArray(parsed) ? parsed : property(parsed, 'traceEvents')
  if (!Array.isArray(list)) {
    throw new UserError(
      'usage',
      `${fileName}: expected a list "traceEvents", found ${typeof list}.`
    )
  }
  const reader = new TraceReader(property(parsed, 'displayTimeUnit') === 'ns')
  for (const event of list) reader.take(event)
  return reader.finish(numberOr(property(parsed, 'baseTimeNanoseconds'), NaN))
}

class TraceReader {
  private readonly tree = new PathTree()
  private readonly events: TraceEvent[] = []
  private readonly lanes: Lane[] = []
  private readonly laneOf = new Map<string, number>()
  private readonly laneNames = new Map<string, string>()
  private readonly processNames = new Map<string, string>()
  private readonly flowStarts = new Map<string, { lane: number; ns: number }>()
  private readonly flowEnds: { id: string; lane: number; ns: number }[] = []
  private skipped = 0

  /** Microseconds to ns; Proton's intra-kernel traces carry cycles / 1000 in the same fields. */
  constructor(private readonly isIntraKernel: boolean) {}

  take(event: unknown): void {
    if (!isObject(event)) {
      this.skipped++
      return
    }
    const phase = property(event, 'ph')
    if (phase === 'X') this.takeComplete(event)
    else if (phase === 'M') this.takeMetadata(event)
    else if (phase === 's' || phase === 'f') this.takeFlow(event, phase === 's')
    else this.skipped++
  }

  finish(baseTimeNs: number): { tree: ProfileTree; timeline: Timeline } {
    this.lanes.forEach((lane, index) => {
      const key = [...this.laneOf].find(([, at]) => at === index)![0]
      lane.name = this.laneNames.get(key) ?? lane.name
      lane.process = this.processNames.get(key.split('\0')[0]!) ?? lane.process
    })
    const tree = this.tree.finish('chrome_trace', [], true)
    if (this.skipped > 0)
      tree.warnings.push(`${this.skipped} trace events of other kinds were passed over.`)
    return { tree, timeline: this.timeline(Number.isNaN(baseTimeNs) ? null : baseTimeNs) }
  }

  private takeComplete(event: Record<string, unknown>): void {
    const startNs = numberOr(property(event, 'ts'), NaN) * 1000
    const durationNs = numberOr(property(event, 'dur'), NaN) * 1000
    if (Number.isNaN(startNs) || Number.isNaN(durationNs) || durationNs < 0) {
      this.skipped++
      return
    }
    const name = stringOr(property(event, 'name'), '(unnamed)')
    const category = stringOr(property(event, 'cat'), '')
    const args = property(event, 'args')
    const stack = listOf(property(args, 'call_stack')).filter((frame) => typeof frame === 'string')
    if (stack.length > deepestStack) {
      throw new UserError(
        'usage',
        `A call stack of the trace has more than ${deepestStack} frames.`
      )
    }
    const lane = this.lane(event)
    const node = this.isIntraKernel
      ? this.addScope(stack, category, name, durationNs, event)
      : this.addKernelOrScope(stack, category, name, durationNs)
    this.addMetrics(node, property(args, 'metrics'))
    this.events.push({ name, category, startNs, durationNs, lane, node })
  }

  private addKernelOrScope(stack: string[], category: string, name: string, ns: number): number {
    const path = stack[0] === 'ROOT' ? stack.slice(1) : stack
    const node = this.tree.at(path.length > 0 || stack.length > 0 ? path : [name])
    if (category !== 'kernel') return node
    this.tree.addNumber(node, timeMetric, Math.round(ns), false)
    this.tree.addNumber(node, countMetric, 1, false)
    this.tree.addSample(node, ns)
    return node
  }

  private addScope(
    stack: string[],
    kernel: string,
    name: string,
    cycles: number,
    event: Record<string, unknown>
  ): number {
    const path = stack[0] === 'ROOT' ? stack.slice(1) : stack
    const inStack = path.includes(name) || path.length === 0
    const process = stringOr(property(event, 'pid'), '')
    const kernelName =
      kernel === 'async' || kernel === 'flow' ? process.replace(/ Core\d+ CTA\d+$/, '') : kernel
    const full = path.length === 0 ? [kernelName, name] : inStack ? path : [...path, name]
    const node = this.tree.at(full)
    this.tree.addNumber(node, 'cycles', Math.round(cycles), false)
    this.tree.addNumber(node, countMetric, 1, false)
    return node
  }

  /** Values are strings in the file: '1.000000', '[1,2,3]'. Suffixes are those of the recording call. */
  private addMetrics(node: number, metrics: unknown): void {
    if (!isObject(metrics)) return
    for (const [key, value] of Object.entries(metrics)) {
      const name = key.replace(/\s*\((exc|pty)\)$/, '')
      const text = String(value)
      const number = text.trim() === '' ? NaN : Number(text)
      if (!Number.isNaN(number)) this.tree.addNumber(node, name, number, /[.eE]/.test(text))
      else if (text.startsWith('[')) this.addVector(node, name, text)
      else this.tree.setText(node, name, text.slice(0, 10_000))
    }
  }

  private addVector(node: number, name: string, text: string): void {
    const values = text.slice(1, -1).split(',').map(Number)
    if (values.some(Number.isNaN)) return
    this.tree.addVector(node, name, Float64Array.from(values), text.includes('.') ? 2 : 1)
  }

  private takeMetadata(event: Record<string, unknown>): void {
    const name = property(property(event, 'args'), 'name')
    if (typeof name !== 'string') return
    if (property(event, 'name') === 'thread_name') this.laneNames.set(laneKey(event), name)
    if (property(event, 'name') === 'process_name')
      this.processNames.set(String(property(event, 'pid')), name)
  }

  private takeFlow(event: Record<string, unknown>, isStart: boolean): void {
    const id = String(property(event, 'id'))
    const at = { lane: this.lane(event), ns: numberOr(property(event, 'ts'), 0) * 1000 }
    if (isStart) this.flowStarts.set(id, at)
    else this.flowEnds.push({ id, ...at })
  }

  private lane(event: Record<string, unknown>): number {
    const key = laneKey(event)
    let lane = this.laneOf.get(key)
    if (lane === undefined) {
      lane = this.lanes.length
      this.laneOf.set(key, lane)
      const [process, thread] = key.split('\0') as [string, string]
      this.lanes.push({ name: thread, process })
    }
    return lane
  }

  private timeline(baseTimeNs: number | null): Timeline {
    const strings = new StringTable()
    const { events, tree } = this
    const eventAt = new Map(events.map((event, index) => [`${event.lane} ${event.startNs}`, index]))
    const flows = this.flowEnds.flatMap(({ id, lane, ns }) => {
      const start = this.flowStarts.get(id)
      const from = start && eventAt.get(`${start.lane} ${start.ns}`)
      const to = eventAt.get(`${lane} ${ns}`)
      return from === undefined || to === undefined ? [] : [{ from, to }]
    })
    return {
      count: events.length,
      strings,
      name: Int32Array.from(events, (event) => strings.intern(event.name)),
      category: Int32Array.from(events, (event) => strings.intern(event.category)),
      lane: Int32Array.from(events, (event) => event.lane),
      startNs: Float64Array.from(events, (event) => event.startNs),
      durationNs: Float64Array.from(events, (event) => event.durationNs),
      node: Int32Array.from(events, (event) => tree.order[event.node]!),
      lanes: this.lanes,
      flows,
      baseTimeNs
    }
  }
}

function laneKey(event: Record<string, unknown>): string {
  return `${String(property(event, 'pid'))}\0${String(property(event, 'tid'))}`
}
