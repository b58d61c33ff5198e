/**
 * Whether a capture is whole: launches that callbacks saw against records that came, per process. What a graph launches is
 * the kernel nodes of its executable; what was captured into a graph, or failed, launches nothing.
 */
import type { ShardHeader, ShardState } from './shardForm'
import type { ShardNames, UsedRocprofiler } from './shardNames'

/** Counted while the shard was read. */
export interface ReadCounts {
  launches: number
  kernels: number
  copies: number
  sets: number
  graphs: number
  /** Records of a launch that had one already: not counted above. */
  repeated: number
  /** Records that end before they begin, or have no time: counted above and in no sum. */
  withoutTime: number
  /** Launches that the device's counters measured: run once for each pass, they have no time; in none of the above. */
  measured: number
  /** Records of those, without an end. */
  measuredWithoutEnd: number
  /** Records whose call is not in the shard. */
  withoutLaunch: number
}

export interface ProcessAccount {
  pid: number
  parentPid: number
  program: string
  arguments: readonly string[]
  rank?: number
  state: ShardState | 'cut off'
  /** Why nothing was captured; '' otherwise. */
  failure: string
  cupti: ShardNames['cupti']
  /** Of a program on AMD's GPUs. */
  rocprofiler?: UsedRocprofiler
  /** Where Python's frames were asked for. */
  python?: {
    /** '' where there are none: `missing` says why. */
    version: string
    missing: string
    /** Calls that launch something made below a frame, and those without because paths were too many. */
    calls: number
    forgotten: number
  }
  /** Where the device's counters were asked for: kernels measured, or why none. */
  counters?: { kernels: number; missing: string }
  /** Calls that returned no error, outside graph capture; of graphs, copies and sets too. */
  launches: { kernels: number; graphs: number; copies: number; sets: number }
  /** Calls that returned an error, and that only added to a graph. */
  failed: number
  captured: number
  /** Kernels that must have run: launches and nodes of launched graphs; of AMD's GPUs those that were put into queues. */
  expectedKernels: number
  read: ReadCounts
  /** Kernels that --kernels left out. */
  filtered: number
  /** Records of launches before or after the window of the capture. */
  outside: number
  /** Kernels that were still running when they were asked for: counted as read, in no sum. */
  unfinished: number
  /** As CUPTI or rocprofiler-sdk itself counts. */
  dropped: number
  /** Records and launches that the disk did not take. */
  unwritten: number
  /** Kernels without a record. */
  lostKernels: number
  /** Kernel records beyond those expected: of graphs whose nodes were not seen, or repeated. */
  surplusKernels: number
}

export function accountOf(
  header: ShardHeader,
  names: ShardNames,
  read: ReadCounts
): ProcessAccount {
  const counted = (name: string) => {
    const at = names.counters.indexOf(name)
    return at < 0 ? 0 : (header.counters[at] ?? 0)
  }
  const isCutOff = header.state === 'recording' || header.state === 'waiting'
  // With a record per graph its nodes have none.
  const inGraphs = read.graphs > 0 ? 0 : counted('graphKernels')
  const expectedKernels = names.rocprofiler
    ? counted('enqueuedKernels')
    : counted('kernelLaunches') + inGraphs
  const filtered = counted('filteredRecords')
  const difference = expectedKernels - filtered - read.kernels - read.measured
  return {
    pid: header.pid,
    parentPid: header.parentPid,
    program: names.process.program,
    arguments: names.process.arguments,
    ...(names.process.rank !== undefined && { rank: names.process.rank }),
    state: isCutOff ? 'cut off' : header.state,
    failure: names.failure,
    cupti: names.cupti,
    ...(names.rocprofiler && { rocprofiler: names.rocprofiler }),
    ...((names.metricSets.length > 0 || names.noCounters) && {
      counters: { kernels: names.measured.length, missing: names.noCounters }
    }),
    ...((names.python || names.noPython) && {
      python: {
        version: names.python,
        missing: names.noPython,
        calls: counted('pythonCalls'),
        forgotten: counted('forgottenStacks')
      }
    }),
    launches: {
      kernels: counted('kernelLaunches'),
      graphs: counted('graphLaunches'),
      copies: counted('copyCalls'),
      sets: counted('setCalls')
    },
    failed: counted('failedLaunches'),
    captured: counted('capturedLaunches'),
    expectedKernels,
    read: { ...read, repeated: read.repeated + counted('repeatedRecords') },
    filtered,
    outside: counted('outsideRecords'),
    unfinished: Math.max(0, counted('unfinishedRecords') - read.measuredWithoutEnd),
    dropped: counted('droppedRecords') + counted('refusedBuffers'),
    unwritten: counted('unwrittenRecords') + counted('unwrittenLaunches'),
    lostKernels: Math.max(0, difference),
    surplusKernels: Math.max(0, -difference)
  }
}

export interface CaptureTotals {
  processes: number
  launches: number
  expectedKernels: number
  kernels: number
  measured: number
  lostKernels: number
  repeated: number
  withoutTime: number
  unfinished: number
}

export function totalsOf(accounts: readonly ProcessAccount[]): CaptureTotals {
  const sum = (of: (account: ProcessAccount) => number) =>
    accounts.reduce((total, account) => total + of(account), 0)
  return {
    processes: accounts.length,
    launches: sum(({ launches }) => launches.kernels + launches.graphs),
    expectedKernels: sum((account) => account.expectedKernels),
    kernels: sum(({ read }) => read.kernels),
    measured: sum(({ read }) => read.measured),
    lostKernels: sum((account) => account.lostKernels),
    repeated: sum(({ read }) => read.repeated),
    withoutTime: sum(({ read }) => read.withoutTime),
    unfinished: sum((account) => account.unfinished)
  }
}
