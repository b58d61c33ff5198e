/**
 * Traces in the Trace Event Format, to a timeline and to a tree: Proton's (each event says its call stack; those from
 * within a kernel count cycles), PyTorch's, our own exports, and any other by how its events nest.
 */
import { UserError } from '../../errors'
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileDevice, type ProfileTree } from '../tree/profileTree'
import { ownTraceKey, type Timeline } from '../tree/timeline'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import type { TraceRank } from './reader'
import { readHatchet } from './readHatchet'
import { TraceCounters } from './traceCounters'
import { TraceColumns, type FinishedColumns } from './traceColumns'
import { unusual } from './jsonScanner'
import { TraceEventReader } from './traceEvent'
import { TraceFlows } from './traceFlows'
import { TraceScanner } from './traceScanner'
import { timelineOf } from './traceTimeline'
import { isKineto, TraceTreeBuilder } from './traceTree'

const deepestStack = 100_000
/** Args that Kineto and we write for a launch, and the names they are shown under. */
const launchFacts: ReadonlyMap<string, string> = new Map([
  ['grid', 'grid'],
  ['block', 'block'],
  ['registers per thread', 'registers per thread'],
  ['shared memory', 'shared memory (bytes)'],
  ['shared memory (bytes)', 'shared memory (bytes)'],
  ['recorded (ns)', 'recorded (ns)'],
  ['est. achieved occupancy %', 'estimated occupancy (%)'],
  // Of collectives: param_comms of torch/csrc/distributed/c10d/ParamCommsUtils.hpp.
  ['Collective name', 'collective'],
  ['Process Group Name', 'process group'],
  ['Group size', 'group size'],
  ['dtype', 'element type'],
  ['In msg nelems', 'elements in'],
  ['Out msg nelems', 'elements out'],
  ['device', 'device_id'],
  ['stream', 'stream']
])

export interface OpenedTrace {
  tree: ProfileTree
  timeline: Timeline | null
  rank?: TraceRank
}

export class ChromeTraceParser {
  private readonly tree = new PathTree()
  private readonly events = new TraceColumns()
  private readonly scanner: TraceScanner
  private readonly flows = new TraceFlows()
  private readonly counters = new TraceCounters()
  private readonly plain: TraceEventReader
  /** Begin events of each lane that wait for their end. */
  private readonly begun = new Map<number, Record<string, unknown>[]>()
  private readonly skipped = new Map<string, number>()
  private ownProfile: ProfileTree | null = null
  private baseTimeNs: number | null = null
  private hasStacks = false
  private rank: TraceRank | null = null
  private devices: ProfileDevice[] = []

  constructor(private readonly fileName: string) {
    this.plain = new TraceEventReader(this.events.strings, [...launchFacts.keys()], factsOf)
    this.scanner = new TraceScanner(fileName, {
      eventBytes: (bytes, at) => this.takeBytes(bytes, at),
      event: (value) => this.take(value),
      property: (name, bytes) => this.takeProperty(name, bytes)
    })
  }

  write(chunk: Uint8Array): void {
    this.scanner.write(chunk)
  }

  finish(): OpenedTrace {
    this.scanner.finish()
    const { events } = this
    events.nameLanes()
    const columns = events.finish()
    const own = this.ownProfile
    if (own)
      return {
        tree: own,
        timeline: this.hasNodes(own, columns) ? this.timeline(columns, null) : null
      }
    const builder = new TraceTreeBuilder(this.tree, events, columns)
    const notes = this.hasStacks
      ? this.addWithoutStack(columns)
      : isKineto(this.categories(columns))
        ? builder.addKineto()
        : builder.addGeneric()
    const tree = this.tree.finish('chrome_trace', this.devices, true)
    tree.warnings.push(...notes, ...this.notes())
    const timeline = this.timeline(columns, this.tree.order)
    return { tree, timeline, ...(this.rank && { rank: this.rank }) }
  }

  private takeProperty(name: string, bytes: Uint8Array): void {
    if (name === ownTraceKey) this.ownProfile = readHatchet(bytes, this.fileName)
    else if (name === 'baseTimeNanoseconds') {
      const base = parseJson(bytes, this.fileName)
      this.baseTimeNs = typeof base === 'number' && Number.isFinite(base) ? base : null
    } else if (name === 'distributedInfo') this.rank = rankOf(parseJson(bytes, this.fileName))
    else if (name === 'deviceProperties')
      this.devices = listOf(parseJson(bytes, this.fileName)).map(deviceOf)
  }

  /** Events of the kinds that come by the million, without a detour over JSON; a negative number for the others. */
  private takeBytes(bytes: Uint8Array, at: number): number {
    if (this.ownProfile) return unusual
    const { plain, events } = this
    const end = plain.read(bytes, at)
    if (end < 0) return end
    const lane = events.numberedLane(plain.process, plain.thread)
    const startNs = plain.start * 1000
    if (!plain.isComplete) {
      const category = events.strings.text(plain.category)
      if (plain.isFlowStart) this.flows.start(category, plain.id, lane, startNs)
      else this.flows.end(category, plain.id, lane, startNs)
      return end
    }
    const { correlation, externalId, bytes: copied, facts } = plain
    const category = plain.category < 0 ? events.strings.intern('') : plain.category
    events.addInterned(
      {
        lane,
        startNs,
        durationNs: plain.duration * 1000,
        node: -1,
        correlation,
        externalId,
        bytes: copied
      },
      plain.name,
      category,
      facts
    )
    return end
  }

  private categories({ category }: FinishedColumns): string[] {
    return [...new Set(category)].map((id) => this.events.strings.text(id))
  }

  private take(event: unknown): void {
    const phase = property(event, 'ph')
    if (!isObject(event) || typeof phase !== 'string') this.skip('without a phase')
    else if (phase === 'X') this.takeComplete(event)
    else if (phase === 'M') this.takeMetadata(event)
    else if (phase === 's' || phase === 'f') this.takeFlow(event, phase === 's')
    else if (phase === 'C') this.takeCounter(event)
    else if (phase === 'B') this.takeBegin(event)
    else if (phase === 'E') this.takeEnd(event)
    else this.skip(`of phase '${phase.slice(0, 8)}'`)
  }

  private takeComplete(event: Record<string, unknown>): void {
    const startNs = numberOr(property(event, 'ts'), NaN) * 1000
    const durationNs = numberOr(property(event, 'dur'), NaN) * 1000
    if (Number.isNaN(startNs) || Number.isNaN(durationNs) || durationNs < 0) {
      this.skip('without a time')
      return
    }
    const name = stringOr(property(event, 'name'), '(unnamed)')
    const category = stringOr(property(event, 'cat'), '')
    const args = property(event, 'args')
    this.events.add({
      name,
      category,
      lane: this.lane(event),
      startNs,
      durationNs,
      node: this.nodeOf(event, args, name, category, durationNs),
      correlation: numberOr(property(args, 'correlation'), NaN),
      externalId: numberOr(
        property(args, 'External id') ??
          property(args, 'external id') ??
          property(args, 'External Id'),
        NaN
      ),
      bytes: numberOr(property(args, 'bytes'), NaN),
      facts: factsOf(args)
    })
  }

  /** The node that the event itself names; -1 where it does not. */
  private nodeOf(
    event: Record<string, unknown>,
    args: unknown,
    name: string,
    category: string,
    durationNs: number
  ): number {
    if (this.ownProfile) return numberOr(property(args, 'node'), -1)
    const recorded = property(args, 'call_stack')
    if (!Array.isArray(recorded)) return -1
    this.hasStacks = true
    const stack = recorded.filter((frame): frame is string => typeof frame === 'string')
    if (stack.length > deepestStack) {
      throw new UserError(
        'usage',
        `${this.fileName}: a call stack of the trace has more than ${deepestStack} frames.`
      )
    }
    const kernel = kernelAround(event)
    const node =
      kernel === null
        ? this.protonNode(stack, name)
        : this.scopeNode(stack, category, kernel, name, durationNs)
    if (kernel === null && category === 'kernel') this.addLaunch(node, durationNs)
    this.addMetrics(node, property(args, 'metrics'))
    return node
  }

  private protonNode(stack: string[], name: string): number {
    const path = stack[0] === 'ROOT' ? stack.slice(1) : stack
    return this.tree.at(path.length > 0 || stack.length > 0 ? path : [name])
  }

  private addLaunch(node: number, ns: number): void {
    this.tree.addNumber(node, timeMetric, Math.round(ns), false)
    this.tree.addNumber(node, countMetric, 1, false)
    this.tree.addSample(node, ns)
  }

  /** Proton's events from within a kernel: cycles, of which it writes 1000 as one microsecond. */
  private scopeNode(
    stack: string[],
    category: string,
    kernel: string,
    name: string,
    cycles: number
  ): number {
    const path = stack[0] === 'ROOT' ? stack.slice(1) : stack
    const inStack = path.includes(name) || path.length === 0
    const kernelName = category === 'async' || category === 'flow' ? kernel : category
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

  /** In a trace of call stacks an event without one is a root of its own. */
  private addWithoutStack(columns: FinishedColumns): string[] {
    for (let event = 0; event < this.events.count; event++) {
      if (columns.node[event]! >= 0) continue
      const node = this.tree.at([this.events.strings.text(columns.name[event]!)])
      columns.node[event] = node
      if (this.events.strings.text(columns.category[event]!) === 'kernel')
        this.addLaunch(node, columns.durationNs[event]!)
    }
    return []
  }

  private takeBegin(event: Record<string, unknown>): void {
    const lane = this.lane(event)
    const waiting = this.begun.get(lane)
    if (waiting) waiting.push(event)
    else this.begun.set(lane, [event])
  }

  private takeEnd(event: Record<string, unknown>): void {
    const begin = this.begun.get(this.lane(event))?.pop()
    const start = numberOr(property(begin, 'ts'), NaN)
    if (!begin || Number.isNaN(start)) {
      this.skip('that end without a beginning')
      return
    }
    const args = {
      ...(isObject(begin.args) && begin.args),
      ...(isObject(event.args) && event.args)
    }
    this.takeComplete({ ...begin, args, dur: numberOr(property(event, 'ts'), NaN) - start })
  }

  private takeMetadata(event: Record<string, unknown>): void {
    const args = property(event, 'args')
    const name = property(args, 'name')
    const label = property(args, 'labels')
    const [process, thread] = placeOf(event)
    if (property(event, 'name') === 'process_labels' && typeof label === 'string')
      this.events.labelProcess(process, label)
    if (typeof name !== 'string') return
    if (property(event, 'name') === 'thread_name') this.events.nameThread(process, thread, name)
    if (property(event, 'name') === 'process_name') this.events.nameProcess(process, name)
  }

  private takeFlow(event: Record<string, unknown>, isStart: boolean): void {
    const category = stringOr(property(event, 'cat'), '')
    const id = property(event, 'id')
    const key = typeof id === 'number' ? id : String(id)
    const ns = numberOr(property(event, 'ts'), 0) * 1000
    if (isStart) this.flows.start(category, key, this.lane(event), ns)
    else this.flows.end(category, key, this.lane(event), ns)
  }

  private takeCounter(event: Record<string, unknown>): void {
    if (!this.counters.take(event, placeOf(event)[0])) this.skip("of phase 'C' without a value")
  }

  private lane(event: Record<string, unknown>): number {
    return this.events.lane(...placeOf(event))
  }

  private skip(kind: string): void {
    this.skipped.set(kind, (this.skipped.get(kind) ?? 0) + 1)
  }

  private notes(): string[] {
    const notes = [...this.skipped].map(
      ([kind, count]) => `${count} trace event${count === 1 ? '' : 's'} ${kind} were passed over.`
    )
    let open = 0
    for (const waiting of this.begun.values()) open += waiting.length
    if (open > 0) notes.push(`${open} events begin and never end: they were passed over.`)
    return notes
  }

  /** Whether the events of our own trace name nodes of its tree: a tree of sums has none that were timed. */
  private hasNodes(own: ProfileTree, { node }: FinishedColumns): boolean {
    return node.length > 0 && node.every((at) => at >= 0 && at < own.count)
  }

  private timeline(columns: FinishedColumns, order: Int32Array | null): Timeline {
    const flows = this.flows.between(columns)
    const counters = this.counters.finish((id) => this.events.processName(id))
    return timelineOf(this.events, columns, order, {
      ...{ flows, baseTimeNs: this.baseTimeNs },
      ...(counters.length > 0 && { counters })
    })
  }
}

export function readChromeTrace(bytes: Uint8Array, fileName: string): OpenedTrace {
  const parser = new ChromeTraceParser(fileName)
  parser.write(bytes)
  return parser.finish()
}

/** PyTorch's "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}. */
function rankOf(info: unknown): TraceRank | null {
  const rank = property(info, 'rank')
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 0) return null
  const size = numberOr(property(info, 'world_size'), NaN)
  return { rank, worldSize: Number.isInteger(size) ? size : null }
}

/** Of PyTorch's "deviceProperties", which know no clocks. AMD's parts have an architecture of their own, not named there. */
function deviceOf(properties: unknown): ProfileDevice {
  const number = (key: string) => numberOr(property(properties, key), 0)
  const isAmd = /\bAMD\b|Radeon|Instinct/i.test(stringOr(property(properties, 'name'), ''))
  return {
    type: isAmd ? 'HIP' : 'CUDA',
    id: String(number('id')),
    arch: isAmd ? '' : `${number('computeMajor')}${number('computeMinor')}`,
    ...{ busWidthBits: 0, clockRateKHz: 0, memoryClockRateKHz: 0 },
    multiprocessors: number('numSms')
  }
}

/** The kernel whose inside the event is from: Proton names the process '<kernel> Core<SM> CTA<n>'. */
function kernelAround(event: Record<string, unknown>): string | null {
  const process = property(event, 'pid')
  return typeof process === 'string' ? (/^(.*) Core\d+ CTA\d+$/s.exec(process)?.[1] ?? null) : null
}

function placeOf(event: Record<string, unknown>): [process: string, thread: string] {
  return [String(property(event, 'pid') ?? ''), String(property(event, 'tid') ?? '')]
}

function factsOf(args: unknown): string {
  if (!isObject(args) || property(args, 'grid') === undefined) return ''
  const facts: Record<string, string> = {}
  for (const [key, name] of launchFacts) {
    const value = property(args, key)
    if (value !== undefined && value !== null)
      facts[name] = Array.isArray(value) ? listOf(value).join(' x ') : String(value)
  }
  return JSON.stringify(facts)
}
