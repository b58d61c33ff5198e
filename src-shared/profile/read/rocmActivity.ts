/** What rocprofv3's outputs (SQLite, JSON, CSV) have in common: launches, copies and their words. */
import type { ProfileDevice } from '../tree/profileTree'
import { extents } from './activityProfile'
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
