/**
 * What ran on GPUs and the calls and ranges that started it, as a profiler recorded them, to a tree and a timeline: range >
 * call > kernel, copy or set, joined by correlation id. For every profiler whose records are activities of this kind.
 */
import type { SqliteValue } from './sqliteFile'
import type { OpenedProfile } from './reader'
import { PathTree } from '../tree/pathTree'
import type { ProfileDevice, ProfileFormat } from '../tree/profileTree'
import { TraceColumns } from './traceColumns'
import { TraceCounters } from './traceCounters'
import { timelineOf } from './traceTimeline'
import { TraceTreeBuilder } from './traceTree'

/** As PyTorch's profiler spells them, so that one question about categories fits all traces. */
export const activityCategory = {
  range: 'user_annotation',
  call: 'cuda_runtime',
  kernel: 'kernel',
  copy: 'gpu_memcpy',
  set: 'gpu_memset',
  graph: 'gpu_graph'
} as const

/** Nanoseconds; a bigint where a double cannot hold them. */
export type Instant = number | bigint

export interface Activity {
  kind: keyof typeof activityCategory
  name: string
  /** Program, host process or device. */
  process: string
  /** Thread, queue or stream. */
  thread: string
  start: Instant
  end: Instant
  /** Joins a call with what it started; unique in the file. NaN: none. */
  correlation: number
  /** Of a copy or a set. */
  bytes?: number
  /** Properties of the launch ('grid', 'block', 'registers per thread') or the range. */
  facts?: Readonly<Record<string, string | undefined>>
  /** Counters of the launch or call, by name; summed over them. */
  counters?: ReadonlyMap<string, number>
}

export class ActivityProfile {
  private readonly tree = new PathTree()
  private readonly events = new TraceColumns()
  /** Times count from here: nanoseconds since 1970 or since boot leave a double no room. */
  private base: bigint | null = null
  private readonly passedOver = new Map<string, number>()
  private readonly counters = new Map<number, ReadonlyMap<string, number>>()
  private readonly sampled = new TraceCounters()

  /** Records without a time are counted and said at the end. @returns the event's number; -1 where it has none */
  add(activity: Activity): number {
    const { kind, name, start, end, facts } = activity
    const startNs = this.since(start)
    const durationNs = this.since(end) - startNs
    if (!(durationNs >= 0) || !Number.isFinite(startNs)) {
      this.passOver(`records of a ${kind} without a time were`)
      return -1
    }
    if (activity.counters?.size) this.count(this.events.count, activity.counters)
    return this.events.add({
      name: name === '' ? '(unnamed)' : name,
      category: activityCategory[kind],
      lane: this.events.lane(activity.process, activity.thread),
      startNs,
      durationNs,
      node: -1,
      correlation: activity.correlation,
      externalId: NaN,
      bytes: activity.bytes ?? NaN,
      facts: facts ? JSON.stringify(facts) : ''
    })
  }

  /** Counts something that stands in the file and not in the tree; said at the end. */
  passOver(what: string, count = 1): void {
    this.passedOver.set(what, (this.passedOver.get(what) ?? 0) + count)
  }

  /** Counters of a launch, where they come apart from it. */
  count(event: number, counters: ReadonlyMap<string, number>): void {
    this.counters.set(event, counters)
  }

  /** A counter in time, of a process or device: takes an instant and the value from then until the next. */
  sampler(process: string, name: string): (at: Instant, value: number) => void {
    const series = this.sampled.of(process, name)
    return (at, value) => {
      const ns = this.since(at)
      if (Number.isFinite(ns) && Number.isFinite(value)) series.add(ns, value)
      else this.passOver('samples without a time or a value were')
    }
  }

  /** A name for a process or device that records named otherwise, where it is found out later. */
  nameProcess(process: string, name: string): void {
    this.events.nameProcess(process, name)
  }

  get isEmpty(): boolean {
    return this.events.count === 0
  }

  /**
   * @param notes sentences on what was left out
   * @param epochNs nanoseconds since 1970 of the instant 0 of the records; null where the file does not say
   */
  finish(
    format: ProfileFormat,
    devices: readonly ProfileDevice[],
    notes: readonly string[] = [],
    epochNs: bigint | null = null
  ): OpenedProfile {
    this.events.nameLanes()
    const columns = this.events.finish()
    let first = Infinity
    for (const start of columns.startNs) first = Math.min(first, start)
    if (Number.isFinite(first))
      columns.startNs.forEach((start, at, all) => (all[at] = start - first))
    const builder = new TraceTreeBuilder(this.tree, this.events, columns)
    const found = builder.addKineto()
    for (const [event, counters] of this.counters) {
      for (const [counter, value] of counters)
        this.tree.addNumber(columns.node[event]!, counter, value, !Number.isInteger(value))
    }
    const tree = this.tree.finish(format, devices, true)
    tree.warnings.push(...notes, ...found)
    for (const [what, count] of this.passedOver) tree.warnings.push(`${count} ${what} passed over.`)
    const flows = builder.launches
    const baseTimeNs =
      epochNs === null
        ? null
        : Number(epochNs + (this.base ?? 0n)) + (Number.isFinite(first) ? first : 0)
    const counters = this.sampled.finish((process) => process)
    if (Number.isFinite(first))
      for (const { ns } of counters) ns.forEach((at, place) => (ns[place] = at - first))
    const timeline = timelineOf(this.events, columns, this.tree.order, {
      ...{ flows, baseTimeNs },
      ...(counters.length > 0 && { counters })
    })
    return { tree, timeline }
  }

  private since(instant: Instant): number {
    if (typeof instant === 'number' && !Number.isFinite(instant)) return NaN
    this.base ??= BigInt(Math.trunc(Number(instant)))
    return typeof instant === 'bigint' ? Number(instant - this.base) : instant - Number(this.base)
  }
}

/** A number out of a table; NaN where it has none. */
export function numberOf(value: SqliteValue | undefined): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : NaN
}

export function instantOf(value: SqliteValue | undefined): Instant {
  return typeof value === 'number' || typeof value === 'bigint' ? value : NaN
}

/** '8 x 4 x 1' */
export function extents(...sizes: readonly (SqliteValue | undefined)[]): string | undefined {
  return sizes.some((size) => size === null || size === undefined) ? undefined : sizes.join(' x ')
}
