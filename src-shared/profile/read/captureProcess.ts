/** The places of one captured process in a tree and on lanes. Each is found once and then by number. */
import { copyName, setName } from '../../capture/copyNames'
import type { CapturedActivity } from '../../capture/captureReader'
import { countersOf } from '../../capture/counterTable'
import { peakDeviceOf } from '../../capture/productFigures'
import { processLabel } from '../../capture/processLabel'
import type { ShardHeader } from '../../capture/shardForm'
import type { CapturedDevice, ShardNames } from '../../capture/shardNames'
import type { PathTree } from '../tree/pathTree'
import type { ProfileDevice } from '../tree/profileTree'
import { isSummed } from '../tree/summedMetrics'
import { extents } from './activityProfile'
import type { TraceColumns } from './traceColumns'

/** Where a graph's kernels stand below its replay: Proton's own frame. */
const capturedAt = '<captured_at>'
const unknownLaunch = '(launch not recorded)'
const deviceType = 'CUDA'

/** Each process numbers its GPUs from 0: what its 0 is, the GPU's own identity says. */
export class CaptureDevices {
  private readonly ids = new Map<string, string>()
  private readonly found = new Map<string, CapturedDevice>()

  idOf(device: CapturedDevice | undefined, number: number): string {
    const key = device?.uuid || `number ${number}`
    let id = this.ids.get(key)
    if (id === undefined) {
      let free = number
      while (this.found.has(String(free))) free++
      id = String(free)
      this.ids.set(key, id)
      if (device) this.found.set(id, device)
    }
    return id
  }

  forProfile(): ProfileDevice[] {
    return [...this.found].map(([id, device]) => ({
      ...peakDeviceOf(device),
      type: deviceType,
      id
    }))
  }
}

/** Of one launch, so that nothing sums it over launches that were not measured. */
function columnOfCounter(metric: string): string {
  if (/\.pct/.test(metric)) return `${metric} (%)`
  return isSummed(metric) ? `${metric} (per launch)` : metric
}

interface Surroundings {
  tree: PathTree
  events: TraceColumns
  devices: CaptureDevices
  names: ShardNames
  header: ShardHeader
  /** Of the process in the capture. */
  number: number
  severalProcesses: boolean
  /** Facts of launches are of a tree with a timeline: Proton writes none. */
  timeline: boolean
}

export class ProcessNodes {
  readonly names: ShardNames
  private readonly label: string
  private readonly root: number
  private readonly ofPath: (number | undefined)[] = []
  private readonly ofThread = new Map<number, number>()
  private readonly ofCaptured = new Map<number, number>()
  /** By scope, then by shape. */
  private readonly kernels: (Map<number, number> | undefined)[] = []
  private readonly factsOf = new Map<number, number>()
  private readonly callNames: number[] = []
  private readonly threadLanes: number[] = []
  private readonly streamLanes: number[] = []
  private readonly shapeNames: number[] = []

  constructor(private readonly around: Surroundings) {
    this.names = around.names
    this.label = processLabel(around.header.pid, around.names.process)
    this.root = around.severalProcesses ? around.tree.child(0, this.label) : 0
  }

  /** Processes count correlations each from 1: their number goes above the 32 bits of the id. */
  correlation(id: number): number {
    return this.around.number * 2 ** 32 + id
  }

  /** The node of the ranges that were open; of a thread's own where there were none. */
  scope(path: number, thread: number): number {
    if (path <= 0) return this.threadScope(thread)
    return (this.ofPath[path] ??= this.descend(this.root, path))
  }

  kernelNode(activity: CapturedActivity): number {
    const scope = this.scopeOf(activity)
    const isGraph = activity.kind === 'graph'
    const key = isGraph ? -1 - activity.graph : activity.shape
    const ofScope = (this.kernels[scope] ??= new Map<number, number>())
    let node = ofScope.get(key)
    if (node === undefined) {
      const { tree } = this.around
      const name = isGraph ? `CUDA graph ${activity.graph}` : this.kernelName(activity.shape)
      node = tree.child(scope, name)
      tree.setText(node, 'device_id', this.deviceId(activity.place))
      tree.setText(node, 'device_type', deviceType)
      ofScope.set(key, node)
      if (!isGraph && this.around.timeline)
        for (const [fact, value] of Object.entries(this.launchFacts(activity.shape))) {
          const before = tree.textAt(node, fact)
          if (before === undefined) tree.setText(node, fact, value)
          else if (before !== value) tree.setText(node, fact, 'varies')
        }
    }
    return node
  }

  /** What counters measured of a kernel at its first launch, on each of its nodes; once all its records have been read. */
  putCounters(): void {
    const ofKernel = new Map(countersOf([this.names]).map(({ kernel, values }) => [kernel, values]))
    if (ofKernel.size === 0) return
    const done = new Set<number>()
    for (const ofScope of this.kernels)
      for (const [shape, node] of ofScope ?? []) {
        if (done.has(node)) continue
        done.add(node)
        const values = ofKernel.get(this.names.shapes[shape]?.kernel ?? '')
        for (const [metric, value] of Object.entries(values ?? {}))
          if (value !== null) {
            const isFloat = !isSummed(metric) || !Number.isInteger(value)
            this.around.tree.addNumber(node, columnOfCounter(metric), value, isFloat)
          }
      }
  }

  callName(call: number): number {
    return (this.callNames[call] ??= this.around.events.strings.intern(
      this.names.calls[call] || '(unnamed)'
    ))
  }

  activityName({ kind, shape, graph, ...memory }: CapturedActivity): number {
    const { strings } = this.around.events
    if (kind === 'kernel')
      return (this.shapeNames[shape] ??= strings.intern(this.kernelName(shape)))
    if (kind === 'graph') return strings.intern(`CUDA graph ${graph}`)
    return strings.intern(
      kind === 'copy'
        ? copyName(memory.copyKind, memory.sourceKind, memory.targetKind)
        : setName(memory.targetKind)
    )
  }

  /** String id of the launch's facts as JSON. */
  facts({ shape, place }: CapturedActivity): number {
    const key = shape * 2 ** 20 + place
    let facts = this.factsOf.get(key)
    if (facts === undefined) {
      const { stream } = this.names.places[place] ?? { stream: 0 }
      const all = {
        device_id: this.deviceId(place),
        device_type: deviceType,
        stream: String(stream),
        ...this.launchFacts(shape)
      }
      facts = this.around.events.strings.intern(JSON.stringify(all))
      this.factsOf.set(key, facts)
    }
    return facts
  }

  threadLane(thread: number): number {
    return (this.threadLanes[thread] ??= this.around.events.lane(
      this.label,
      this.threadName(thread)
    ))
  }

  streamLane(place: number): number {
    const { stream = 0 } = this.names.places[place] ?? {}
    const device = this.device(place)
    const id = this.deviceId(place)
    return (this.streamLanes[place] ??= this.around.events.lane(
      device?.name ? `GPU ${id} (${device.name})` : `GPU ${id}`,
      // Streams are numbered by process: two processes may share a GPU.
      this.around.severalProcesses ? `Stream ${stream} of ${this.label}` : `Stream ${stream}`
    ))
  }

  private scopeOf({ path, thread, node }: CapturedActivity): number {
    const scope =
      path < 0 ? this.around.tree.child(this.root, unknownLaunch) : this.scope(path, thread)
    const captured = node === 0 ? undefined : this.names.pathOfNode.get(node)
    if (captured === undefined) return scope
    const key = scope * 2 ** 26 + captured
    let found = this.ofCaptured.get(key)
    if (found === undefined) {
      found = this.descend(this.around.tree.child(scope, capturedAt), captured)
      this.ofCaptured.set(key, found)
    }
    return found
  }

  /** The main thread has the process's own number. */
  private threadScope(thread: number): number {
    const known = this.names.threads[thread]
    if (!known || known.tid === this.around.header.pid) return this.root
    let node = this.ofThread.get(thread)
    if (node === undefined) {
      node = this.around.tree.child(this.root, `<thread ${known.name || known.tid}>`)
      this.ofThread.set(thread, node)
    }
    return node
  }

  private descend(from: number, path: number): number {
    let node = from
    for (const name of this.names.namesOf(path))
      node = this.around.tree.child(node, name || '(unnamed)')
    return node
  }

  private kernelName(shape: number): string {
    return this.names.shapes[shape]?.kernel || '(unnamed kernel)'
  }

  private threadName(thread: number): string {
    const known = this.names.threads[thread]
    if (!known) return 'Thread'
    return known.name ? `${known.name} (${known.tid})` : `Thread ${known.tid}`
  }

  private device(place: number): CapturedDevice | undefined {
    const number = this.names.places[place]?.device
    return this.names.devices.find((device) => device.number === number)
  }

  private deviceId(place: number): string {
    const number = this.names.places[place]?.device ?? 0
    return this.around.devices.idOf(this.device(place), number)
  }

  private launchFacts(shape: number): Record<string, string> {
    const launch = this.names.shapes[shape]
    if (!launch) return {}
    const { cluster, localBytesPerThread } = launch
    return {
      grid: extents(...launch.grid)!,
      block: extents(...launch.block)!,
      ...(cluster.some((size) => size > 1) && { cluster: extents(...cluster)! }),
      'registers per thread': String(launch.registersPerThread),
      'shared memory (bytes)': String(launch.staticSharedBytes + launch.dynamicSharedBytes),
      ...(localBytesPerThread > 0 && {
        'local memory per thread (bytes)': String(localBytesPerThread)
      })
    }
  }
}
