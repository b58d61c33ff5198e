/** What rocprofv3's outputs (SQLite, JSON, CSV) have in common: launches, copies and their words. */
import type { ProfileDevice } from '../tree/profileTree'
import { extents, type ActivityProfile, type Instant } from './activityProfile'
import { property } from './jsonValue'
import type { SqliteValue } from './sqliteFile'

export interface Dispatch {
  grid: readonly (SqliteValue | undefined)[]
  workgroup: readonly (SqliteValue | undefined)[]
  vectorRegisters?: unknown
  accumulationRegisters?: unknown
  scalarRegisters?: unknown
  sharedBytes?: unknown
  scratchBytes?: unknown
}

/** Properties of a launch. The grid is in workgroups, as CUDA counts it; rocprofv3 writes it in work items. */
export function dispatchFacts(dispatch: Dispatch): Record<string, string> {
  const items = dispatch.grid.map(Number)
  const size = dispatch.workgroup.map(Number)
  const groups = items.map((count, at) => Math.ceil(count / size[at]!))
  const facts: Record<string, unknown> = {
    grid: groups.every((count) => Number.isFinite(count)) ? extents(...groups) : undefined,
    block: size.every((count) => Number.isFinite(count)) ? extents(...size) : undefined,
    'registers per thread': dispatch.vectorRegisters,
    'accumulation registers': dispatch.accumulationRegisters,
    'scalar registers': dispatch.scalarRegisters,
    'shared memory (bytes)': dispatch.sharedBytes,
    'scratch (bytes)': dispatch.scratchBytes
  }
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      typeof value === 'number' || (typeof value === 'string' && value !== '')
        ? [[name, String(value)]]
        : []
    )
  )
}

/** 'MEMORY_COPY_HOST_TO_DEVICE' -> 'Memcpy HtoD', the words of PyTorch's traces; others as they are. */
export function copyName(operation: string): string {
  const way = /^(?:MEMORY_COPY_)?(HOST|DEVICE)_TO_(HOST|DEVICE)$/.exec(operation)
  return way ? `Memcpy ${way[1]![0]}to${way[2]![0]}` : operation
}

/** Calls of rocTX that open a range; the message they were given is its name. */
export const freeRangeCall = 'roctxRangeStartA'

/** Whether a kind of record is of rocTX: 'MARKER_CORE_API', 'MARKER_CORE_RANGE_API'. */
export function isMarker(kind: string): boolean {
  return kind.startsWith('MARKER_')
}

/** Markers without a duration, and calls that only name or pause. */
export function isInstantMarker(operation: string): boolean {
  return /^roctx(Mark|Name|Profiler|GetThreadId)/.test(operation)
}

/**
 * A device element from an agent's description in JSON. Clocks are in MHz there.
 * @param id the number that kernels name their device by
 */
export function agentDevice(id: string, arch: string, description: unknown): ProfileDevice {
  const number = (name: string) => {
    const value = property(description, name)
    return typeof value === 'number' && Number.isFinite(value) ? value : 0
  }
  return {
    type: 'HIP',
    id,
    arch,
    busWidthBits: 0,
    clockRateKHz: number('max_engine_clk_fcompute') * 1000,
    memoryClockRateKHz: 0,
    multiprocessors: number('cu_count')
  }
}

/** Metrics of allocations: sums over all of them, not what is in use at once. */
const allocatedBytes = 'allocated (bytes)'
const freedBytes = 'freed (bytes)'

export interface Allocation {
  /** 'MEMORY_ALLOCATION_VMEM_ALLOCATE' or, of a database, 'VIRTUAL ALLOC'. */
  operation: string
  address: string
  /** 0 of what is freed. */
  bytes: number
  start: Instant
  end: Instant
  process: string
  thread: string
}

/** Memory that a process got and gave back, as calls of the threads that did: below the calls of HIP and HSA around them. */
export class Allocations {
  private readonly records: Allocation[] = []

  add(record: Allocation): void {
    this.records.push(record)
  }

  /** Records do not say how much is freed: what was got at the address, which takes them in order. */
  addTo(profile: ActivityProfile): void {
    const bytesAt = new Map<string, number>()
    this.records.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))
    for (const { operation, address, bytes, ...where } of this.records) {
      const isFree = /FREE|RECLAIM/.test(operation)
      const of = /VMEM|VIRTUAL/.test(operation)
        ? ' virtual memory'
        : /SCRATCH/.test(operation)
          ? ' scratch memory'
          : ''
      const freed = isFree ? bytesAt.get(address) : undefined
      if (isFree) bytesAt.delete(address)
      else bytesAt.set(address, bytes)
      profile.add({
        ...where,
        kind: 'call',
        name: `${isFree ? 'Free' : /REALLOC/.test(operation) ? 'Reallocate' : 'Allocate'}${of}`,
        correlation: NaN,
        counters: new Map(
          !isFree ? [[allocatedBytes, bytes]] : freed === undefined ? [] : [[freedBytes, freed]]
        )
      })
    }
  }
}
