/**
 * All shards of a capture, joined: every record with the call that launched it. Streams; holds the launches that wait for
 * their records, and nothing of those that are done.
 */
import { accountOf, type ProcessAccount, type ReadCounts } from './accounting'
import { LaunchRing } from './launchRing'
import { blockKinds, type ShardHeader } from './shardForm'
import { ShardNames } from './shardNames'
import { ShardReader, type RecordWords, type ShardSink } from './shardReader'

/** One call that launched something, was captured or failed. The object is used again for the next. */
export interface CapturedCall {
  /** ns after the start of the capture's first process. */
  startNs: number
  durationNs: number
  correlation: number
  path: number
  thread: number
  call: number
}

/** One thing that a device did. The object is used again for the next. */
export interface CapturedActivity {
  kind: 'kernel' | 'copy' | 'set' | 'graph'
  startNs: number
  durationNs: number
  correlation: number
  /** Of a kernel: index into the names' shapes. */
  shape: number
  /** Index into the names' places. */
  place: number
  /** Of what ran for a graph; 0 otherwise. */
  graph: number
  node: number
  /** Of a copy or a set. */
  bytes: number
  /** CUpti_ActivityMemcpyKind, and two CUpti_ActivityMemoryKind. */
  copyKind: number
  sourceKind: number
  targetKind: number
  /** Of the launch; -1: its call was not recorded. */
  path: number
  thread: number
  /** What the sink said the call is; -1 where it is not known. */
  event: number
  launchNs: number
}

export interface CapturedRange {
  startNs: number
  durationNs: number
  path: number
  thread: number
}

/** Who looks at what is captured; members that are left out cost nothing. */
export interface CaptureSink {
  process?(names: ShardNames, header: ShardHeader): void
  /** @returns a number that the records of the call come with */
  call?(call: CapturedCall): number
  range?(range: CapturedRange): void
  activity?(activity: CapturedActivity): void
  /** A kernel that the device's counters measured at this launch: its times are NaN, since it ran several times over. */
  measured?(activity: CapturedActivity): void
}

/** Records whose call never came are not all kept until the end. */
const mostEarly = 1 << 18

/** Below this, the clocks of system and device are one clock that was asked twice. */
const clockNoiseNs = 100_000

/** A launch that counters measured: its record comes at the end, long after the ring has turned. */
interface MeasuredLaunch {
  path: number
  thread: number
  event: number
  startNs: number
  hasRecord: boolean
}

export class CaptureReader {
  /** Of the first process, ns since 1970: all times count from here. */
  baseNs: bigint | null = null
  readonly accounts: ProcessAccount[] = []
  readonly warnings: string[] = []
  private shard: OpenShard | null = null

  constructor(private readonly sink: CaptureSink) {}

  /** Begins the next process's file. */
  open(name: string): void {
    this.shard = new OpenShard(this.sink, name, (header) => (this.baseNs ??= header.startNs))
  }

  /** @throws UserError where the file is no shard */
  write(chunk: Uint8Array): void {
    this.shard!.reader.write(chunk)
  }

  /** Ends the process's file. */
  close(): ShardNames {
    const shard = this.shard!
    this.accounts.push(shard.finish())
    this.warnings.push(...shard.reader.warnings, ...shard.names.messages)
    if (shard.names.misplaced > 0)
      this.warnings.push(
        `${shard.name} has ${shard.names.misplaced} definitions out of their order: it is damaged.`
      )
    this.shard = null
    return shard.names
  }
}

class OpenShard implements ShardSink {
  readonly reader: ShardReader
  readonly names = new ShardNames()
  private head!: ShardHeader
  private baseHigh = 0
  private baseLow = 0
  private deviceOffNs = 0
  private isAnnounced = false
  private readonly launches = new LaunchRing()
  private readonly counts: ReadCounts = {
    launches: 0,
    kernels: 0,
    copies: 0,
    sets: 0,
    graphs: 0,
    repeated: 0,
    withoutTime: 0,
    measured: 0,
    measuredWithoutEnd: 0,
    withoutLaunch: 0
  }
  /** By correlation; few, and most captures have none. */
  private readonly measured = new Map<number, MeasuredLaunch>()
  /** Records that came ahead of their call, until it comes. */
  private readonly early: { kind: number; words: Uint32Array }[] = []
  private readonly callBuffer: CapturedCall = {
    startNs: 0,
    durationNs: 0,
    correlation: 0,
    path: 0,
    thread: 0,
    call: 0
  }
  private readonly activityBuffer: CapturedActivity = {
    kind: 'kernel',
    startNs: 0,
    durationNs: 0,
    correlation: 0,
    shape: 0,
    place: 0,
    graph: 0,
    node: 0,
    bytes: 0,
    copyKind: 0,
    sourceKind: 0,
    targetKind: 0,
    path: -1,
    thread: -1,
    event: -1,
    launchNs: NaN
  }

  constructor(
    private readonly sink: CaptureSink,
    readonly name: string,
    private readonly baseOf: (header: ShardHeader) => bigint
  ) {
    this.reader = new ShardReader(this, name)
  }

  header(header: ShardHeader): void {
    this.head = header
    const base = this.baseOf(header)
    this.baseHigh = Number(base >> 32n)
    this.baseLow = Number(base & 0xffffffffn)
  }

  text(line: Readonly<Record<string, unknown>>): void {
    this.names.take(line)
    if ('program' in line) this.announce()
    if ('measured' in line) this.takeMeasured()
    const off = this.names.deviceClockOffNs
    this.deviceOffNs = Math.abs(off) > clockNoiseNs ? off : 0
  }

  records(kind: number, words: RecordWords, count: number): void {
    this.announce()
    if (kind === blockKinds.launches) this.takeLaunches(words, count)
    else if (kind === blockKinds.ranges) this.takeRanges(words, count)
    else if (kind === blockKinds.memory) {
      for (let i = 0, at = 0; i < count; i++, at += 12) this.takeActivity(kind, words, at, false)
    } else {
      for (let i = 0, at = 0; i < count; i++, at += 10) this.takeActivity(kind, words, at, false)
    }
  }

  finish(): ProcessAccount {
    this.reader.finish()
    for (const { kind, words } of this.early) this.takeActivity(kind, words, 0, true)
    this.counts.measured = this.measured.size
    return accountOf(this.head, this.names, this.counts)
  }

  /** Once, as soon as its program is known; of a damaged shard ahead of its first record. */
  private announce(): void {
    if (this.isAnnounced) return
    this.isAnnounced = true
    this.sink.process?.(this.names, this.head)
  }

  /** ns after the base; exact, where the 64 bits themselves have no room in a double. */
  private since(words: Uint32Array, at: number): number {
    return (words[at + 1]! - this.baseHigh) * 2 ** 32 + (words[at]! - this.baseLow)
  }

  private takeLaunches(words: RecordWords, count: number): void {
    const { launches, sink, callBuffer: call } = this
    this.counts.launches += count
    for (let i = 0, at = 0; i < count; i++, at += 8) {
      const packed = words[at + 7]!
      const flags = packed >>> 24
      const startNs = this.since(words, at)
      let event = -1
      if (sink.call) {
        call.startNs = startNs
        call.durationNs = words[at + 2]!
        call.correlation = words[at + 3]!
        call.path = words[at + 4]!
        call.thread = words[at + 5]!
        call.call = packed & 0xffff
        event = sink.call(call)
      }
      // Failed, or only captured into a graph: nothing runs.
      if (flags !== 0) continue
      const measured = this.measuredAt(words[at + 3]!)
      if (measured) {
        const [path, thread] = [words[at + 4]!, words[at + 5]!]
        Object.assign(measured, { path, thread, event, startNs })
        continue
      }
      const slot = launches.add(words[at + 3]!)
      launches.startNs[slot] = startNs
      launches.path[slot] = words[at + 4]!
      launches.thread[slot] = words[at + 5]!
      launches.event[slot] = event
    }
  }

  private takeRanges(words: RecordWords, count: number): void {
    if (!this.sink.range) return
    for (let i = 0, at = 0; i < count; i++, at += 6) {
      const startNs = this.since(words, at)
      const durationNs = this.since(words, at + 2) - startNs
      if (durationNs >= 0)
        this.sink.range({ startNs, durationNs, path: words[at + 4]!, thread: words[at + 5]! })
    }
  }

  private takeActivity(kind: number, words: Uint32Array, at: number, isLast: boolean): void {
    const isMemory = kind === blockKinds.memory
    const correlation = words[at + (isMemory ? 8 : 6)]!
    const measured = kind === blockKinds.kernels ? this.measuredAt(correlation) : undefined
    if (measured) return this.takeMeasuredRecord(measured, words, at, correlation)
    const slot = this.launches.find(correlation)
    if (slot < 0 && !isLast && this.early.length < mostEarly) {
      const length = isMemory ? 12 : 10
      this.early.push({ kind, words: words.slice(at, at + length) })
      return
    }
    const { counts, activityBuffer: activity } = this
    const node = isMemory
      ? words[at + 6]! + words[at + 7]! * 2 ** 32
      : words[at + 4]! + words[at + 5]! * 2 ** 32
    // Of CUPTI's, one launch of a graph has many records and any other has one; of rocprofiler-sdk's, the library tells.
    const isAgain = slot >= 0 && this.launches.match(slot)
    if (isAgain && node === 0 && kind !== blockKinds.graphs && !this.names.rocprofiler) {
      counts.repeated++
      return
    }
    if (isMemory) {
      activity.bytes = words[at + 4]! + words[at + 5]! * 2 ** 32
      activity.place = words[at + 9]!
      activity.graph = words[at + 10]!
      const kinds = words[at + 11]!
      activity.kind = (kinds & 0xff) === 1 ? 'copy' : 'set'
      activity.copyKind = (kinds >>> 8) & 0xff
      activity.sourceKind = (kinds >>> 16) & 0xff
      activity.targetKind = kinds >>> 24
      if (activity.kind === 'copy') counts.copies++
      else counts.sets++
    } else {
      activity.kind = kind === blockKinds.graphs ? 'graph' : 'kernel'
      activity.shape = words[at + 7]!
      activity.place = words[at + 8]!
      activity.graph = words[at + 9]!
      activity.bytes = NaN
      if (activity.kind === 'kernel') counts.kernels++
      else counts.graphs++
    }
    if (slot < 0) counts.withoutLaunch++
    const isUnfinished = words[at + 2] === 0 && words[at + 3] === 0
    const hasBegun = words[at] !== 0 || words[at + 1] !== 0
    activity.startNs = this.since(words, at) + this.deviceOffNs
    activity.durationNs = this.since(words, at + 2) - this.since(words, at)
    if (isUnfinished) return
    if (!hasBegun || !(activity.durationNs >= 0)) {
      counts.withoutTime++
      return
    }
    if (!this.sink.activity) return
    activity.correlation = correlation
    activity.node = node
    activity.path = slot < 0 ? -1 : this.launches.path[slot]!
    activity.thread = slot < 0 ? -1 : this.launches.thread[slot]!
    activity.event = slot < 0 ? -1 : this.launches.event[slot]!
    activity.launchNs = slot < 0 ? NaN : this.launches.startNs[slot]!
    this.sink.activity(activity)
  }

  /** What was measured has its line ahead of its call. */
  private takeMeasured(): void {
    const { correlation } = this.names.measured.at(-1)!
    const unknown = { path: -1, thread: -1, event: -1, startNs: NaN, hasRecord: false }
    this.measured.set(correlation, unknown)
  }

  private measuredAt(correlation: number): MeasuredLaunch | undefined {
    return this.measured.size > 0 ? this.measured.get(correlation) : undefined
  }

  private takeMeasuredRecord(
    launch: MeasuredLaunch,
    words: Uint32Array,
    at: number,
    correlation: number
  ): void {
    if (words[at + 2] === 0 && words[at + 3] === 0) this.counts.measuredWithoutEnd++
    if (launch.hasRecord) {
      this.counts.repeated++
      return
    }
    launch.hasRecord = true
    const { activityBuffer: activity } = this
    activity.kind = 'kernel'
    activity.startNs = NaN
    activity.durationNs = NaN
    activity.correlation = correlation
    activity.shape = words[at + 7]!
    activity.place = words[at + 8]!
    activity.graph = 0
    activity.node = 0
    activity.bytes = NaN
    activity.path = launch.path
    activity.thread = launch.thread
    activity.event = launch.event
    activity.launchNs = launch.startNs
    this.sink.measured?.(activity)
  }
}
