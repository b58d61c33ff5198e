/**
 * A file of nvbench's JSON as data (NVIDIA/nvbench, nvbench/json_printer.cu, file version 1): benchmarks, a state for each
 * point of their axes, summaries by tag. Numbers of summaries are written as text; times are in seconds, rates per second.
 */
import { UserError } from '../../errors'
import { listOf, numberOr, parseJson, property, stringOr } from './jsonValue'

export interface NvbenchSummary {
  value: number
  /** What the value is: 'duration', 'byte_rate'; '' in files that do not say. */
  hint: string
}

/** Float32 values in a file beside this one. */
export interface NvbenchSamples {
  /** As the file names it: relative to its own folder. */
  path: string
  count: number
}

export interface NvbenchState {
  benchmark: string
  axes: { name: string; value: string }[]
  /** Number of the device; '' where the file does not say. */
  device: string
  /** Why it was not measured. */
  skipped?: string
  summaries: ReadonlyMap<string, NvbenchSummary>
  /** Seconds of each isolated launch, with --jsonbin. */
  times?: NvbenchSamples
  /** Hz of the SM clock at each. */
  clocks?: NvbenchSamples
}

/** 0 and '' where the file does not say. */
export interface NvbenchDevice {
  id: string
  name: string
  /** 90 for compute capability 9.0. */
  architecture: number
  multiprocessors: number
  clockHz: number
  memoryBytes: number
  memoryClockHz: number
  memoryBusBits: number
  l2Bytes: number
  sharedBytesPerBlock: number
}

export interface NvbenchFile {
  /** '0.1.0'; '' where the file does not say. */
  version: string
  argv: string[]
  devices: NvbenchDevice[]
  states: NvbenchState[]
}

/** @throws UserError for what is no JSON, and for a file without a state. */
export function readNvbenchFile(bytes: Uint8Array, fileName: string): NvbenchFile {
  const content = parseJson(bytes, fileName)
  const meta = property(content, 'meta')
  const states = listOf(property(content, 'benchmarks')).flatMap((benchmark) => {
    const name = stringOr(property(benchmark, 'name'), '(unnamed)')
    return listOf(property(benchmark, 'states')).map((state) => stateOf(name, state))
  })
  if (states.length === 0)
    throw new UserError('usage', `${fileName} is nvbench's JSON without a state of any benchmark.`)
  return {
    version: stringOr(property(property(property(meta, 'version'), 'nvbench'), 'string'), ''),
    argv: listOf(property(meta, 'argv')).map((word) => stringOr(word, '')),
    devices: listOf(property(content, 'devices')).map(deviceOf),
    states
  }
}

function stateOf(benchmark: string, state: unknown): NvbenchState {
  const summaries = listOf(property(state, 'summaries'))
  const times = samplesOf(summaries, 'nv/json/bin:nv/cold/sample_times')
  const clocks = samplesOf(summaries, 'nv/json/freqs-bin:nv/cold/sample_freqs')
  return {
    benchmark,
    axes: listOf(property(state, 'axis_values')).map((axis) => ({
      name: stringOr(property(axis, 'name'), 'axis'),
      // Of an axis of types, their names.
      value: String(property(axis, 'input_string') ?? property(axis, 'value'))
    })),
    device: String(property(state, 'device') ?? ''),
    ...(property(state, 'is_skipped') === true && {
      skipped: stringOr(property(state, 'skip_reason'), 'no reason given')
    }),
    summaries: valuesOf(summaries),
    ...(times && { times }),
    ...(clocks && { clocks })
  }
}

const datum = (summary: unknown, name: string): unknown =>
  listOf(property(summary, 'data')).find((one) => property(one, 'name') === name)

function valuesOf(summaries: readonly unknown[]): ReadonlyMap<string, NvbenchSummary> {
  const values = new Map<string, NvbenchSummary>()
  for (const summary of summaries) {
    const tag = stringOr(property(summary, 'tag'), stringOr(property(summary, 'name'), ''))
    const found = datum(summary, 'value')
    const written = property(found, 'value')
    const type = property(found, 'type')
    if (tag === '' || (type !== 'float64' && type !== 'int64')) continue
    const value = typeof written === 'string' ? Number(written) : numberOr(written, NaN)
    if (Number.isFinite(value))
      values.set(tag, { value, hint: stringOr(property(summary, 'hint'), '') })
  }
  return values
}

function samplesOf(summaries: readonly unknown[], tag: string): NvbenchSamples | undefined {
  const summary = summaries.find((one) => property(one, 'tag') === tag)
  const path = property(datum(summary, 'filename'), 'value')
  const count = Number(property(datum(summary, 'size'), 'value'))
  return typeof path === 'string' && Number.isSafeInteger(count) ? { path, count } : undefined
}

function deviceOf(device: unknown): NvbenchDevice {
  const number = (name: string) => numberOr(property(device, name), 0)
  return {
    id: String(property(device, 'id') ?? 0),
    name: stringOr(property(device, 'name'), ''),
    // 900 for compute capability 9.0
    architecture: Math.floor(number('sm_version') / 10),
    multiprocessors: number('number_of_sms'),
    clockHz: number('sm_default_clock_rate'),
    memoryBytes: number('global_memory_size'),
    memoryClockHz: number('global_memory_bus_peak_clock_rate'),
    memoryBusBits: number('global_memory_bus_width'),
    l2Bytes: number('l2_cache_size'),
    sharedBytesPerBlock: number('shared_memory_per_block')
  }
}
