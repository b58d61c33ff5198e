/**
 * What `blockscope capture` recorded, to a tree as Proton's (process, NVTX ranges, kernels) and a timeline. Shards come one
 * after the other; sums alone are held of what is not asked for as a timeline.
 */
import { accountSentences } from '../../capture/accountSentences'
import {
  CaptureReader,
  type CapturedActivity,
  type CapturedCall,
  type CapturedRange,
  type CaptureSink
} from '../../capture/captureReader'
import { countersOf } from '../../capture/counterTable'
import { KernelTally } from '../../capture/kernelTally'
import type { ShardHeader } from '../../capture/shardForm'
import type { ShardNames } from '../../capture/shardNames'
import { integers } from '../tree/growing'
import { PathTree } from '../tree/pathTree'
import { callsMetric, countMetric, timeMetric } from '../tree/profileTree'
import { activityCategory } from './activityProfile'
import { CaptureDevices, ProcessNodes } from './captureProcess'
import type { OpenedProfile, Parser } from './reader'
import { TraceColumns } from './traceColumns'
import { timelineOf } from './traceTimeline'
import { cpuTimeMetric } from './traceTree'

const callCategory = 'cuda_driver'

export interface CaptureProfileOptions {
  /** A level for each process, where there are several. */
  severalProcesses: boolean
  /** Every event and launch; without, memory does not grow with their number. */
  timeline: boolean
}

export class CaptureProfile implements CaptureSink {
  readonly reader = new CaptureReader(this)
  private readonly tree = new PathTree()
  private readonly events = new TraceColumns()
  private readonly devices = new CaptureDevices()
  private readonly flowFrom = integers()
  private readonly flowTo = integers()
  private readonly kernels = new KernelTally()
  private current!: ProcessNodes
  private readonly processes: ProcessNodes[] = []
  private readonly ranks = new Map<number, number | null>()

  constructor(private readonly options: CaptureProfileOptions) {}

  /** @see CaptureSink */
  call(call: CapturedCall): number {
    if (!this.options.timeline) return -1
    const process = this.current
    return this.events.addInterned(
      {
        lane: process.threadLane(call.thread),
        startNs: call.startNs,
        durationNs: call.durationNs,
        node: process.scope(call.path, call.thread),
        correlation: process.correlation(call.correlation),
        externalId: NaN,
        bytes: NaN
      },
      process.callName(call.call),
      this.events.strings.intern(callCategory),
      -1
    )
  }

  /** @see CaptureSink */
  range({ path, thread, startNs, durationNs }: CapturedRange): void {
    // Proton writes none of it.
    if (!this.options.timeline) return
    const process = this.current
    const node = process.scope(path, thread)
    this.tree.addNumber(node, cpuTimeMetric, durationNs, false)
    this.tree.addNumber(node, callsMetric, 1, false)
    this.events.addInterned(
      {
        lane: process.threadLane(thread),
        startNs,
        durationNs,
        node,
        correlation: NaN,
        externalId: NaN,
        bytes: NaN
      },
      this.events.strings.intern(process.names.paths[path]?.name || '(unnamed)'),
      this.events.strings.intern(activityCategory.range),
      -1
    )
  }

  /** @see CaptureSink */
  activity(activity: CapturedActivity): void {
    const isKernel = activity.kind === 'kernel' || activity.kind === 'graph'
    if (this.options.timeline) this.kernels.activity(activity)
    const node = isKernel ? this.current.kernelNode(activity) : 0
    if (isKernel) {
      this.tree.addNumber(node, timeMetric, activity.durationNs, false)
      this.tree.addNumber(node, countMetric, 1, false)
    }
    if (!this.options.timeline) return
    if (isKernel) this.tree.addSample(node, activity.durationNs)
    const event = this.events.addInterned(
      {
        lane: this.current.streamLane(activity.place),
        startNs: activity.startNs,
        durationNs: activity.durationNs,
        node,
        correlation: this.current.correlation(activity.correlation),
        externalId: NaN,
        bytes: activity.bytes
      },
      this.current.activityName(activity),
      this.events.strings.intern(activityCategory[activity.kind]),
      activity.kind === 'kernel' ? this.current.facts(activity) : -1
    )
    if (activity.event < 0) return
    this.flowFrom.push(activity.event)
    this.flowTo.push(event)
  }

  /** @see CaptureSink */
  measured(activity: CapturedActivity): void {
    // Proton would have no such row.
    if (!this.options.timeline) return
    this.kernels.measured(activity)
    this.current.kernelNode(activity)
  }

  /** @see CaptureSink */
  process(names: ShardNames, header: ShardHeader): void {
    const { tree, events, devices, options } = this
    const number = this.processes.length
    const { rank, worldSize } = names.process
    if (rank !== undefined) this.ranks.set(rank, worldSize ?? null)
    this.kernels.process(names)
    this.current = new ProcessNodes({ tree, events, devices, names, header, number, ...options })
    this.processes.push(this.current)
  }

  finish(): OpenedProfile {
    const { tree, reader, events } = this
    if (this.options.timeline) for (const process of this.processes) process.putCounters()
    const finished = tree.finish('capture', this.devices.forProfile(), true)
    finished.warnings.push(...reader.warnings, ...accountSentences(reader.accounts))
    const rank = this.rank()
    if (!this.options.timeline) return { tree: finished, timeline: null, ...rank }
    events.nameLanes()
    const columns = events.finish()
    let first = Infinity
    for (const start of columns.startNs) first = Math.min(first, start)
    if (Number.isFinite(first)) columns.startNs.forEach((at, i, all) => (all[i] = at - first))
    const [from, to] = [this.flowFrom.trimmed(), this.flowTo.trimmed()]
    const flows = Array.from(from, (call, at) => ({ from: call, to: to[at]! }))
    const baseTimeNs = reader.baseNs === null ? null : Number(reader.baseNs) + (first || 0)
    this.kernels.sums.counters = countersOf(this.kernels.processes)
    return {
      tree: finished,
      timeline: timelineOf(events, columns, tree.order, { flows, baseTimeNs }),
      kernels: this.kernels.sums,
      ...rank
    }
  }

  /** Where all its processes are of one: a capture may hold several, each below a scope that names it. */
  private rank(): Pick<OpenedProfile, 'rank'> {
    const [found] = this.ranks
    return this.ranks.size === 1 ? { rank: { rank: found![0], worldSize: found![1] } } : {}
  }
}

/** One shard as the readers' table opens it: a capture of one process. */
export class ShardParser implements Parser {
  private readonly profile = new CaptureProfile({ severalProcesses: false, timeline: true })

  constructor(fileName: string) {
    this.profile.reader.open(fileName)
  }
  write(chunk: Uint8Array): void {
    this.profile.reader.write(chunk)
  }
  finish(): OpenedProfile {
    this.profile.reader.close()
    return this.profile.finish()
  }
}
