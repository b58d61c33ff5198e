/**
 * rocprofv3's JSON, as ROCm/rocprofiler-sdk's source/lib/output/generateJSON.cpp writes it: "rocprofiler-sdk-tool", one
 * entry per process (an object in the first releases), with records by domain and the names of their kinds apart.
 */
import { UserError } from '../../errors'
import type { ProfileDevice } from '../tree/profileTree'
import { ActivityProfile } from './activityProfile'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import { splitCrossing, type NamedRange } from './nestedRanges'
import type { OpenedProfile } from './reader'
import {
  agentDevice,
  Allocations,
  copyName,
  dispatchFacts,
  freeRangeCall,
  isInstantMarker
} from './rocmActivity'

export const rocprofJsonKey = 'rocprofiler-sdk-tool'

export function readRocprofJson(bytes: Uint8Array, fileName: string): OpenedProfile {
  const content = property(parseJson(bytes, fileName), rocprofJsonKey)
  const processes = Array.isArray(content) ? content : [content]
  const profile = new ActivityProfile()
  const devices = new Map<string, ProfileDevice>()
  const notes = new Set<string>()
  processes.forEach((process, index) => {
    if (!isObject(process))
      throw new UserError(
        'usage',
        `${fileName}: expected an object for each process in "${rocprofJsonKey}".`
      )
    const part = new ProcessRecords(process, index, profile)
    part.read()
    for (const device of part.devices) devices.set(device.id, device)
    if (part.unread.length > 0) notes.add(`Records that were not read: ${part.unread.join(', ')}.`)
  })
  if (profile.isEmpty)
    throw new UserError(
      'usage',
      `${fileName} is rocprofv3's JSON without kernels, copies or calls: record with --sys-trace or --kernel-trace.`
    )
  return profile.finish('rocprofv3', [...devices.values()], [...notes])
}

const notCalls = ['marker_api']
const understood = ['kernel_dispatch', 'memory_copy', 'memory_allocation', 'marker_api']

class ProcessRecords {
  readonly devices: ProfileDevice[] = []
  readonly unread: string[] = []
  private readonly agents = new Map<string, string>()
  private readonly calls = new Set<number>()
  private readonly process: string
  private readonly records: Record<string, unknown>

  constructor(
    private readonly content: Record<string, unknown>,
    private readonly index: number,
    private readonly profile: ActivityProfile
  ) {
    const metadata = property(content, 'metadata')
    const program = stringOr(listOf(property(metadata, 'command'))[0], 'process')
    this.process = `${program.split('/').pop()} ${String(property(metadata, 'pid') ?? '')}`.trim()
    const records = property(content, 'buffer_records')
    this.records = isObject(records) ? records : {}
  }

  read(): void {
    for (const agent of listOf(property(this.content, 'agents'))) this.takeAgent(agent)
    for (const [domain, list] of Object.entries(this.records)) {
      if (domain.endsWith('_api') && !notCalls.includes(domain))
        for (const record of listOf(list)) this.takeCall(record)
      else if (!understood.includes(domain) && listOf(list).length > 0) this.unread.push(domain)
    }
    this.readMarkers()
    this.readDispatches()
    for (const record of listOf(this.records.memory_copy)) this.takeCopy(record)
    this.readAllocations()
  }

  private takeAgent(agent: unknown): void {
    // rocprofiler_agent_type_t: 1 a CPU, 2 a GPU.
    if (property(agent, 'type') !== 2) return
    const id = handleOf(agent, 'id')
    const number = String(property(agent, 'logical_node_type_id') ?? this.devices.length)
    const arch = stringOr(property(agent, 'name'), '')
    const name = stringOr(property(agent, 'product_name'), '') || arch
    this.agents.set(id, `GPU ${number} (${name})`)
    this.devices.push(agentDevice(id, arch, agent))
  }

  private takeCall(record: unknown): void {
    this.calls.add(this.internal(record))
    this.profile.add({
      kind: 'call',
      name: this.operation(record),
      ...this.hostPlace(record),
      ...times(record),
      correlation: this.unique(this.internal(record))
    })
  }

  private readMarkers(): void {
    const messages = this.markerMessages()
    const ofThread = new Map<string, (NamedRange & { thread: string })[]>()
    for (const record of listOf(this.records.marker_api)) {
      const operation = this.operation(record)
      if (isInstantMarker(operation)) {
        this.profile.passOver('rocTX marks were')
        continue
      }
      const { thread } = this.hostPlace(record)
      const range = {
        name: messages.get(String(this.internal(record))) ?? operation,
        ...times(record),
        isFree: operation === freeRangeCall,
        thread
      }
      ofThread.set(thread, [...(ofThread.get(thread) ?? []), range])
    }
    for (const found of ofThread.values()) {
      const { nested, crossing } = splitCrossing(found)
      const add = ({ name, start, end }: NamedRange, thread: string) =>
        this.profile.add({
          ...{ kind: 'range', name, start, end, thread },
          process: this.process,
          correlation: NaN
        })
      for (const range of nested) add(range, range.thread)
      for (const range of crossing) add(range, 'rocTX start/stop ranges')
    }
  }

  /** Launches, and their counters where those were collected; a run that only counts has no other record of them. */
  private readDispatches(): void {
    const counted = listOf(
      property(property(this.content, 'callback_records'), 'counter_collection')
    )
    const counters = new Map<string, Map<string, number>>()
    for (const record of counted) {
      const info = property(property(record, 'dispatch_data'), 'dispatch_info')
      counters.set(String(property(info, 'dispatch_id')), this.countersOf(record))
    }
    const dispatches = listOf(this.records.kernel_dispatch)
    for (const record of dispatches) this.takeDispatch(record, record, counters)
    if (dispatches.length > 0) return
    for (const record of counted)
      this.takeDispatch(property(record, 'dispatch_data'), record, counters)
  }

  private takeDispatch(
    record: unknown,
    around: unknown,
    counters: ReadonlyMap<string, ReadonlyMap<string, number>>
  ): void {
    const info = property(record, 'dispatch_info')
    const symbol = this.symbol(property(info, 'kernel_id'))
    const name = ['formatted_kernel_name', 'demangled_kernel_name', 'kernel_name']
      .map((key) => stringOr(property(symbol, key), ''))
      .find((text) => text !== '')
    const device = handleOf(info, 'agent_id')
    const stream = `Stream ${handleOf(record, 'stream_id') || handleOf(around, 'stream_id') || handleOf(info, 'queue_id')}`
    const counted = counters.get(String(property(info, 'dispatch_id')))
    this.profile.add({
      kind: 'kernel',
      name: name ?? `kernel ${String(property(info, 'kernel_id'))}`,
      process: this.agents.get(device) ?? `GPU ${device}`,
      thread: stream,
      ...times(record),
      correlation: this.launchOf(record),
      facts: {
        ...{ device_id: device, device_type: 'HIP', stream },
        ...dispatchFacts({
          grid: extentsOf(property(info, 'grid_size')),
          workgroup: extentsOf(property(info, 'workgroup_size')),
          vectorRegisters: property(symbol, 'arch_vgpr_count'),
          accumulationRegisters: property(symbol, 'accum_vgpr_count'),
          scalarRegisters: property(symbol, 'sgpr_count'),
          sharedBytes: property(info, 'group_segment_size'),
          scratchBytes: property(info, 'private_segment_size')
        })
      },
      ...(counted && { counters: counted })
    })
  }

  private countersOf(record: unknown): Map<string, number> {
    const names = new Map(
      listOf(property(this.content, 'counters')).map((counter) => [
        handleOf(counter, 'id'),
        stringOr(property(counter, 'name'), '')
      ])
    )
    const sums = new Map<string, number>()
    for (const one of listOf(property(record, 'records'))) {
      const id = handleOf(one, 'counter_id')
      const name = names.get(id) || `counter ${id}`
      sums.set(name, (sums.get(name) ?? 0) + numberOr(property(one, 'value'), 0))
    }
    return sums
  }

  private takeCopy(record: unknown): void {
    const [to, from] = [handleOf(record, 'dst_agent_id'), handleOf(record, 'src_agent_id')]
    const device = this.agents.has(to) ? to : from
    const stream = `Stream ${handleOf(record, 'stream_id') || 'of copies'}`
    this.profile.add({
      kind: 'copy',
      name: copyName(this.operation(record)),
      process: this.agents.get(device) ?? `GPU ${device}`,
      thread: stream,
      ...times(record),
      correlation: this.launchOf(record),
      bytes: numberOr(property(record, 'bytes'), NaN),
      facts: { device_id: device, device_type: 'HIP', stream }
    })
  }

  private readAllocations(): void {
    const found = new Allocations()
    for (const record of listOf(this.records.memory_allocation)) {
      const address = property(record, 'address')
      found.add({
        ...{ ...this.hostPlace(record), ...times(record), operation: this.operation(record) },
        // A number of 64 bits, in some versions within an object of its own.
        address: isObject(address) ? String(property(address, 'value')) : String(address),
        bytes: numberOr(property(record, 'allocation_size'), 0)
      })
    }
    found.addTo(this.profile)
  }

  /** The call that a record belongs to: its own, or the one above it. */
  private launchOf(record: unknown): number {
    const own = this.internal(record)
    const ancestor = numberOr(property(property(record, 'correlation_id'), 'ancestor'), 0)
    return this.unique(this.calls.has(own) || ancestor === 0 ? own : ancestor)
  }

  private internal(record: unknown): number {
    return numberOr(property(property(record, 'correlation_id'), 'internal'), NaN)
  }

  /** Each process counts its calls from 1. */
  private unique(correlation: number): number {
    return correlation > 0 ? this.index * 2 ** 40 + correlation : NaN
  }

  private hostPlace(record: unknown): { process: string; thread: string } {
    const thread = String(property(record, 'thread_id') ?? '')
    return { process: this.process, thread: `Thread ${thread}` }
  }

  private operation(record: unknown): string {
    const kinds = listOf(property(property(this.content, 'strings'), 'buffer_records'))
    const kind = kinds[numberOr(property(record, 'kind'), -1)]
    const names = listOf(property(kind, 'operations'))
    const number = numberOr(property(record, 'operation'), -1)
    return stringOr(names[number], `operation ${number}`)
  }

  private symbol(id: unknown): unknown {
    const symbols = listOf(property(this.content, 'kernel_symbols'))
    const at = numberOr(id, -1)
    // They lie at the place of their id; in a list that leaves some out they do not.
    const there = symbols[at]
    return property(there, 'kernel_id') === id
      ? there
      : symbols.find((symbol) => property(symbol, 'kernel_id') === id)
  }

  /** A map, which cereal writes as a list of {key, value}. */
  private markerMessages(): Map<string, string> {
    const messages = property(property(this.content, 'strings'), 'marker_api')
    const entries = isObject(messages)
      ? Object.entries(messages)
      : listOf(messages).map((one) => [String(property(one, 'key')), property(one, 'value')])
    return new Map(
      entries.flatMap(([key, value]) =>
        typeof value === 'string' ? [[String(key), value] as const] : []
      )
    )
  }
}

function times(record: unknown): { start: number; end: number } {
  return {
    start: numberOr(property(record, 'start_timestamp'), NaN),
    end: numberOr(property(record, 'end_timestamp'), NaN)
  }
}

function handleOf(record: unknown, key: string): string {
  const handle = property(property(record, key), 'handle')
  return typeof handle === 'number' ? String(handle) : ''
}

function extentsOf(size: unknown): number[] {
  return ['x', 'y', 'z'].map((axis) => numberOr(property(size, axis), NaN))
}
