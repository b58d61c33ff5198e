/**
 * nvbench's JSON (NVIDIA/nvbench, nvbench/json_printer.cu), and what this program exports in that shape: one node per
 * benchmark, per value of each axis below it.
 */
import { UserError } from '../../errors'
import { samplesMetric, totalSampledMetric } from '../tree/operation'
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileDevice, type ProfileTree } from '../tree/profileTree'
import { listOf, numberOr, parseJson, property, stringOr } from './jsonValue'

/** A state's summaries by tag. Numbers are written as text. */
type Summaries = ReadonlyMap<string, { value: number; hint: string }>

/** In the order of preference: the median is what this program reports. */
const timeTags = ['nv/cold/time/gpu/median', 'nv/cold/time/gpu/mean', 'nv/batch/time/gpu/mean']
const sampleTag = 'nv/cold/sample_size'
const bytesTag = 'nv/cold/bw/global/bytes_per_second'

export function readNvbench(bytes: Uint8Array, fileName: string): ProfileTree {
  const content = parseJson(bytes, fileName)
  const tree = new PathTree()
  const devices = listOf(property(content, 'devices')).map(deviceOf)
  const skipped: string[] = []
  let states = 0
  for (const benchmark of listOf(property(content, 'benchmarks'))) {
    const name = stringOr(property(benchmark, 'name'), '(unnamed)')
    for (const state of listOf(property(benchmark, 'states'))) {
      states++
      const path = [name, ...axesOf(state)]
      if (property(state, 'is_skipped') === true) {
        const why = stringOr(property(state, 'skip_reason'), 'no reason given')
        skipped.push(`${path.join(', ')} (${why})`)
        continue
      }
      addState(tree, tree.at(path), state, devices)
    }
  }
  if (states === 0)
    throw new UserError('usage', `${fileName} is nvbench's JSON without a state of any benchmark.`)
  const made = tree.finish('nvbench', devices, true)
  if (skipped.length > 0)
    made.warnings.push(`Skipped by nvbench: ${skipped.slice(0, 5).join('; ')}${more(skipped)}.`)
  return made
}

function more(skipped: readonly string[]): string {
  return skipped.length > 5 ? ` and ${skipped.length - 5} more` : ''
}

function addState(
  tree: PathTree,
  node: number,
  state: unknown,
  devices: readonly ProfileDevice[]
): void {
  const summaries = summariesOf(state)
  const timed = timeTags.find((tag) => summaries.has(tag))
  const seconds = timed === undefined ? NaN : summaries.get(timed)!.value
  if (!Number.isNaN(seconds)) {
    tree.addNumber(node, timeMetric, seconds * 1e9, true)
    tree.addNumber(node, countMetric, 1, false)
    addAmounts(tree, node, summaries, seconds, timed === timeTags[0])
  }
  const device = String(property(state, 'device') ?? '')
  if (device !== '') {
    tree.setText(node, 'device_id', device)
    tree.setText(node, 'device_type', devices.find(({ id }) => id === device)?.type ?? 'CUDA')
  }
  for (const [tag, { value, hint }] of summaries) {
    if (tag === timed || tag === sampleTag || Number.isNaN(value)) continue
    const { scale, unit } = units.get(hint) ?? unitOf(tag)
    tree.addNumber(node, unit ? `${tag} (${unit})` : tag, value * scale, true)
  }
}

/** What one launch works on and how often it was measured. */
function addAmounts(
  tree: PathTree,
  node: number,
  summaries: Summaries,
  seconds: number,
  isMedian: boolean
): void {
  const value = (tag: string) => summaries.get(tag)?.value ?? NaN
  const rate = value(bytesTag) || value('blockscope/gbytes_per_second') * 1e9
  if (!Number.isNaN(rate)) tree.addNumber(node, 'bytes', Math.round(rate * seconds), false)
  const flops = value('blockscope/tflops') * 1e12 * seconds
  if (!Number.isNaN(flops)) tree.addNumber(node, 'flops', flops, true)
  const samples = value(sampleTag)
  const mean = value('nv/cold/time/gpu/mean')
  if (Number.isNaN(samples)) return
  tree.addNumber(node, samplesMetric, samples, false)
  // Where it is there, the time of a row is taken for the median of its samples.
  if (isMedian && !Number.isNaN(mean))
    tree.addNumber(node, totalSampledMetric, mean * samples * 1e9, true)
}

/** nvbench's hints, to units whose names say whether sums make sense. */
const units: ReadonlyMap<string, { scale: number; unit: string }> = new Map([
  ['duration', { scale: 1e9, unit: 'ns' }],
  ['percentage', { scale: 100, unit: '%' }],
  ['item_rate', { scale: 1, unit: 'item/s' }],
  ['byte_rate', { scale: 1, unit: 'byte/s' }],
  ['frequency', { scale: 1, unit: 'cycle/s' }],
  ['bytes', { scale: 1, unit: 'byte' }]
])

function unitOf(tag: string): { scale: number; unit: string } {
  if (/\/time\//.test(tag)) return { scale: 1e9, unit: 'ns' }
  if (/tflops$/.test(tag)) return { scale: 1, unit: 'TFLOP/s' }
  return /per_second$/.test(tag) ? { scale: 1, unit: 'GB/s' } : { scale: 1, unit: '' }
}

function summariesOf(state: unknown): Summaries {
  const summaries = new Map<string, { value: number; hint: string }>()
  for (const summary of listOf(property(state, 'summaries'))) {
    const tag = stringOr(property(summary, 'tag'), stringOr(property(summary, 'name'), ''))
    const found = listOf(property(summary, 'data')).find((one) => property(one, 'name') === 'value')
    const written = property(found, 'value')
    const type = property(found, 'type')
    if (tag === '' || (type !== 'float64' && type !== 'int64')) continue
    const value = typeof written === 'string' ? Number(written) : numberOr(written, NaN)
    if (Number.isFinite(value))
      summaries.set(tag, { value, hint: stringOr(property(summary, 'hint'), '') })
  }
  return summaries
}

/** 'K=4096'; of an axis of types, their names. */
function axesOf(state: unknown): string[] {
  return listOf(property(state, 'axis_values')).map((axis) => {
    const value = property(axis, 'input_string') ?? property(axis, 'value')
    return `${stringOr(property(axis, 'name'), 'axis')}=${String(value)}`
  })
}

function deviceOf(device: unknown): ProfileDevice {
  const number = (name: string) => numberOr(property(device, name), 0)
  return {
    type: 'CUDA',
    id: String(property(device, 'id') ?? 0),
    // 900 for compute capability 9.0
    arch: String(Math.floor(number('sm_version') / 10)),
    busWidthBits: number('global_memory_bus_width'),
    clockRateKHz: Math.round(number('sm_default_clock_rate') / 1000),
    memoryClockRateKHz: Math.round(number('global_memory_bus_peak_clock_rate') / 1000),
    multiprocessors: number('number_of_sms')
  }
}
