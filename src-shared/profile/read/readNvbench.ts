/** nvbench's JSON, and what this program exports in that shape: one node per benchmark, per value of each axis below it. */
import { samplesMetric, totalSampledMetric } from '../tree/operation'
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileDevice, type ProfileTree } from '../tree/profileTree'
import { readNvbenchFile, type NvbenchDevice, type NvbenchState } from './nvbenchFile'

/** In the order of preference: the median is what this program reports. */
const timeTags = ['nv/cold/time/gpu/median', 'nv/cold/time/gpu/mean', 'nv/batch/time/gpu/mean']
const sampleTag = 'nv/cold/sample_size'

export function readNvbench(bytes: Uint8Array, fileName: string): ProfileTree {
  const file = readNvbenchFile(bytes, fileName)
  const tree = new PathTree()
  const devices = file.devices.map(deviceOf)
  const skipped: string[] = []
  for (const state of file.states) {
    const path = [state.benchmark, ...state.axes.map(({ name, value }) => `${name}=${value}`)]
    if (state.skipped === undefined) addState(tree, tree.at(path), state, devices)
    else skipped.push(`${path.join(', ')} (${state.skipped})`)
  }
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
  { summaries, device }: NvbenchState,
  devices: readonly ProfileDevice[]
): void {
  const timed = timeTags.find((tag) => summaries.has(tag))
  const seconds = timed === undefined ? NaN : summaries.get(timed)!.value
  if (!Number.isNaN(seconds)) {
    tree.addNumber(node, timeMetric, seconds * 1e9, true)
    tree.addNumber(node, countMetric, 1, false)
    addAmounts(tree, node, summaries, seconds, timed === timeTags[0])
  }
  if (device !== '') {
    tree.setText(node, 'device_id', device)
    tree.setText(node, 'device_type', devices.find(({ id }) => id === device)?.type ?? 'CUDA')
  }
  for (const [tag, { value, hint }] of summaries) {
    if (tag === timed || tag === sampleTag) continue
    const { scale, unit } = units.get(hint) ?? unitOf(tag)
    tree.addNumber(node, unit ? `${tag} (${unit})` : tag, value * scale, true)
  }
}

/** What one launch works on and how often it was measured. */
function addAmounts(
  tree: PathTree,
  node: number,
  summaries: NvbenchState['summaries'],
  seconds: number,
  isMedian: boolean
): void {
  const value = (tag: string) => summaries.get(tag)?.value ?? NaN
  const mean = value('nv/cold/time/gpu/mean')
  // nvbench divides by the mean (nvbench/detail/measure_cold.cu), this program's export by the median.
  const bytes = value('nv/cold/bw/global/bytes_per_second') * mean
  const own = value('blockscope/gbytes_per_second') * 1e9 * seconds
  if (!Number.isNaN(bytes) || !Number.isNaN(own))
    tree.addNumber(node, 'bytes', Math.round(Number.isNaN(bytes) ? own : bytes), false)
  const flops = value('blockscope/tflops') * 1e12 * seconds
  if (!Number.isNaN(flops)) tree.addNumber(node, 'flops', flops, true)
  const samples = value(sampleTag)
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

function deviceOf(device: NvbenchDevice): ProfileDevice {
  return {
    type: 'CUDA',
    id: device.id,
    arch: String(device.architecture),
    busWidthBits: device.memoryBusBits,
    clockRateKHz: Math.round(device.clockHz / 1000),
    memoryClockRateKHz: Math.round(device.memoryClockHz / 1000),
    multiprocessors: device.multiprocessors
  }
}
