/** Events of a trace on lanes, as columns. */
import type { StringTable } from './stringTable'

/**
 * Key under which our own Chrome traces carry the tree that they were made from, as .hatchet, ahead of their events; an
 * event's args.node is its node there. Without it a trace would give back what its events alone can say.
 */
export const ownTraceKey = 'blockscopeProfile'

export interface Lane {
  /** 'GPU Stream 7', or 'matmul Core0 CTA3 / warp 2 (line 40)'. */
  name: string
  process: string
  /** What tells processes of one name apart, as in the file: '4121', '0'. */
  processId: string
  /** What the file says about the process: 'GPU 0'. */
  processLabel: string
  /** Which of several files it is from, where they were opened together: each has correlations of its own. */
  part?: number
}

/** A value over time, as a profiler sampled it: SM activity, power, memory in use. It holds until the next. */
export interface Counter {
  /** With its unit where the file has one: 'Power (W)'. */
  name: string
  process: string
  processId: string
  /** Ascending, in the time of the timeline. */
  ns: Float64Array<ArrayBuffer>
  value: Float64Array<ArrayBuffer>
}

export interface Timeline {
  count: number
  strings: StringTable
  /** String id of the event's name and category. */
  name: Int32Array<ArrayBuffer>
  category: Int32Array<ArrayBuffer>
  /** Index into lanes. */
  lane: Int32Array<ArrayBuffer>
  /** Nanoseconds from the start of the trace. For intra-kernel traces Proton assumes 1 GHz: one cycle is one ns. */
  startNs: Float64Array<ArrayBuffer>
  durationNs: Float64Array<ArrayBuffer>
  /** Node of the tree that the event belongs to. */
  node: Int32Array<ArrayBuffer>
  /** Kineto's "correlation" of a launch and what it launched, unique within one profiled process; NaN: none. */
  correlation: Float64Array<ArrayBuffer>
  /** Bytes of a copy or a set; NaN: none. */
  bytes: Float64Array<ArrayBuffer>
  /** String id of the facts of a launch as a JSON object of texts (grid, block, registers); -1: none. */
  facts: Int32Array<ArrayBuffer>
  lanes: Lane[]
  /** Launches: event that starts it, event that it runs as. */
  flows: { from: number; to: number }[]
  /** Absent: the file has none. */
  counters?: Counter[]
  /** Nanoseconds since 1970 of startNs 0; null where the trace does not say. */
  baseTimeNs: number | null
}
