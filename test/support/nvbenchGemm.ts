/**
 * What nvbench writes of a benchmark of products with --json or --jsonbin, by its own description (NVIDIA/nvbench,
 * nvbench/json_printer.cu and nvbench/detail/measure_cold.cu): numbers of axes and summaries as text, samples as little-endian
 * float32 in files of their own.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Datum = [name: string, type: 'int64' | 'float64' | 'string', value: string | number]

const summary = (tag: string, hint: string, ...data: Datum[]) => ({
  ...{ tag, name: tag, hint },
  data: data.map(([name, type, value]) => ({ name, type, value: String(value) }))
})
const seconds = (tag: string, value: number) =>
  summary(tag, 'duration', ['value', 'float64', value])

export interface GemmPoint {
  tile: string
  k: number
  /** Seconds. */
  mean: number
  /** Other summaries of the state. */
  more?: object[]
  skipped?: string
  device?: number
  /** Seconds of each launch, in a file of their own. */
  samples?: number[]
}

export const quartiles = (min: number, q1: number, median: number, q3: number, max: number) => [
  seconds('nv/cold/time/gpu/min', min),
  seconds('nv/cold/time/gpu/q1', q1),
  seconds('nv/cold/time/gpu/median', median),
  seconds('nv/cold/time/gpu/q3', q3),
  seconds('nv/cold/time/gpu/max', max)
]

export const batch = (mean: number, launches: number) => [
  summary('nv/batch/sample_size', 'sample_size', ['value', 'int64', launches]),
  seconds('nv/batch/time/gpu/mean', mean)
]

const device = (id: number) => ({
  id,
  name: 'NVIDIA H200',
  sm_version: 900,
  sm_default_clock_rate: 1_980_000_000,
  number_of_sms: 132,
  global_memory_size: 150_109_880_320,
  global_memory_bus_peak_clock_rate: 3_201_000_000,
  global_memory_bus_width: 6016,
  l2_cache_size: 62_914_560,
  shared_memory_per_block: 49_152
})

/** Axes Tile, DType, M = N = 128 and K. */
export function nvbenchGemm(points: readonly GemmPoint[], name = 'gemm.json') {
  let file = 0
  return {
    meta: {
      argv: ['./gemm_bench', '--jsonbin', name],
      version: { json: { string: '1.0.0' }, nvbench: { string: '0.2.0' } }
    },
    devices: [...new Set(points.map((point) => point.device ?? 0))].map(device),
    benchmarks: [
      {
        name: 'gemm',
        states: points.map((point) => ({
          name: `Device=${point.device ?? 0} Tile=${point.tile} DType=mxfp4 M=128 N=128 K=${point.k}`,
          device: point.device ?? 0,
          axis_values: [
            { name: 'Tile', type: 'string', value: point.tile },
            { name: 'DType', type: 'string', value: 'mxfp4' },
            { name: 'M', type: 'int64', value: '128' },
            { name: 'N', type: 'int64', value: '128' },
            { name: 'K', type: 'int64', value: String(point.k) }
          ],
          summaries: point.skipped ? [] : summariesOf(point, name, () => file++),
          is_skipped: point.skipped !== undefined,
          ...(point.skipped !== undefined && { skip_reason: point.skipped })
        }))
      }
    ]
  }
}

function summariesOf(point: GemmPoint, name: string, nextFile: () => number): object[] {
  const { mean, samples, more = [] } = point
  const beside = (tag: string, folder: string, at: number) =>
    summary(
      tag,
      'file',
      ['filename', 'string', `${name}-${folder}/${at}.bin`],
      ['size', 'int64', samples!.length]
    )
  const at = samples && nextFile()
  return [
    summary('nv/cold/sample_size', 'sample_size', ['value', 'int64', samples?.length ?? 50]),
    seconds('nv/cold/time/gpu/mean', mean),
    summary('nv/cold/time/gpu/stdev/relative', 'percentage', ['value', 'float64', 0.01]),
    ...more,
    ...(at === undefined
      ? []
      : [
          beside('nv/json/bin:nv/cold/sample_times', 'bin', at),
          beside('nv/json/freqs-bin:nv/cold/sample_freqs', 'freqs-bin', at)
        ])
  ]
}

/** The same on a disk, with the samples of each point and 1.5 GHz at each of them; its path. */
export function writeNvbenchGemm(
  folder: string,
  points: readonly GemmPoint[],
  name = 'gemm.json'
): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(nvbenchGemm(points, name)))
  points
    .flatMap(({ samples }) => (samples ? [samples] : []))
    .forEach((samples, at) => {
      for (const [kind, values] of Object.entries({
        bin: samples,
        'freqs-bin': samples.map(() => 1.5e9)
      })) {
        const file = join(folder, `${name}-${kind}`, `${at}.bin`)
        mkdirSync(dirname(file), { recursive: true })
        const bytes = new DataView(new ArrayBuffer(values.length * 4))
        values.forEach((value, i) => bytes.setFloat32(i * 4, value, true))
        writeFileSync(file, bytes)
      }
    })
  return path
}
