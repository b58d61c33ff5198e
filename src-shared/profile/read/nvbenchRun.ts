/** What nvbench timed, as the steps of a sweep: one for each state whose axes are a block-scaled product. */
import type { Device } from '../../contract/devices'
import { plainOperation } from '../../contract/operation'
import type { Measurement, Statistics, Step, StoredRound } from '../../contract/run'
import { UserError } from '../../errors'
import { checkShape, everyBlockFormat, findBlockFormat } from '../../formats/blockFormat'
import { statisticsOf } from '../../measurement/statistics'
import { workOf } from '../../measurement/work'
import { plainLine } from '../../plainLine'
import {
  readNvbenchFile,
  type NvbenchDevice,
  type NvbenchSamples,
  type NvbenchState
} from './nvbenchFile'

/** What a person says where the file does not: of M, N, K and the format the axis, or the value itself; the device's number. */
export interface NvbenchAsked {
  axes?: Partial<Record<ProductPart, string>>
  device?: string
}

export const productParts = ['M', 'N', 'K', 'format'] as const
export type ProductPart = (typeof productParts)[number]

/** Bytes of a file that lies beside the JSON, at a path it names; undefined where there is none. */
export type ReadBeside = (path: string, byteLength: number) => Uint8Array | undefined

export interface NvbenchRun {
  version: string
  device?: Device
  steps: Step[]
  /** Samples of each step that has them. */
  rounds: StoredRound[]
  /** What was said or could not be had, in sentences. */
  notes: string[]
}

/** C is not described in the file: its type is that of most products. */
export const outputOfNvbench = 'f16'

/** @throws UserError for a file without such a state, and for axes and devices that it does not have. */
export function runOfNvbench(
  bytes: Uint8Array,
  fileName: string,
  asked: NvbenchAsked = {},
  readBeside: ReadBeside = () => undefined
): NvbenchRun {
  const file = readNvbenchFile(bytes, fileName)
  const deviceId = chosenDevice(file.states, fileName, asked.device)
  const states = file.states.filter(({ device }) => device === deviceId)
  const rounds: StoredRound[] = []
  const steps = states.map((state, index) => {
    const step = stepOf(state, index, fileName, asked.axes ?? {})
    if (state.skipped !== undefined) return { ...step, reason: plainLine(state.skipped) }
    const samples = samplesOf(state, readBeside)
    const measurement = measurementOf(state, step, samples, file.version)
    if (!measurement) return { ...step, reason: 'nvbench timed nothing on the GPU here' }
    if (samples) rounds.push({ step: index, round: 0, ...samples })
    const reason = 'timed by nvbench, which compares no result'
    return { ...step, disposition: 'not-verified' as const, reason, measurement }
  })
  const device = file.devices.find(({ id }) => id === deviceId)
  const missing = states.filter(({ times }) => times).length - rounds.length
  return {
    version: file.version,
    ...(device && { device: deviceOf(device) }),
    steps,
    rounds,
    notes: [
      `Timed by nvbench${file.version && ` ${file.version}`}: ${plainLine(file.argv.join(' ')) || 'the file has no command'}. The file does not say when or where; bytes are counted for C in ${outputOfNvbench}.`,
      ...(missing > 0
        ? [
            `The samples of ${missing} of ${states.length} points are in files beside the JSON that were not there to be read: "blockscope runs import" takes them where they lie.`
          ]
        : [])
    ]
  }
}

function chosenDevice(
  states: readonly NvbenchState[],
  fileName: string,
  asked: string | undefined
): string {
  const ids = [...new Set(states.map(({ device }) => device))]
  const listed = ids.map((id) => id || '(unnamed)').join(', ')
  if (asked !== undefined && !ids.includes(asked))
    throw new UserError(
      'usage',
      `${fileName} has nothing of device ${asked}; its devices: ${listed}.`
    )
  if (asked === undefined && ids.length > 1)
    throw new UserError(
      'usage',
      `${fileName} has times of devices ${listed}, and a run is of one: name it with --device.`
    )
  return asked ?? ids[0]!
}

/** The point of a state. What of its axes is no part of the product belongs to the kernel. */
function stepOf(
  { benchmark, axes }: NvbenchState,
  index: number,
  fileName: string,
  asked: Partial<Record<ProductPart, string>>
): Step {
  const used = new Set<string>()
  const found = productParts.map((part) => {
    const axis = axisOf(part, asked[part], axes)
    if (axis) used.add(axis.name)
    return axis?.value ?? asked[part]
  })
  const lacks = productParts.filter((_, at) => found[at] === undefined)
  if (lacks.length > 0) {
    const names = axes.map(({ name }) => name).join(', ') || 'none'
    throw new UserError(
      'usage',
      `${fileName}: benchmark "${plainLine(benchmark)}" has no axis that says ${lacks.join(' and ')} of a product (its axes: ${plainLine(names)}). ` +
        `Name it, or its value: --axes M=Rows,N=4096,K=Depth,format=mxfp4. "blockscope view" and "diff" open any benchmark.`
    )
  }
  const [m, n, k] = found.slice(0, 3).map(Number) as [number, number, number]
  const format = findBlockFormat(found[3]!)
  checkShape(format, m, n, k)
  const rest = axes.filter(({ name }) => !used.has(name))
  const batch = rest.find(({ name, value }) => /^batch/i.test(name) && value !== '1')
  if (batch)
    throw new UserError(
      'usage',
      `${fileName}: axis ${plainLine(batch.name)}=${plainLine(batch.value)} makes several products of a point, and a run made of nvbench's file has one. "blockscope view" and "diff" open it.`
    )
  const kernel = [benchmark, ...rest.map(({ name, value }) => `${name}=${value}`)].join(' ')
  return {
    index,
    format: format.id,
    kernel: plainLine(kernel),
    provider: 'nvbench',
    baseline: false,
    level: 'given',
    ...{ m, n, k },
    disposition: 'not-run',
    reason: '',
    seconds: 0,
    sourceHash: '',
    compileOptions: '',
    instruction: '',
    work: workOf(format.id, m, n, k, { output: outputOfNvbench, ...plainOperation }, reads)
  }
}

/** How a kernel's scales lie is not in the file: they are counted as they are. */
const reads = { scaleLayout: 'linear', operandBits: 0 }

function axisOf(
  part: ProductPart,
  asked: string | undefined,
  axes: NvbenchState['axes']
): NvbenchState['axes'][number] | undefined {
  if (asked !== undefined) return axes.find(({ name }) => name === asked)
  return part === 'format'
    ? axes.find(({ value }) => everyBlockFormat.some(({ id }) => id === value))
    : axes.find(({ name }) => name.toUpperCase() === part)
}

type Samples = Pick<StoredRound, 'samplesNs' | 'samplesMHz'>

function samplesOf({ times, clocks }: NvbenchState, readBeside: ReadBeside): Samples | undefined {
  const values = (of: NvbenchSamples | undefined, scale: number) => {
    const bytes = of && readBeside(of.path, of.count * 4)
    if (!bytes) return undefined
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return Array.from({ length: of.count }, (_, i) => view.getFloat32(i * 4, true) * scale)
  }
  const samplesNs = values(times, 1e9)
  if (!samplesNs || samplesNs.length === 0) return undefined
  return { samplesNs, samplesMHz: values(clocks, 1e-6) ?? [] }
}

function measurementOf(
  { summaries }: NvbenchState,
  { work }: Step,
  samples: Samples | undefined,
  version: string
): Measurement | undefined {
  const value = (tag: string) => summaries.get(tag)?.value ?? NaN
  const ns = (tag: string) => value(`nv/${tag}`) * 1e9
  const batchNs = ns('batch/time/gpu/mean')
  const meanNs = ns('cold/time/gpu/mean')
  const isCold = samples !== undefined || !Number.isNaN(meanNs)
  const mean = isCold ? meanNs : batchNs
  if (!samples && Number.isNaN(mean)) return undefined
  const median = ns('cold/time/gpu/median')
  const hasMedian = samples !== undefined || !Number.isNaN(median)
  const timeNs: Statistics = samples
    ? statisticsOf(samples.samplesNs, 0)
    : {
        samples: value(isCold ? 'nv/cold/sample_size' : 'nv/batch/sample_size') || 0,
        discarded: 0,
        min: ns('cold/time/gpu/min'),
        q1: ns('cold/time/gpu/q1'),
        median: hasMedian ? median : mean,
        q3: ns('cold/time/gpu/q3'),
        p95: NaN,
        max: ns('cold/time/gpu/max'),
        mean,
        standardDeviation: deviationOf(value, mean)
      }
  const clocks = samples?.samplesMHz ?? []
  const clockMHz = value('nv/cold/sm_clock_rate/mean') / 1e6
  const { flops, bytes, paddedBytes } = work!
  return {
    launchesPerSample: 1,
    operandSets: 0,
    cacheMode: isCold ? 'cold: by nvbench' : 'hot: by nvbench, in batches',
    timingSource: 'CUDA events',
    stopReason: "nvbench's criterion",
    warmupNs: 0,
    compileSeconds: 0,
    meanWatts: 0,
    meanTemperatureC: 0,
    badges: hasMedian ? [] : ['mean in place of the median'],
    launches: [],
    launchSource: '',
    cuptiNs: 0,
    sustainedNs: batchNs || 0,
    sustainedCount: value('nv/batch/sample_size') || 0,
    sustainedWatts: 0,
    joulesPerLaunch: 0,
    method: `nvbench${version && ` ${version}`}`,
    timeNs,
    roundMediansNs: [timeNs.median],
    meanMHz: clocks.length > 0 ? statisticsOf(clocks, 0).mean : clockMHz || 0,
    ...{ flops, bytes, paddedBytes },
    tflops: flops / timeNs.median / 1e3,
    gbytesPerSecond: bytes / timeNs.median
  }
}

/** Earlier files have its share of the mean alone. */
function deviationOf(value: (tag: string) => number, meanNs: number): number {
  const absolute = value('nv/cold/time/gpu/stdev/absolute') * 1e9
  return Number.isNaN(absolute) ? value('nv/cold/time/gpu/stdev/relative') * meanNs : absolute
}

function deviceOf(device: NvbenchDevice): Device {
  const known = Object.entries({
    smCount: device.multiprocessors,
    clockMHz: device.clockHz / 1e6,
    memoryBytes: device.memoryBytes,
    memoryClockMHz: device.memoryClockHz / 1e6,
    memoryBusBits: device.memoryBusBits,
    l2Bytes: device.l2Bytes,
    sharedBytesPerBlock: device.sharedBytesPerBlock
  }).filter(([, value]) => value > 0)
  return {
    id: `cuda:${device.id}`,
    kind: 'cuda',
    name: plainLine(device.name),
    architecture: device.architecture > 0 ? `sm_${device.architecture}` : '',
    properties: {
      ...Object.fromEntries(known),
      ...(device.architecture > 0 && { computeCapability: (device.architecture / 10).toFixed(1) })
    },
    kernels: []
  }
}
