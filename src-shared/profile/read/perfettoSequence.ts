/**
 * What the packets of one sequence share: interned names, defaults and clocks. Each is what a packet says until the state
 * is cleared (interned_data.proto, trace_packet_defaults.proto, clock_snapshot.proto).
 */
import { bytesField, fixed64Field, varintField, type WireReader } from './wire'

const interned = { categories: 1, eventNames: 2, annotationNames: 3, annotationTexts: 29 }
const internedEntry = { iid: 1, text: 2 }
const defaults = { trackEvent: 11, timestampClock: 58 }
const eventField = {
  deltaUs: 1,
  categoryIids: 3,
  annotations: 4,
  legacy: 6,
  type: 9,
  nameIid: 10,
  track: 11,
  absoluteUs: 16,
  categories: 22,
  name: 23
}
const legacyField = { nameIid: 1, phase: 2, durationUs: 3 }
const annotationField = {
  nameIid: 1,
  bool: 2,
  unsigned: 3,
  signed: 4,
  double: 5,
  text: 6,
  pointer: 7,
  json: 9,
  name: 10,
  textIid: 17
}
const snapshot = { clocks: 1 }
const clockField = { id: 1, timestamp: 2, isIncremental: 3, multiplierNs: 4 }

/** TrackEvent.type, and the phase of events that Chrome's older macros wrote. */
const kindOfType: ReadonlyMap<number, EventKind> = new Map([
  [1, 'begin'],
  [2, 'end'],
  [3, 'instants'],
  [4, 'counter values']
])
const kindOfPhase: ReadonlyMap<string, EventKind> = new Map([
  ['B', 'begin'],
  ['E', 'end'],
  ['X', 'complete'],
  ['I', 'instants'],
  ['i', 'instants'],
  ['C', 'counter values']
])

/** 'begin', 'end' and 'complete' are slices; the others are counted under these words. */
export type EventKind =
  | 'begin'
  | 'end'
  | 'complete'
  | 'instants'
  | 'counter values'
  | 'asynchronous events'

export interface TrackEvent {
  kind: EventKind
  track: number | string
  name: string
  category: string
  ns: number
  durationNs: number
  /** Debug annotations as a JSON object of texts; '': none. */
  facts: string
}

interface Clock {
  isIncremental: boolean
  multiplierNs: number
  lastNs: number
}

type Names = Map<number | string, string>

/** Clocks from 64 to 127 are of one sequence; below they are the system's. */
const firstOwnClock = 64
const longestFact = 1000

export class PerfettoSequence {
  private readonly categories: Names = new Map()
  private readonly eventNames: Names = new Map()
  private readonly annotationNames: Names = new Map()
  private readonly annotationTexts: Names = new Map()
  private readonly clocks = new Map<number, Clock>()
  private defaultTrack: number | string = 0
  private defaultClock = 0
  /** Base of timestamps in microseconds, of the oldest writers. */
  private lastUs = 0

  clear(): void {
    for (const names of [
      this.categories,
      this.eventNames,
      this.annotationNames,
      this.annotationTexts
    ])
      names.clear()
    this.clocks.clear()
    this.defaultTrack = 0
    this.defaultClock = 0
  }

  intern(message: WireReader): void {
    while (message.next()) {
      if (message.is(interned.categories, bytesField)) takeName(message.message(), this.categories)
      else if (message.is(interned.eventNames, bytesField))
        takeName(message.message(), this.eventNames)
      else if (message.is(interned.annotationNames, bytesField))
        takeName(message.message(), this.annotationNames)
      else if (message.is(interned.annotationTexts, bytesField))
        takeName(message.message(), this.annotationTexts)
      else message.skip()
    }
  }

  takeDefaults(message: WireReader): void {
    while (message.next()) {
      if (message.is(defaults.timestampClock, varintField)) this.defaultClock = message.unsigned()
      else if (message.is(defaults.trackEvent, bytesField)) {
        const event = message.message()
        while (event.next()) {
          if (event.is(eventField.track, varintField)) this.defaultTrack = event.key()
          else event.skip()
        }
      } else message.skip()
    }
  }

  takeClocks(message: WireReader): void {
    while (message.next()) {
      if (!message.is(snapshot.clocks, bytesField)) {
        message.skip()
        continue
      }
      const value = message.message()
      let id = 0
      const clock: Clock = { isIncremental: false, multiplierNs: 1, lastNs: 0 }
      while (value.next()) {
        if (value.is(clockField.id, varintField)) id = value.unsigned()
        else if (value.is(clockField.timestamp, varintField)) clock.lastNs = value.unsigned()
        else if (value.is(clockField.isIncremental, varintField))
          clock.isIncremental = value.unsigned() !== 0
        else if (value.is(clockField.multiplierNs, varintField))
          clock.multiplierNs = value.unsigned()
        else value.skip()
      }
      clock.lastNs *= clock.multiplierNs
      if (id >= firstOwnClock) this.clocks.set(id, clock)
    }
  }

  /** @param timestamp of the packet, in its clock's unit; @param clock 0: the sequence's default */
  read(message: WireReader, timestamp: number, clock: number): TrackEvent {
    const event: TrackEvent = {
      kind: 'asynchronous events',
      track: this.defaultTrack,
      name: '',
      category: '',
      ns: this.timeOf(timestamp, clock || this.defaultClock),
      durationNs: 0,
      facts: ''
    }
    const facts: Record<string, string> = {}
    while (message.next()) {
      if (message.is(eventField.type, varintField))
        event.kind = kindOfType.get(message.unsigned()) ?? event.kind
      else if (message.is(eventField.track, varintField)) event.track = message.key()
      else if (message.is(eventField.nameIid, varintField))
        event.name = nameOf(this.eventNames, message.key())
      else if (message.is(eventField.name, bytesField)) event.name = message.text()
      else if (message.is(eventField.categories, bytesField)) event.category ||= message.text()
      else if (message.field === eventField.categoryIids) this.takeCategory(message, event)
      else if (message.is(eventField.annotations, bytesField))
        this.takeAnnotation(message.message(), facts)
      else if (message.is(eventField.legacy, bytesField)) this.takeLegacy(message.message(), event)
      else if (message.is(eventField.absoluteUs, varintField))
        event.ns = (this.lastUs = message.signed()) * 1000
      else if (message.is(eventField.deltaUs, varintField))
        event.ns = (this.lastUs += message.signed()) * 1000
      else message.skip()
    }
    if (Object.keys(facts).length > 0) event.facts = JSON.stringify(facts)
    return event
  }

  /** Repeated numbers may be packed into one field of bytes. */
  private takeCategory(message: WireReader, event: TrackEvent): void {
    if (message.type === varintField) event.category ||= nameOf(this.categories, message.key())
    else if (message.type === bytesField) {
      const packed = message.message()
      while (packed.at < packed.end) event.category ||= nameOf(this.categories, packed.key())
    } else message.skip()
  }

  private takeLegacy(message: WireReader, event: TrackEvent): void {
    while (message.next()) {
      if (message.is(legacyField.phase, varintField))
        event.kind = kindOfPhase.get(String.fromCharCode(message.unsigned() & 0xff)) ?? event.kind
      else if (message.is(legacyField.nameIid, varintField))
        event.name = nameOf(this.eventNames, message.key())
      else if (message.is(legacyField.durationUs, varintField))
        event.durationNs = message.signed() * 1000
      else message.skip()
    }
  }

  private takeAnnotation(message: WireReader, facts: Record<string, string>): void {
    let name = ''
    let value: string | null = null
    while (message.next()) {
      if (message.is(annotationField.nameIid, varintField))
        name = nameOf(this.annotationNames, message.key())
      else if (message.is(annotationField.name, bytesField)) name = message.text()
      else if (message.is(annotationField.text, bytesField)) value = message.text()
      else if (message.is(annotationField.json, bytesField)) value = message.text()
      else if (message.is(annotationField.unsigned, varintField)) value = String(message.unsigned())
      else if (message.is(annotationField.pointer, varintField)) value = String(message.unsigned())
      else if (message.is(annotationField.signed, varintField)) value = String(message.signed())
      else if (message.is(annotationField.bool, varintField))
        value = message.unsigned() === 0 ? 'false' : 'true'
      else if (message.is(annotationField.double, fixed64Field)) value = String(message.double())
      else if (message.is(annotationField.textIid, varintField))
        value = nameOf(this.annotationTexts, message.key())
      else message.skip()
    }
    if (name !== '' && value !== null) facts[name] = value.slice(0, longestFact)
  }

  private timeOf(timestamp: number, id: number): number {
    const clock = this.clocks.get(id)
    if (!clock) return timestamp
    const ns = timestamp * clock.multiplierNs
    if (!clock.isIncremental) return ns
    return (clock.lastNs += ns)
  }
}

function nameOf(names: Names, iid: number | string): string {
  return names.get(iid) ?? `(name ${iid}, lost)`
}

function takeName(message: WireReader, names: Names): void {
  let iid: number | string = 0
  let text = ''
  while (message.next()) {
    if (message.is(internedEntry.iid, varintField)) iid = message.key()
    else if (message.is(internedEntry.text, bytesField)) text = message.text()
    else message.skip()
  }
  names.set(iid, text)
}
