/**
 * Perfetto's own trace, '.pftrace' or '.perfetto-trace': packets of track events (google/perfetto,
 * protos/perfetto/trace/trace_packet.proto, track_event/*.proto, interned_data.proto). Packets are read as they stream in.
 * What is kept: slices, their tracks, categories and debug annotations. What other data sources record (ftrace, counters,
 * heap profiles, Android's logs) is counted and said.
 */
import { Unzlib } from 'fflate'
import { UserError } from '../../errors'
import { openedSlices, passedOver } from './laneTrace'
import { joined, type OpenedProfile, type Parser } from './reader'
import { TraceColumns } from './traceColumns'
import { PerfettoSequence, type TrackEvent } from './perfettoSequence'
import { PerfettoTracks } from './perfettoTracks'
import { bytesField, messageAt, varintField, WireReader } from './wire'

const packetTag = (1 << 3) | bytesField
const longestPacket = 256 << 20
/** What one packet of compressed ones may grow to. */
const longestInflated = 1 << 30

/** Field numbers of TracePacket. */
const packet = {
  processTree: 2,
  clockSnapshot: 6,
  timestamp: 8,
  sequenceId: 10,
  trackEvent: 11,
  internedData: 12,
  sequenceFlags: 13,
  processDescriptor: 43,
  threadDescriptor: 44,
  compressedPackets: 50,
  timestampClock: 58,
  defaults: 59,
  trackDescriptor: 60
}
/** Packets about the trace itself, and what is not read of them; neither is missed. */
const ofTheTrace = new Set([
  2, 3, 6, 10, 12, 13, 33, 35, 36, 41, 42, 43, 44, 45, 46, 54, 58, 59, 60, 64, 79, 87, 89, 98
])
const otherData: ReadonlyMap<number, string> = new Map([
  [1, "packets of the kernel's ftrace"],
  [7, 'packets of system statistics'],
  [9, 'packets of process statistics'],
  [37, 'packets of heap profiles'],
  [39, "packets of Android's log"],
  [53, 'packets of GPU render stages'],
  [66, 'packets of sampled call stacks']
])
const stateCleared = 1

/** Whether a file begins with a whole packet, or more of one than has come yet, of fields that packets have. */
export function isPerfetto(bytes: Uint8Array): boolean {
  const first = messageAt(bytes, 0)
  if (first?.tag !== packetTag || first.length > longestPacket) return false
  const end = first.start + first.length
  if (end < bytes.length && bytes[end] !== packetTag) return false
  try {
    const message = new WireReader(bytes, '', 0, first.start, Math.min(end, bytes.length))
    let known = 0
    while (message.next()) {
      if (message.field > 2000) return false
      if (message.field === packet.sequenceId && message.type === varintField) known++
      if (message.field === packet.timestamp && message.type === varintField) known++
      if (ofTheTrace.has(message.field) && message.type === bytesField) known++
      message.skip()
    }
    return known > 0
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

export class PerfettoParser implements Parser {
  private left: Uint8Array = new Uint8Array(0)
  private base = 0
  private readonly events = new TraceColumns()
  private readonly tracks: PerfettoTracks
  private readonly sequences = new Map<number, PerfettoSequence>()
  private readonly passed = new Map<string, number>()

  constructor(private readonly fileName: string) {
    this.tracks = new PerfettoTracks(this.events)
  }

  write(chunk: Uint8Array): void {
    const bytes = this.left.length === 0 ? chunk : joined([this.left, chunk])
    const used = this.takePackets(bytes)
    this.base += used
    this.left = bytes.slice(used)
  }

  finish(): OpenedProfile {
    if (this.left.length > 0)
      new WireReader(this.left, this.fileName, this.base, this.left.length).fail()
    this.tracks.nameLanes()
    const open = this.tracks.openSlices()
    if (open > 0) this.pass('slices that begin and never end', open)
    if (this.events.count === 0) {
      const also = passedOver(this.passed).join(' ')
      throw new UserError(
        'usage',
        `${this.fileName}: the Perfetto trace has no slices of track events. ${also}`.trim()
      )
    }
    return openedSlices(this.events, 'perfetto', passedOver(this.passed), null)
  }

  /** Takes the whole packets; returns how many bytes they are. */
  private takePackets(bytes: Uint8Array): number {
    for (let at = 0; ;) {
      const next = messageAt(bytes, at)
      if (!next) return at
      if (next.tag !== packetTag || next.length > longestPacket)
        new WireReader(bytes, this.fileName, this.base, at).fail()
      const end = next.start + next.length
      if (end > bytes.length) return at
      this.takePacket(new WireReader(bytes, this.fileName, this.base, next.start, end))
      at = end
    }
  }

  private takePacket(message: WireReader): void {
    const start = message.restarted()
    let sequenceId = 0
    let flags = 0
    let timestamp = 0
    let clock = 0
    let event: WireReader | null = null
    // What a packet says about its sequence holds for its event, wherever in the packet it stands.
    const about: { field: number; value: WireReader }[] = []
    while (start.next()) {
      const { field } = start
      if (start.is(packet.timestamp, varintField)) timestamp = start.unsigned()
      else if (start.is(packet.sequenceId, varintField)) sequenceId = start.unsigned()
      else if (start.is(packet.sequenceFlags, varintField)) flags = start.unsigned()
      else if (start.is(packet.timestampClock, varintField)) clock = start.unsigned()
      else if (start.is(packet.trackEvent, bytesField)) event = start.message()
      else if (start.is(packet.compressedPackets, bytesField)) this.inflate(start.slice())
      else if (start.type === bytesField && isAbout.has(field))
        about.push({ field, value: start.message() })
      else {
        if (!ofTheTrace.has(field)) this.passField(field, start.type)
        start.skip()
      }
    }
    let sequence = this.sequences.get(sequenceId)
    if (!sequence) this.sequences.set(sequenceId, (sequence = new PerfettoSequence()))
    if (flags & stateCleared) sequence.clear()
    for (const { field, value } of about) {
      if (field === packet.internedData) sequence.intern(value)
      else if (field === packet.defaults) sequence.takeDefaults(value)
      else if (field === packet.clockSnapshot) sequence.takeClocks(value)
      else if (field === packet.trackDescriptor) this.tracks.describe(value)
    }
    if (event) this.takeEvent(sequence.read(event, timestamp, clock))
  }

  private takeEvent(event: TrackEvent): void {
    if (event.kind === 'begin') this.tracks.begin(event)
    else if (event.kind === 'end') {
      if (!this.tracks.end(event)) this.pass('slices that end without a beginning')
    } else if (event.kind === 'complete') this.tracks.complete(event)
    else this.pass(event.kind)
  }

  private inflate(bytes: Uint8Array): void {
    const parts: Uint8Array[] = []
    let length = 0
    const unzlib = new Unzlib((part) => {
      length += part.length
      if (length > longestInflated)
        throw new UserError('usage', `${this.fileName}: its compressed packets grow beyond 1 GiB.`)
      parts.push(part)
    })
    try {
      unzlib.push(bytes, true)
    } catch (error) {
      if (error instanceof UserError) throw error
      throw new UserError('usage', `${this.fileName}: its compressed packets are damaged.`, {
        cause: error
      })
    }
    const packets = joined(parts)
    if (this.takePackets(packets) < packets.length)
      throw new UserError('usage', `${this.fileName}: its compressed packets are cut short.`)
  }

  private passField(field: number, type: number): void {
    const kind = otherData.get(field)
    if (kind) this.pass(kind)
    else if (type === bytesField) this.pass('packets of other data sources')
  }

  private pass(kind: string, count = 1): void {
    this.passed.set(kind, (this.passed.get(kind) ?? 0) + count)
  }
}

const isAbout: ReadonlySet<number> = new Set([
  packet.internedData,
  packet.defaults,
  packet.clockSnapshot,
  packet.trackDescriptor
])
