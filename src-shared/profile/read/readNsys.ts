/**
 * The SQLite export of NVIDIA Nsight Systems (`nsys export --type sqlite`), of any year: columns are asked for by name and
 * may be missing. Tables and columns as "SQLite Schema Reference" of the Nsight Systems user guide names them.
 */
import { ActivityProfile, extents, instantOf, numberOf, type Activity } from './activityProfile'
import { copyName, setName } from '../../capture/copyNames'
import { categoryEvent, domainEvent, nvtxColumns, NvtxNames } from './nvtxNames'
import { splitCrossing, type NamedRange } from './nestedRanges'
import type { OpenedProfile } from './reader'
import type { SqliteFile, SqliteValue } from './sqliteFile'
import { UserError } from '../../errors'
import type { ProfileDevice } from '../tree/profileTree'

const kernels = 'CUPTI_ACTIVITY_KIND_KERNEL'
const copies = 'CUPTI_ACTIVITY_KIND_MEMCPY'
const sets = 'CUPTI_ACTIVITY_KIND_MEMSET'
const graphs = 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'
const calls = 'CUPTI_ACTIVITY_KIND_RUNTIME'
const ranges = 'NVTX_EVENTS'
/** Of --gpu-metrics-devices: what the hardware counted, sampled. */
const metrics = 'GPU_METRICS'
const read = [kernels, copies, sets, graphs, calls, ranges, metrics]

/** ENUM_NSYS_EVENT_TYPE */
const markEvent = 34
const pushPopEvent = 59
const startEndEvent = 60

export function isNsys(file: SqliteFile): boolean {
  return (
    file.has('StringIds') && (read.some((table) => file.has(table)) || file.has('META_DATA_EXPORT'))
  )
}

export function readNsys(file: SqliteFile, fileName: string): OpenedProfile {
  return new NsysReader(file, fileName).read()
}

class NsysReader {
  private readonly profile = new ActivityProfile()
  private readonly strings = new Map<number | bigint, string>()
  private readonly gpuNames = new Map<string, string>()
  /** '4242 0' -> '3': GPUs by process and the process's own number. */
  private readonly gpuOfProcess = new Map<string, string>()
  private readonly gpusOfNumber = new Map<string, Set<string>>()
  private readonly gpus = new Map<SqliteValue | undefined, Map<SqliteValue | undefined, string>>()
  private readonly threadNames = new Map<string, string>()
  private readonly processNames = new Map<string, string>()
  private readonly processes = new Map<string, number>()
  /** By ids as rows hold them, which are few. */
  private readonly owners = new Map<SqliteValue | undefined, number>()
  private readonly threads = new Map<SqliteValue | undefined, Place>()
  private readonly devices: ProfileDevice[] = []
  /** Exports of the first years do not say whose a kernel is. */
  private readonly hasProcesses: boolean

  constructor(
    private readonly file: SqliteFile,
    private readonly fileName: string
  ) {
    this.hasProcesses = [kernels, copies, sets].some((table) => file.hasColumn(table, 'globalPid'))
  }

  read(): OpenedProfile {
    this.each('StringIds', ['id', 'value'], ([id, value]) => {
      if (typeof value === 'string') this.strings.set(id as number, value)
    })
    this.readNames()
    this.readDevices()
    this.readRanges()
    this.each(
      calls,
      ['start', 'end', 'globalTid', 'correlationId', 'nameId'],
      ([start, end, thread, correlation, name]) =>
        this.profile.add({
          kind: 'call',
          // The version of the interface's struct, which nsys's own reports leave out too.
          name: this.string(name).replace(/_v\d+$/, ''),
          ...this.threadOf(thread),
          start: instantOf(start),
          end: instantOf(end),
          correlation: this.correlation(thread, correlation)
        })
    )
    this.readKernels()
    this.readCopies()
    this.each(
      graphs,
      [...place, 'graphId'],
      ([start, end, device, stream, correlation, process, graph]) =>
        this.addGpu('graph', `CUDA graph ${String(graph)}`, [
          start,
          end,
          device,
          stream,
          correlation,
          process
        ])
    )
    this.readMetrics()
    if (this.profile.isEmpty)
      throw new UserError(
        'usage',
        `${this.fileName} is an export of Nsight Systems without kernels, copies, CUDA calls or NVTX ranges: record with --trace=cuda,nvtx.`
      )
    return this.profile.finish('nsys', this.devices, this.unread(), this.sessionStart())
  }

  /** Times count from the start of the session; when that was, exports of later years say. */
  private sessionStart(): bigint | null {
    let start: bigint | null = null
    this.each('TARGET_INFO_SESSION_START_TIME', ['utcEpochNs'], ([ns]) => {
      if (typeof ns === 'bigint' || typeof ns === 'number') start ??= BigInt(ns)
    })
    return start
  }

  private readKernels(): void {
    const columns = [
      ...place,
      ...['demangledName', 'shortName', 'mangledName', 'gridX', 'gridY', 'gridZ'],
      ...['blockX', 'blockY', 'blockZ', 'registersPerThread', 'staticSharedMemory'],
      ...['dynamicSharedMemory', 'localMemoryPerThread', 'graphNodeId']
    ]
    this.each(kernels, columns, (row) => {
      const [demangled, short, mangled, ...launch] = row.slice(place.length)
      const name = this.string(demangled) || this.string(mangled) || this.string(short)
      const [gridX, gridY, gridZ, blockX, blockY, blockZ, registers, fixed, dynamic, local, node] =
        launch
      const shared = numberOf(fixed) + (numberOf(dynamic) || 0)
      this.addGpu('kernel', name, row, {
        grid: extents(gridX, gridY, gridZ),
        block: extents(blockX, blockY, blockZ),
        'registers per thread': textOf(registers),
        'shared memory (bytes)': Number.isNaN(shared) ? undefined : String(shared),
        'local memory per thread (bytes)': numberOf(local) > 0 ? textOf(local) : undefined,
        'graph node': numberOf(node) > 0 ? textOf(node) : undefined
      })
    })
  }

  private readCopies(): void {
    this.each(copies, [...place, 'bytes', 'copyKind', 'srcKind', 'dstKind'], (row) => {
      const [bytes, kind, from, to] = row.slice(place.length).map(numberOf)
      this.addGpu('copy', copyName(kind!, from!, to!), row, {}, bytes)
    })
    this.each(sets, [...place, 'bytes', 'memKind'], (row) => {
      const [bytes, kind] = row.slice(place.length).map(numberOf)
      this.addGpu('set', setName(kind!), row, {}, bytes)
    })
  }

  private addGpu(
    kind: Activity['kind'],
    name: string,
    [start, end, device, stream, correlation, process]: readonly (SqliteValue | undefined)[],
    facts: Readonly<Record<string, string | undefined>> = {},
    bytes?: number
  ): void {
    const gpu = this.gpuOf(process, device)
    this.profile.add({
      kind,
      name,
      process: this.gpuNames.get(gpu) ?? `GPU ${gpu}`,
      thread: `Stream ${String(stream)}`,
      start: instantOf(start),
      end: instantOf(end),
      correlation: this.correlation(process, correlation),
      ...(bytes !== undefined && { bytes }),
      facts: {
        device_id: gpu,
        device_type: 'CUDA',
        stream: String(stream),
        ...facts
      }
    })
  }

  /** Push/pop ranges surround the calls of their thread; start/end ranges do where they cross no other. */
  private readRanges(): void {
    const ofThread = new Map<string, NvtxRange[]>()
    const columns = ['start', 'end', 'eventType', 'text', 'textId', 'globalTid', 'endGlobalTid']
    const nvtx = new NvtxNames((id) => this.string(id))
    // Domains and categories are named once, which need not be before they are used.
    this.each(ranges, ['eventType', 'text', 'textId', 'globalTid', ...nvtxColumns], (row) => {
      const [type, text, textId, thread, ...more] = row
      if (type !== domainEvent && type !== categoryEvent) return
      const name = typeof text === 'string' && text !== '' ? text : this.string(textId)
      const process = String(processOf(thread))
      if (type === domainEvent) nvtx.nameDomain(process, more, name)
      else nvtx.nameCategory(process, more, name)
    })
    this.each(ranges, [...columns, ...nvtxColumns], (row) => {
      const [start, end, type, text, textId, thread, endThread, ...more] = row
      if (type === markEvent) return this.profile.passOver('NVTX marks, which take no time, were')
      if (type !== pushPopEvent && type !== startEndEvent) return
      if (end === null) return this.profile.passOver('NVTX ranges that begin and never end were')
      const process = String(processOf(thread))
      const domain = nvtx.domain(process, more)
      const own = typeof text === 'string' && text !== '' ? text : this.string(textId!)
      const range: NvtxRange = {
        name: domain === '' ? own : `${domain}:${own}`,
        start: instantOf(start),
        end: instantOf(end),
        // Each domain has a stack of its own: its ranges may cross those of another.
        isFree: type === startEndEvent || domain !== '',
        thread: thread!,
        domain,
        facts: nvtx.facts(process, more)
      }
      // Ends on another thread: crosses whatever there is.
      if (type === startEndEvent && endThread !== null && endThread !== 0 && endThread !== thread)
        return this.addRange(range, true)
      const key = String(thread)
      const found = ofThread.get(key)
      if (found) found.push(range)
      else ofThread.set(key, [range])
    })
    for (const found of ofThread.values()) {
      const { nested, crossing } = splitCrossing(found)
      for (const range of nested) this.addRange(range, false)
      for (const range of crossing) this.addRange(range, true)
    }
  }

  private addRange(range: NvtxRange, isCrossing: boolean): void {
    const { process, thread } = this.threadOf(range.thread)
    this.profile.add({
      kind: 'range',
      name: range.name,
      process,
      thread: isCrossing ? `NVTX ${range.domain || 'start/end'} ranges` : thread,
      start: range.start,
      end: range.end,
      correlation: NaN,
      ...(range.facts && { facts: range.facts })
    })
  }

  /** The lowest byte of a type is the GPU that was sampled; a metric's name has its unit: 'SMs Active [Throughput %]'. */
  private readMetrics(): void {
    const samplers = new Map<string, ReturnType<ActivityProfile['sampler']>>()
    this.each(
      'TARGET_INFO_GPU_METRICS',
      ['typeId', 'metricId', 'typeName', 'metricName'],
      ([type, metric, typeName, name]) => {
        const gpu = this.gpuNames.get(String(bits(type) & 0xffn)) ?? String(typeName ?? 'GPU')
        const own = typeof name === 'string' && name !== '' ? name : `metric ${String(metric)}`
        const unit = own.replace(/ \[(?:Throughput )?([^\]]+)\]$/, ' ($1)')
        samplers.set(`${String(type)} ${String(metric)}`, this.profile.sampler(gpu, unit))
      }
    )
    this.each(
      metrics,
      ['timestamp', 'typeId', 'metricId', 'value'],
      ([at, type, metric, value]) => {
        const sampler = samplers.get(`${String(type)} ${String(metric)}`)
        if (sampler) sampler(instantOf(at), numberOf(value))
        else this.profile.passOver('samples of metrics without a name were')
      }
    )
  }

  private readNames(): void {
    this.each('ThreadNames', ['nameId', 'globalTid'], ([name, thread]) =>
      this.threadNames.set(String(thread), this.string(name))
    )
    this.each('PROCESSES', ['globalPid', 'name'], ([process, name]) => {
      if (typeof name === 'string') this.processNames.set(String(processOf(process)), name)
    })
  }

  /** Each process numbers the GPUs that it sees from 0: what its 0 is, the report says. */
  private readDevices(): void {
    this.each('TARGET_INFO_CUDA_DEVICE', ['gpuId', 'cudaId', 'pid'], ([gpu, cuda, pid]) => {
      this.gpuOfProcess.set(`${String(pid)} ${String(cuda)}`, String(gpu))
      const seen = this.gpusOfNumber.get(String(cuda)) ?? new Set()
      this.gpusOfNumber.set(String(cuda), seen.add(String(gpu)))
    })
    const columns = ['id', 'name', 'smCount', 'clockRate', 'computeMajor', 'computeMinor']
    this.each('TARGET_INFO_GPU', columns, ([id, name, units, clock, major, minor]) => {
      if (typeof name === 'string') this.gpuNames.set(String(id), `GPU ${String(id)} (${name})`)
      if (major === null || minor === null) return
      this.devices.push({
        type: 'CUDA',
        id: String(id),
        arch: `${String(major)}${String(minor)}`,
        busWidthBits: 0,
        clockRateKHz: Math.round((numberOf(clock) || 0) / 1000),
        memoryClockRateKHz: 0,
        multiprocessors: numberOf(units) || 0
      })
    })
  }

  /** The report's number of a GPU; that of its process where the report does not tell which it is. */
  private gpuOf(process: SqliteValue | undefined, device: SqliteValue | undefined): string {
    let known = this.gpus.get(process)
    if (!known) this.gpus.set(process, (known = new Map()))
    const gpu = known.get(device) ?? this.findGpu(process, String(device))
    known.set(device, gpu)
    return gpu
  }

  private findGpu(process: SqliteValue | undefined, number: string): string {
    const pid = Number((bits(process) >> 24n) & 0xffffffn)
    const own = this.gpuOfProcess.get(`${pid} ${number}`)
    if (own !== undefined) return own
    const seen = this.gpusOfNumber.get(number)
    return seen?.size === 1 ? [...seen][0]! : number
  }

  /** Tables of events that hold rows and are not read. */
  private unread(): string[] {
    const others = this.file
      .tableNames()
      .filter((name) => !read.includes(name) && isEvents(name) && !this.file.isEmpty(name))
    return others.length === 0
      ? []
      : [`Tables of the export that were not read: ${others.join(', ')}.`]
  }

  private each(
    table: string,
    columns: readonly string[],
    take: (row: readonly (SqliteValue | undefined)[]) => void
  ): void {
    if (this.file.has(table)) this.file.each(table, columns, take)
  }

  private string(id: SqliteValue | undefined): string {
    if (typeof id === 'string') return id
    return typeof id === 'number' || typeof id === 'bigint' ? (this.strings.get(id) ?? '') : ''
  }

  private threadOf(globalTid: SqliteValue | undefined): Place {
    const known = this.threads.get(globalTid)
    if (known) return known
    const process = processOf(globalTid)
    const thread = Number(bits(globalTid) & 0xffffffn)
    const name = this.threadNames.get(String(globalTid))
    const program = this.processNames.get(String(process))
    const found = {
      process: `${program ?? 'process'} ${Number((process >> 24n) & 0xffffffn)}`,
      thread: name ? `${name} (${thread})` : `Thread ${thread}`
    }
    this.threads.set(globalTid, found)
    return found
  }

  /** Processes count correlations each from 1: their number goes above the 32 bits of the id. */
  private correlation(owner: SqliteValue | undefined, id: SqliteValue | undefined): number {
    const number = numberOf(id)
    if (!(number > 0)) return NaN
    let process = this.owners.get(owner)
    if (process === undefined) {
      const key = this.hasProcesses ? String(processOf(owner)) : ''
      process = this.processes.get(key) ?? this.processes.size
      this.processes.set(key, process)
      this.owners.set(owner, process)
    }
    return process * 2 ** 32 + number
  }
}

interface NvtxRange extends NamedRange {
  thread: SqliteValue
  /** '' for the global one. */
  domain: string
  facts: Record<string, string> | undefined
}

interface Place {
  process: string
  thread: string
}

const place = ['start', 'end', 'deviceId', 'streamId', 'correlationId', 'globalPid']

/** A serialised global id: hardware, virtual machine, process (24 bits), thread (24 bits). Without the thread. */
function processOf(id: SqliteValue | undefined): bigint {
  return bits(id) & ~0xffffffn
}

function bits(id: SqliteValue | undefined): bigint {
  return typeof id === 'bigint'
    ? id
    : typeof id === 'number' && Number.isInteger(id)
      ? BigInt(id)
      : 0n
}

function textOf(value: SqliteValue | undefined): string | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined
}

/** Not the tables that name things, describe the target or hold enumerations. */
function isEvents(table: string): boolean {
  return (
    /^CUPTI_|^OSRT_|_EVENTS?$|_API$|_TRACE$|_CALLCHAINS$|^PROFILER_OVERHEAD$/.test(table) &&
    !/^(ENUM_|TARGET_INFO_|META_DATA_|DIAGNOSTIC_)/.test(table)
  )
}
