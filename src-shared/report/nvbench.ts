import { groupsText } from '../contract/groups'
import type { Run, Step } from '../contract/run'

/** Points with the same axes would be one to a reader: groups are an axis too. */
const axesOf = ({ format, m, n, k, groups }: Step) => [
  { name: 'Format', type: 'string', value: format },
  ...Object.entries({ M: m, N: n, K: k }).map(([name, value]) => ({
    ...{ name, type: 'int64' },
    value: String(value)
  })),
  ...(groups ? [{ name: 'Groups', type: 'string', value: groupsText(groups) }] : [])
]

/**
 * The measured points in the shape of nvbench's JSON (benchmarks > states > axis_values and summaries), so that scripts
 * made for nvbench can read them. Times in seconds, as there.
 */
export function runToNvbench(run: Run): string {
  const measured = run.steps.filter((step) => step.measurement)
  const kernels = [...new Set(measured.map((step) => step.kernel))]
  const float64 = (tag: string, name: string, value: number) => ({
    tag,
    name,
    data: [{ name: 'value', type: 'float64', value: String(value) }]
  })
  const benchmarks = kernels.map((kernel, index) => ({
    name: kernel,
    index,
    states: measured
      .filter((step) => step.kernel === kernel)
      .map((step) => {
        const { timeNs, tflops, gbytesPerSecond } = step.measurement!
        const axes = axesOf(step)
        return {
          name: axes.map(({ name, value }) => `${name}=${value}`).join(' '),
          axis_values: axes,
          is_skipped: false,
          summaries: [
            float64('nv/cold/sample_size', 'Samples', timeNs.samples),
            float64('nv/cold/time/gpu/min', 'Min GPU Time', timeNs.min / 1e9),
            float64('nv/cold/time/gpu/q1', 'Q1 GPU Time', timeNs.q1 / 1e9),
            float64('nv/cold/time/gpu/median', 'Median GPU Time', timeNs.median / 1e9),
            float64('nv/cold/time/gpu/q3', 'Q3 GPU Time', timeNs.q3 / 1e9),
            float64('nv/cold/time/gpu/max', 'Max GPU Time', timeNs.max / 1e9),
            float64('nv/cold/time/gpu/mean', 'GPU Time', timeNs.mean / 1e9),
            float64('nv/cold/time/gpu/stdev/absolute', 'Noise', timeNs.standardDeviation / 1e9),
            float64('blockscope/tflops', 'TFLOP/s', tflops),
            float64('blockscope/gbytes_per_second', 'GB/s', gbytesPerSecond)
          ]
        }
      })
  }))
  return JSON.stringify({ meta: { argv: run.command.split(' ') }, benchmarks }, null, 2) + '\n'
}
