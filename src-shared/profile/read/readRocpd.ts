/**
 * rocprofv3's SQLite output ("rocpd"), by the tables of ROCm/rocprofiler-sdk's rocprofiler-sdk-rocpd/rocpd_tables.sql. Their
 * names end in the id of the process that wrote them; several processes may share a file. Both forms are read: times in
 * the records (ROCm 7.0 and 7.1) and times and tracks in tables of their own (schema version 3 of main).
 */
import { UserError } from '../../errors'
import type { ProfileDevice } from '../tree/profileTree'
import {
  ActivityProfile,
  instantOf,
  numberOf,
  type Activity,
  type Instant
} from './activityProfile'
import { splitCrossing, type NamedRange } from './nestedRanges'
import { property } from './jsonValue'
import type { OpenedProfile } from './reader'
import {
  agentDevice,
  Allocations,
  copyName,
  dispatchFacts,
  freeRangeCall,
  isInstantMarker,
  isMarker
} from './rocmActivity'
import type { SqliteFile, SqliteValue } from './sqliteFile'

type Cells = readonly (SqliteValue | undefined)[]
const prefix = 'rocpd_'
const dispatches = 'kernel_dispatch'
const regions = 'region'
const copies = 'memory_copy'
const allocations = 'memory_allocate'

export function isRocpd(file: SqliteFile): boolean {
  return suffixes(file).length > 0
}

/** What follows the names of tables: '_0000abcd_...' for each process that wrote, '' where there is but one. */
function suffixes(file: SqliteFile): string[] {
  return file
    .tableNames()
    .flatMap((name) => /^rocpd_kernel_dispatch(.*)$/.exec(name)?.slice(1) ?? [])
}

export function readRocpd(file: SqliteFile, fileName: string): OpenedProfile {
  const profile = new ActivityProfile()
  const devices = new Map<string, ProfileDevice>()
  const notes = new Set<string>()
  suffixes(file).forEach((suffix, index) => {
    const part = new RocpdPart(file, suffix, index, profile)
    part.read()
    for (const device of part.devices) devices.set(device.id, device)
    const unread = part.unread()
    if (unread.length > 0) notes.add(`Tables that were not read: ${unread.join(', ')}.`)
  })
  if (profile.isEmpty)
    throw new UserError(
      'usage',
      `${fileName} is a database of rocprofv3 without kernels, copies or calls: record with --sys-trace or --kernel-trace.`
    )
  return profile.finish('rocprofv3', [...devices.values()], [...notes])
}

/** Where and when a record was: its columns, or its track's. */
interface Where {
  start: Instant
  end: Instant
  process: string
  thread: string
  agent: string
  stream: string
}

interface RocpdEvent {
  category: string
  stack: number
  parentStack: number
  message: string
}

const whereColumns = [
  ...['start', 'end', 'start_id', 'end_id', 'track_id'],
  ...['pid', 'tid', 'agent_id', 'queue_id', 'stream_id']
]

class RocpdPart {
  readonly devices: ProfileDevice[] = []
  private readonly strings: Map<number, string>
  private readonly times = new Map<number, Instant>()
  private readonly tracks = new Map<number, Cells>()
  private readonly events = new Map<number, RocpdEvent>()
  private readonly processes = new Map<number, string>()
  private readonly threads = new Map<number, string>()
  private readonly agents = new Map<string, string>()
  private readonly queues: Map<number, string>
  private readonly streams: Map<number, string>
  private readonly kernels = new Map<number, { name: string; registers: Cells }>()
  private readonly calls = new Set<number>()
  private readonly counters = new Map<number, Map<string, number>>()

  constructor(
    private readonly file: SqliteFile,
    private readonly suffix: string,
    private readonly index: number,
    private readonly profile: ActivityProfile
  ) {
    this.strings = this.texts('string', 'string')
    this.queues = this.texts('info_queue', 'name')
    this.streams = this.texts('info_stream', 'name')
  }

  read(): void {
    this.readNames()
    this.each('timestamp', ['id', 'value'], ([id, value]) =>
      this.times.set(numberOf(id), instantOf(value))
    )
    this.each(
      'track',
      ['id', 'pid', 'tid', 'agent_id', 'queue_id', 'stream_id'],
      ([id, ...track]) => this.tracks.set(numberOf(id), track)
    )
    const categories = this.texts('info_category', 'name')
    const columns = ['id', 'category_id', 'stack_id', 'parent_stack_id', 'extdata']
    this.each('event', columns, ([id, category, stack, parent, more]) =>
      this.events.set(numberOf(id), {
        category: (categories.size > 0 ? categories : this.strings).get(numberOf(category)) ?? '',
        stack: numberOf(stack),
        parentStack: numberOf(parent),
        message: messageOf(more)
      })
    )
    this.readCounters()
    this.readRegions()
    this.readDispatches()
    this.readCopies()
    this.readAllocations()
  }

  /** Tables of records that hold rows and are not read. */
  unread(): string[] {
    return ['sample'].filter((name) => !this.file.isEmpty(this.table(name)))
  }

  private readNames(): void {
    this.each('info_process', ['id', 'pid', 'command', 'name'], ([id, pid, command, name]) => {
      const program = [name, command].find((text) => typeof text === 'string' && text !== '')
      const first =
        typeof program === 'string' ? program.split(' ')[0]!.split('/').pop()! : 'process'
      // Records name a process by its row; those of later versions by its number.
      const shown = `${first} ${String(pid)}`
      this.processes.set(numberOf(id), shown)
      if (!this.processes.has(numberOf(pid))) this.processes.set(numberOf(pid), shown)
    })
    this.each('info_thread', ['id', 'tid', 'name'], ([id, tid, name]) =>
      this.threads.set(
        numberOf(id),
        typeof name === 'string' && name !== ''
          ? `${name} (${String(tid)})`
          : `Thread ${String(tid)}`
      )
    )
    const agent = ['id', 'type', 'name', 'product_name', 'type_index', 'extdata']
    this.each('info_agent', agent, ([id, type, name, product, index, more]) => {
      if (type !== 'GPU') return
      const shown = typeof product === 'string' && product !== '' ? product : name
      this.agents.set(String(id), `GPU ${String(index ?? id)} (${String(shown)})`)
      const arch = typeof name === 'string' ? name : ''
      this.devices.push(agentDevice(String(id), arch, jsonOf(more)))
    })
    const kernel = [
      'id',
      'display_name',
      'kernel_name',
      'arch_vgpr_count',
      'accum_vgpr_count',
      'sgpr_count'
    ]
    this.each('info_kernel_symbol', kernel, ([id, display, raw, ...registers]) => {
      const name = [display, raw].find((text) => typeof text === 'string' && text !== '')
      this.kernels.set(numberOf(id), { name: typeof name === 'string' ? name : '', registers })
    })
  }

  /** Hardware counters of a launch; those of its instances (shader engines, channels) come one by one. */
  private readCounters(): void {
    const names = this.texts('info_pmc', 'name')
    this.each('pmc_event', ['event_id', 'pmc_id', 'value'], ([event, counter, value]) => {
      const id = numberOf(event)
      const known = this.counters.get(id) ?? new Map<string, number>()
      const name = names.get(numberOf(counter)) ?? `counter ${String(counter)}`
      this.counters.set(id, known.set(name, (known.get(name) ?? 0) + (numberOf(value) || 0)))
    })
  }

  private readRegions(): void {
    const markers = new Map<string, (NamedRange & { where: Where })[]>()
    this.each(regions, [...whereColumns, 'name_id', 'event_id'], (row) => {
      const [nameId, eventId] = row.slice(whereColumns.length).map(numberOf)
      const where = this.where(row)
      const event = this.events.get(eventId!)
      const name = this.strings.get(nameId!) ?? ''
      if (!event || !isMarker(event.category)) {
        if (event) this.calls.add(event.stack)
        this.profile.add({ ...where, kind: 'call', name, correlation: this.unique(event?.stack) })
        return
      }
      if (isInstantMarker(name)) return this.profile.passOver('rocTX marks were')
      const range = {
        name: event.message || name,
        start: where.start,
        end: where.end,
        isFree: name === freeRangeCall,
        where
      }
      const key = `${where.process}\0${where.thread}`
      const found = markers.get(key)
      if (found) found.push(range)
      else markers.set(key, [range])
    })
    for (const found of markers.values()) {
      const { nested, crossing } = splitCrossing(found)
      for (const { name, where } of nested)
        this.profile.add({ ...where, kind: 'range', name, correlation: NaN })
      const thread = 'rocTX start/stop ranges'
      for (const { name, where } of crossing)
        this.profile.add({ ...where, thread, kind: 'range', name, correlation: NaN })
    }
  }

  private readDispatches(): void {
    const columns = [
      ...['kernel_id', 'event_id', 'group_segment_size', 'private_segment_size'],
      ...['workgroup_size_x', 'workgroup_size_y', 'workgroup_size_z'],
      ...['grid_size_x', 'grid_size_y', 'grid_size_z']
    ]
    this.each(dispatches, [...whereColumns, ...columns], (row) => {
      const [kernelId, eventId, shared, scratch, x, y, z, ...grid] = row.slice(whereColumns.length)
      const kernel = this.kernels.get(numberOf(kernelId))
      const [vector, accumulation, scalar] = kernel?.registers ?? []
      this.addGpu('kernel', kernel?.name ?? `kernel ${String(kernelId)}`, row, eventId, {
        ...dispatchFacts({
          grid,
          workgroup: [x, y, z],
          vectorRegisters: vector,
          accumulationRegisters: accumulation,
          scalarRegisters: scalar,
          sharedBytes: shared,
          scratchBytes: scratch
        })
      })
    })
  }

  private readCopies(): void {
    const columns = ['name_id', 'event_id', 'size', 'dst_agent_id', 'src_agent_id']
    this.each(copies, [...whereColumns, ...columns], (row) => {
      const [nameId, eventId, size, to, from] = row.slice(whereColumns.length)
      const name = copyName(this.strings.get(numberOf(nameId)) ?? 'Memcpy')
      const gpu = [to, from].find((agent) => this.agents.has(String(agent)))
      this.addGpu('copy', name, row, eventId, {}, numberOf(size), gpu)
    })
  }

  private readAllocations(): void {
    const found = new Allocations()
    this.each(allocations, [...whereColumns, 'type', 'level', 'address', 'size'], (row) => {
      const [type, level, address, size] = row.slice(whereColumns.length)
      const { start, end, process, thread } = this.where(row)
      found.add({
        ...{ start, end, process, thread, address: String(address) },
        operation: `${String(level)} ${String(type)}`,
        bytes: numberOf(size) || 0
      })
    })
    found.addTo(this.profile)
  }

  private addGpu(
    kind: Activity['kind'],
    name: string,
    row: Cells,
    eventId: SqliteValue | undefined,
    facts: Record<string, string>,
    bytes?: number,
    agent?: SqliteValue
  ): void {
    const where = this.where(row)
    const event = this.events.get(numberOf(eventId))
    // A copy's own call may be one of HSA; the call of HIP that made it is above.
    const stack = event && this.calls.has(event.stack) ? event.stack : event?.parentStack
    const device = agent === undefined ? where.agent : String(agent)
    this.profile.add({
      kind,
      name,
      process: this.agents.get(device) ?? `GPU ${device}`,
      thread: where.stream,
      start: where.start,
      end: where.end,
      correlation: this.unique(stack),
      ...(bytes !== undefined && { bytes }),
      facts: { device_id: device, device_type: 'HIP', stream: where.stream, ...facts },
      ...(this.counters.has(numberOf(eventId)) && {
        counters: this.counters.get(numberOf(eventId))!
      })
    })
  }

  private where(row: Cells): Where {
    const [start, end, startId, endId, trackId, ...own] = row
    const [pid, tid, agent, queue, stream] = this.tracks.get(numberOf(trackId)) ?? own
    const streamName = this.streams.get(numberOf(stream)) || this.queues.get(numberOf(queue))
    return {
      start: startId === null ? instantOf(start) : (this.times.get(numberOf(startId)) ?? NaN),
      end: endId === null ? instantOf(end) : (this.times.get(numberOf(endId)) ?? NaN),
      process: this.processes.get(numberOf(pid)) ?? `process ${String(pid)}`,
      thread: this.threads.get(numberOf(tid)) ?? `Thread ${String(tid)}`,
      agent: String(agent),
      stream: streamName || `Stream ${String(stream)}`
    }
  }

  /** Each process counts its calls from 1. */
  private unique(stack: number | undefined): number {
    return stack !== undefined && stack > 0 ? this.index * 2 ** 40 + stack : NaN
  }

  private texts(table: string, column: string): Map<number, string> {
    const texts = new Map<number, string>()
    this.each(table, ['id', column], ([id, text]) => {
      if (typeof text === 'string') texts.set(numberOf(id), text)
    })
    return texts
  }

  private each(table: string, columns: readonly string[], take: (row: Cells) => void): void {
    const name = this.table(table)
    if (this.file.has(name)) this.file.each(name, columns, take)
  }

  private table(name: string): string {
    return `${prefix}${name}${this.suffix}`
  }
}

/** The message of a rocTX call, which rocprofv3 keeps in a JSON column. */
function messageOf(extra: SqliteValue | undefined): string {
  const message = property(jsonOf(extra), 'message')
  return typeof message === 'string' ? message : ''
}

function jsonOf(text: SqliteValue | undefined): unknown {
  if (typeof text !== 'string' || text.length < 3) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
