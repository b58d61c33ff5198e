/** The tracks of a Perfetto trace and the slices that are open on them (track_event/track_descriptor.proto). */
import type { TrackEvent } from './perfettoSequence'
import type { TraceColumns } from './traceColumns'
import { bytesField, varintField, type WireReader } from './wire'

const descriptor = {
  uuid: 1,
  name: 2,
  process: 3,
  thread: 4,
  parent: 5,
  staticName: 10,
  atraceName: 13
}
const processField = { pid: 1, name: 6 }
const threadField = { pid: 1, tid: 2, name: 5 }

type Key = number | string

interface Track {
  name: string
  parent: Key | null
  pid: number | null
  tid: number | null
  processName: string
  threadName: string
}

interface OpenSlice {
  name: string
  category: string
  startNs: number
  facts: string
}

/** A chain of parents longer than this is a circle. */
const longestChain = 100

export class PerfettoTracks {
  private readonly tracks = new Map<Key, Track>()
  private readonly lanes = new Map<Key, number>()
  private readonly open = new Map<Key, OpenSlice[]>()

  constructor(private readonly events: TraceColumns) {}

  /** A TrackDescriptor; a later one of the same track replaces what it says. */
  describe(message: WireReader): void {
    let uuid: Key = 0
    const found: Partial<Track> = {}
    while (message.next()) {
      const { field, type } = message
      if (message.is(descriptor.uuid, varintField)) uuid = message.key()
      else if (message.is(descriptor.parent, varintField)) found.parent = message.key()
      else if (
        type === bytesField &&
        [descriptor.name, descriptor.staticName, descriptor.atraceName].includes(field)
      )
        found.name = message.text()
      else if (message.is(descriptor.process, bytesField)) takeProcess(message.message(), found)
      else if (message.is(descriptor.thread, bytesField)) takeThread(message.message(), found)
      else message.skip()
    }
    const blank = { name: '', parent: null, pid: null, tid: null, processName: '', threadName: '' }
    this.tracks.set(uuid, { ...blank, ...this.tracks.get(uuid), ...found })
  }

  begin({ track, name, category, ns, facts }: TrackEvent): void {
    const slice = { name, category, startNs: ns, facts }
    const open = this.open.get(track)
    if (open) open.push(slice)
    else this.open.set(track, [slice])
  }

  /** @returns false where nothing is open on the track */
  end({ track, ns }: TrackEvent): boolean {
    const slice = this.open.get(track)?.pop()
    if (!slice) return false
    this.add(track, slice, Math.max(0, ns - slice.startNs))
    return true
  }

  complete({ track, name, category, ns, facts, durationNs }: TrackEvent): void {
    this.add(track, { name, category, startNs: ns, facts }, Math.max(0, durationNs))
  }

  openSlices(): number {
    let count = 0
    for (const slices of this.open.values()) count += slices.length
    return count
  }

  /** Descriptors may come after the events of their tracks: lanes have their names at the end. */
  nameLanes(): void {
    for (const [key, index] of this.lanes) {
      const lane = this.events.lanes[index]!
      const chain = this.chainOf(key)
      const pid = chain.find((track) => track.pid !== null)?.pid
      const process = chain.find((track) => track.processName !== '')?.processName
      const own = chain[0]
      const thread = own?.threadName || own?.name || (own?.tid == null ? '' : `thread ${own.tid}`)
      const above = chain.slice(1).filter((track) => track.tid === null && track.processName === '')
      lane.processId = String(pid ?? '')
      lane.process = process ?? (pid == null ? '' : `process ${pid}`)
      lane.name = [
        ...above
          .map((track) => track.name)
          .filter(Boolean)
          .reverse(),
        thread || `track ${key}`
      ].join(' / ')
    }
  }

  private chainOf(key: Key): Track[] {
    const chain: Track[] = []
    for (let at: Key | null = key; at !== null && chain.length < longestChain;) {
      const track: Track | undefined = this.tracks.get(at)
      if (!track) break
      chain.push(track)
      at = track.parent ?? this.processKey(track)
    }
    return chain
  }

  /** A thread's track names its process by number, not by parent. */
  private processKey(thread: Track): Key | null {
    if (thread.pid === null || thread.tid === null) return null
    for (const [key, track] of this.tracks) {
      if (track.pid === thread.pid && track.tid === null) return key
    }
    return null
  }

  private add(track: Key, slice: OpenSlice, durationNs: number): void {
    let lane = this.lanes.get(track)
    if (lane === undefined) this.lanes.set(track, (lane = this.events.lane('', String(track))))
    const { name, category, startNs, facts } = slice
    const none = { node: -1, correlation: NaN, externalId: NaN, bytes: NaN }
    this.events.add({
      name: name || '(unnamed)',
      category,
      lane,
      startNs,
      durationNs,
      facts,
      ...none
    })
  }
}

function takeProcess(message: WireReader, track: Partial<Track>): void {
  while (message.next()) {
    if (message.is(processField.pid, varintField)) track.pid = message.signed()
    else if (message.is(processField.name, bytesField)) track.processName = message.text()
    else message.skip()
  }
}

function takeThread(message: WireReader, track: Partial<Track>): void {
  while (message.next()) {
    if (message.is(threadField.pid, varintField)) track.pid = message.signed()
    else if (message.is(threadField.tid, varintField)) track.tid = message.signed()
    else if (message.is(threadField.name, bytesField)) track.threadName = message.text()
    else message.skip()
  }
}
