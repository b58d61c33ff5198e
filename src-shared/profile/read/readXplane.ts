/**
 * XSpace of JAX, TensorFlow and PyTorch/XLA: '<host>.xplane.pb' (openxla/xla, third_party/tsl/tsl/profiler/protobuf/xplane.proto).
 * A plane is a device or a host, a line a stream or a thread. Read whole: names come after the events that use them.
 */
import { UserError } from '../../errors'
import { openedSlices, passedOver } from './laneTrace'
import type { OpenedProfile } from './reader'
import { TraceColumns } from './traceColumns'
import { bytesField, messageAt, varintField, WireReader } from './wire'

/** Field numbers, by message. */
const space = { planes: 1, errors: 2, warnings: 3 }
const plane = { name: 2, lines: 3, eventMetadata: 4, statMetadata: 5 }
const mapEntry = { key: 1, value: 2 }
const lineField = { id: 1, name: 2, timestampNs: 3, events: 4, displayName: 11 }
const eventField = { metadata: 1, offsetPs: 2, durationPs: 3, stats: 4, occurrences: 5 }
const metadata = { name: 2, displayName: 4 }
const stat = { metadata: 1, double: 2, unsigned: 3, signed: 4, text: 5, bytes: 6, reference: 7 }

/** Stats of an event that say where it comes from; of the rest there are too many to keep. */
const shownStats: ReadonlyMap<string, string> = new Map([
  ['hlo_op', 'hlo_op'],
  ['hlo_module', 'hlo_module'],
  ['tf_op', 'tf_op'],
  ['hlo_category', 'hlo_category']
])
/** Parts of the stat 'kernel_details': 'regs:32 grid:132,1,1 block:384,1,1 occ_pct:18.75'. */
const kernelDetails: ReadonlyMap<string, string> = new Map([
  ['grid', 'grid'],
  ['block', 'block'],
  ['regs', 'registers per thread'],
  ['static_shared', 'static shared memory (bytes)'],
  ['dynamic_shared', 'dynamic shared memory (bytes)'],
  ['occ_pct', 'estimated occupancy (%)']
])

interface Names {
  plane: string
  events: Map<number | string, string>
  stats: Map<number | string, string>
}

/** Whether a file begins with a plane: its number, if any, then its name. */
export function isXplane(bytes: Uint8Array): boolean {
  const first = messageAt(bytes, 0)
  if (first?.tag !== ((space.planes << 3) | bytesField)) return false
  let at = first.start
  if (bytes[at] === ((1 << 3) | varintField)) {
    at++
    while (bytes[at]! >= 0x80) at++
    at++
  }
  const name = bytes[at] === ((plane.name << 3) | bytesField) ? messageAt(bytes, at) : null
  if (!name || name.length === 0 || name.start + name.length > first.start + first.length)
    return false
  // Planes are '/host:CPU', '/device:GPU:0', 'Task Environment': text, which a Perfetto trace has not got here.
  const text = bytes.subarray(name.start, name.start + name.length)
  return text.length > 0 && text.every((byte) => byte >= 0x20 && byte < 0x7f)
}

export function readXplane(bytes: Uint8Array, fileName: string): OpenedProfile {
  const events = new TraceColumns()
  const passed = new Map<string, number>()
  const said: string[] = []
  const reader = new XplaneReader(events, passed)
  const message = new WireReader(bytes, fileName)
  while (message.next()) {
    if (message.is(space.planes, bytesField)) reader.takePlane(message.message())
    else if (message.is(space.errors, bytesField) || message.is(space.warnings, bytesField))
      said.push(`The profiler said: ${message.text().slice(0, 500)}`)
    else message.skip()
  }
  if (events.count === 0)
    throw new UserError('usage', `${fileName}: the XSpace has no events: nothing was recorded.`)
  const base = reader.baseNs
  return openedSlices(
    events,
    'xplane',
    [...said, ...passedOver(passed)],
    base === null ? null : Number(base)
  )
}

class XplaneReader {
  /** Times are since the epoch, which a double holds to 256 ns only: all are taken from the first line's. */
  baseNs: bigint | null = null

  constructor(
    private readonly events: TraceColumns,
    private readonly passed: Map<string, number>
  ) {}

  takePlane(message: WireReader): void {
    const names = namesOf(message)
    const again = message.restarted()
    while (again.next()) {
      if (again.is(plane.lines, bytesField)) this.takeLine(again.message(), names)
      else again.skip()
    }
  }

  private takeLine(message: WireReader, names: Names): void {
    let name = ''
    let displayName = ''
    let id = 0
    let startNs = 0n
    const events: WireReader[] = []
    while (message.next()) {
      if (message.is(lineField.id, varintField)) id = message.signed()
      else if (message.is(lineField.name, bytesField)) name = message.text()
      else if (message.is(lineField.displayName, bytesField)) displayName = message.text()
      else if (message.is(lineField.timestampNs, varintField)) startNs = message.exact()
      else if (message.is(lineField.events, bytesField)) events.push(message.message())
      else message.skip()
    }
    if (events.length === 0) return
    this.baseNs ??= startNs
    const lane = this.events.lane(names.plane, displayName || name || `line ${id}`)
    const offsetNs = Number(startNs - this.baseNs)
    for (const event of events) this.takeEvent(event, lane, offsetNs, names)
  }

  private takeEvent(message: WireReader, lane: number, lineNs: number, names: Names): void {
    let id: number | string = 0
    let offsetPs = 0
    let durationPs = 0
    let isSum = false
    const facts: Record<string, string> = {}
    const numbers = { correlation: NaN, bytes: NaN }
    while (message.next()) {
      if (message.is(eventField.metadata, varintField)) id = message.key()
      else if (message.is(eventField.offsetPs, varintField)) offsetPs = message.signed()
      else if (message.is(eventField.durationPs, varintField)) durationPs = message.signed()
      else if (message.is(eventField.stats, bytesField))
        takeStat(message.message(), names, facts, numbers)
      else if (message.is(eventField.occurrences, varintField)) {
        isSum = true
        message.skip()
      } else message.skip()
    }
    if (isSum || durationPs < 0) {
      const kind = isSum ? 'sums of events without a time' : 'events of negative duration'
      this.passed.set(kind, (this.passed.get(kind) ?? 0) + 1)
      return
    }
    this.events.add({
      name: names.events.get(id) ?? `event ${id}`,
      category: '',
      lane,
      startNs: lineNs + offsetPs / 1000,
      durationNs: durationPs / 1000,
      node: -1,
      externalId: NaN,
      ...numbers,
      facts: Object.keys(facts).length > 0 ? JSON.stringify(facts) : ''
    })
  }
}

function takeStat(
  message: WireReader,
  names: Names,
  facts: Record<string, string>,
  numbers: { correlation: number; bytes: number }
): void {
  let name = ''
  let value: string | number = ''
  while (message.next()) {
    if (message.is(stat.metadata, varintField)) name = names.stats.get(message.key()) ?? ''
    else if (message.is(stat.text, bytesField)) value = message.text()
    else if (message.is(stat.unsigned, varintField)) value = message.unsigned()
    else if (message.is(stat.signed, varintField)) value = message.signed()
    else if (message.is(stat.reference, varintField)) value = names.stats.get(message.key()) ?? ''
    else message.skip()
  }
  if (name === 'correlation_id' && typeof value === 'number') numbers.correlation = value
  else if (name === 'kernel_details' && typeof value === 'string') takeDetails(value, facts)
  else if (name === 'memcpy_details' && typeof value === 'string') {
    const size = /\bsize:(\d+)/.exec(value)
    if (size) numbers.bytes = Number(size[1])
  } else if (shownStats.has(name)) facts[shownStats.get(name)!] = String(value)
}

function takeDetails(text: string, facts: Record<string, string>): void {
  for (const part of text.split(/\s+/)) {
    const [key = '', value = ''] = part.split(':')
    const name = kernelDetails.get(key)
    if (name && value) facts[name] = value.replace(/,/g, ' x ')
  }
}

function namesOf(message: WireReader): Names {
  const names: Names = { plane: '', events: new Map(), stats: new Map() }
  while (message.next()) {
    if (message.is(plane.name, bytesField)) names.plane = message.text()
    else if (message.is(plane.eventMetadata, bytesField)) takeName(message.message(), names.events)
    else if (message.is(plane.statMetadata, bytesField)) takeName(message.message(), names.stats)
    else message.skip()
  }
  return names
}

/** An entry of a map from numbers to metadata, of which the name is kept: the one for display where there is one. */
function takeName(entry: WireReader, names: Map<number | string, string>): void {
  let key: number | string = 0
  let name = ''
  let displayName = ''
  while (entry.next()) {
    if (entry.is(mapEntry.key, varintField)) key = entry.key()
    else if (entry.is(mapEntry.value, bytesField)) {
      const value = entry.message()
      while (value.next()) {
        if (value.is(metadata.name, bytesField)) name = value.text()
        // Of stats this number is not used.
        else if (value.is(metadata.displayName, bytesField)) displayName = value.text()
        else value.skip()
      }
    } else entry.skip()
  }
  names.set(key, displayName || name)
}
