/**
 * What `--counters` measures of a kernel unless metrics are named: names of NVIDIA's perfworks, whose host library knows
 * which of them a chip has. Of those of CUPTI 13.0 all but GV11B take these, save what a remark here says.
 */
export interface CounterMetric {
  name: string
  label: string
  unit: '%' | 'bytes' | 'wavefronts' | 'warps'
}

const stalled = (reason: string, label: string): CounterMetric => ({
  name: `smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio`,
  label: `stalled: ${label}`,
  unit: 'warps'
})

export const counterMetrics: readonly CounterMetric[] = [
  {
    name: 'sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed',
    label: 'tensor pipe',
    unit: '%'
  },
  // Not of chips without memory of their own: GA10B, GB10B, GB20B.
  { name: 'dram__throughput.avg.pct_of_peak_sustained_elapsed', label: 'DRAM', unit: '%' },
  // Nor these of GB20x.
  { name: 'dram__bytes_read.sum', label: 'DRAM read', unit: 'bytes' },
  { name: 'dram__bytes_write.sum', label: 'DRAM written', unit: 'bytes' },
  { name: 'lts__t_bytes.sum', label: 'L2', unit: 'bytes' },
  { name: 'sm__sass_data_bytes_mem_shared.sum', label: 'shared memory', unit: 'bytes' },
  {
    name: 'l1tex__data_pipe_lsu_wavefronts_mem_shared.sum',
    label: 'shared memory',
    unit: 'wavefronts'
  },
  { name: 'sm__warps_active.avg.pct_of_peak_sustained_active', label: 'occupancy', unit: '%' },
  stalled('long_scoreboard', 'global memory'),
  stalled('short_scoreboard', 'shared memory'),
  stalled('barrier', 'barrier'),
  stalled('math_pipe_throttle', 'math pipe'),
  stalled('wait', 'fixed latency')
]

const known = new Map(counterMetrics.map((metric) => [metric.name, metric]))

/** One of those above; undefined of a metric that somebody named. */
export const counterMetricOf = (name: string): CounterMetric | undefined => known.get(name)

/** 'DRAM read (bytes)'; of a metric that somebody named, its name. */
export function counterHeading(name: string): string {
  const metric = counterMetricOf(name)
  return metric ? `${metric.label} (${metric.unit})` : name
}
