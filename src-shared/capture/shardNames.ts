/** What the numbers in a shard's records stand for, as its texts define them. */

export interface LaunchShape {
  kernel: string
  grid: readonly number[]
  block: readonly number[]
  /** Zeros where the kernel has no clusters. */
  cluster: readonly number[]
  registersPerThread: number
  staticSharedBytes: number
  dynamicSharedBytes: number
  localBytesPerThread: number
}

export interface CapturedDevice {
  /** As the process numbers it. */
  number: number
  name: string
  /** Hexadecimal; '' where the driver did not say. */
  uuid: string
  /** 'sm_90', 'gfx950'; '' where the driver did not say. */
  architecture: string
  multiprocessors: number
  clockRateKHz: number
  memoryClockRateKHz: number
  busWidthBits: number
}

export interface CapturedProcess {
  program: string
  arguments: readonly string[]
  rank?: number
  worldSize?: number
  localRank?: number
}

export interface UsedCupti {
  path: string
  /** cuptiGetVersion and cuDriverGetVersion, as they number. */
  version: number
  driver: number
}

export interface UsedRocprofiler {
  path: string
  /** '1.0.0' */
  version: string
  /** ROCP_TOOL_LIBRARIES as the process had it. */
  tools: string
}

export interface Path {
  parent: number
  name: string
  /** A frame of Python, 'train.py:12@step'; an NVTX range otherwise. */
  isPython: boolean
}

export interface Place {
  device: number
  context: number
  stream: number
}

/** Of one launch, by the device's counters. */
export interface MeasuredKernel {
  kernel: string
  correlation: number
  /** Index into the names' metricSets. */
  metricSet: number
  values: readonly (number | null)[]
}

type Line = Readonly<Record<string, unknown>>

export class ShardNames {
  counters: readonly string[] = []
  process: CapturedProcess = { program: '', arguments: [] }
  cupti: UsedCupti | null = null
  /** Of AMD's GPUs; then one call may have many records, and none has a node of a graph. */
  rocprofiler: UsedRocprofiler | null = null
  /** Added to times of the device: its clock beside the system's. */
  deviceClockOffNs = 0
  /** Path 0 is that without a range. Frames of Python stand above ranges. */
  readonly paths: Path[] = [{ parent: 0, name: '', isPython: false }]
  readonly threads: { tid: number; name: string }[] = []
  readonly calls: string[] = []
  readonly kernels: string[] = []
  readonly shapes: LaunchShape[] = []
  readonly places: Place[] = []
  readonly devices: CapturedDevice[] = []
  /** Path in which a node of a graph was captured, by node. */
  readonly pathOfNode = new Map<number, number>()
  /** Version of the Python whose frames are in paths; '' where none is. */
  python = ''
  /** Why there are no frames though they were asked for; '' otherwise. */
  noPython = ''
  /** Metrics of a chip that kernels are measured by; `passes`: how often a measured launch ran. */
  readonly metricSets: { names: readonly string[]; chip: string; passes: number }[] = []
  readonly measured: MeasuredKernel[] = []
  /** Why no kernel was measured though it was asked for; '' otherwise. */
  noCounters = ''
  /** Why nothing was captured; '' otherwise. */
  failure = ''
  /** Sentences that the library left. */
  readonly messages: string[] = []
  /** Definitions that do not fit to those before. */
  misplaced = 0

  take(line: Line): void {
    if (Array.isArray(line.counters)) this.counters = texts(line.counters)
    else if ('program' in line) this.process = processOf(line)
    else if ('cupti' in line) this.takeCupti(line)
    else if ('rocprofiler' in line)
      this.rocprofiler = {
        path: text(line.rocprofiler),
        version: text(line.version),
        tools: text(line.tools)
      }
    else if ('failed' in line) this.failure = text(line.failed)
    // Before paths, since it has one too.
    else if ('node' in line) this.pathOfNode.set(Number(text(line.node)), number(line.path))
    else if ('path' in line)
      this.put(this.paths, line.path, {
        // Parents come first, so that no path can lead in a circle.
        parent: Math.min(number(line.parent), this.paths.length - 1),
        name: text(line.name),
        isPython: line.python === 1
      })
    else if ('measured' in line)
      this.measured.push({
        kernel: text(line.measured),
        correlation: number(line.correlation),
        metricSet: number(line.metricSet),
        values: Array.isArray(line.values) ? line.values.map(finite) : []
      })
    else if ('metrics' in line)
      this.put(this.metricSets, line.metrics, {
        names: Array.isArray(line.names) ? texts(line.names) : [],
        chip: text(line.chip),
        passes: number(line.passes)
      })
    else if ('missingMetrics' in line && Array.isArray(line.missingMetrics))
      this.messages.push(
        `${text(line.chip)} does not have, so nothing was measured by: ${texts(line.missingMetrics).join(', ')}.`
      )
    else if ('noCounters' in line) this.noCounters = text(line.noCounters)
    else if ('python' in line) this.python = text(line.python)
    else if ('noPython' in line) this.noPython = text(line.noPython)
    else if ('thread' in line)
      this.put(this.threads, line.thread, { tid: number(line.tid), name: text(line.name) })
    else if ('call' in line) this.put(this.calls, line.call, text(line.name))
    else if ('shape' in line) this.put(this.shapes, line.shape, this.shapeOf(line))
    else if ('kernel' in line) this.put(this.kernels, line.kernel, text(line.name))
    else if ('place' in line)
      this.put(this.places, line.place, {
        device: number(line.device),
        context: number(line.context),
        stream: number(line.stream)
      })
    else if ('device' in line) this.devices.push(deviceOf(line))
    else if ('message' in line)
      this.messages.push(`${this.rocprofiler ? '' : 'CUPTI says: '}${text(line.message)}.`)
  }

  /** Names from the outermost frame or range to the path's own; `which`: of the one kind alone. */
  namesOf(path: number, which?: 'python' | 'ranges'): string[] {
    const names: string[] = []
    for (let at = this.paths[path]; at && at !== this.paths[0]; at = this.paths[at.parent])
      if (which === undefined || at.isPython === (which === 'python')) names.push(at.name)
    return names.reverse()
  }

  private put<T>(list: T[], id: unknown, value: T): void {
    // Each is defined once, in order: anything else is damage.
    if (id === list.length) list.push(value)
    else this.misplaced++
  }

  private takeCupti(line: Line): void {
    this.cupti = {
      path: text(line.cupti),
      version: number(line.version),
      driver: number(line.driver)
    }
    const [system, device] = [text(line.realTimeNs), text(line.cuptiNs)]
    if (/^\d+$/.test(system) && /^\d+$/.test(device))
      this.deviceClockOffNs = Number(BigInt(system) - BigInt(device))
  }

  private shapeOf(line: Line): LaunchShape {
    const [staticSharedBytes = 0, dynamicSharedBytes = 0] = numbers(line.shared)
    return {
      kernel: this.kernels[number(line.kernel)] ?? '',
      grid: numbers(line.grid),
      block: numbers(line.block),
      cluster: numbers(line.cluster),
      registersPerThread: number(line.registers),
      staticSharedBytes,
      dynamicSharedBytes,
      localBytesPerThread: number(line.local)
    }
  }
}

const number = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
const finite = (value: unknown): number | null =>
  Number.isFinite(value) ? (value as number) : null
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map(number) : [])
const texts = (value: readonly unknown[]): string[] => value.map(text)

function processOf(line: Line): CapturedProcess {
  const optional = (key: 'rank' | 'worldSize' | 'localRank') =>
    typeof line[key] === 'number' ? { [key]: line[key] } : {}
  return {
    program: text(line.program),
    arguments: Array.isArray(line.arguments) ? texts(line.arguments) : [],
    ...optional('rank'),
    ...optional('worldSize'),
    ...optional('localRank')
  }
}

function deviceOf(line: Line): CapturedDevice {
  const major = number(line.major)
  return {
    number: number(line.device),
    name: text(line.name),
    uuid: text(line.uuid),
    architecture: text(line.architecture) || (major > 0 ? `sm_${major}${number(line.minor)}` : ''),
    multiprocessors: number(line.multiprocessors),
    clockRateKHz: number(line.clockRateKHz),
    memoryClockRateKHz: number(line.memoryClockRateKHz),
    busWidthBits: number(line.busWidthBits)
  }
}
