/** Counters of the kernels of a capture, each measured at its first launch in its process. */
import { columnLines } from '../columns'
import { digits } from '../units'
import { counterHeading } from './counterMetrics'
import type { ShardNames } from './shardNames'

export interface KernelCounters {
  kernel: string
  /** By metric; null: the device gave no number. */
  values: Readonly<Record<string, number | null>>
}

export function countersOf(processes: readonly ShardNames[]): KernelCounters[] {
  return processes.flatMap(({ measured, metricSets }) =>
    measured.map(({ kernel, metricSet, values }) => {
      const names = metricSets[metricSet]?.names ?? []
      return {
        kernel,
        values: Object.fromEntries(names.map((name, i) => [name, values[i] ?? null]))
      }
    })
  )
}

/** A line for each kernel, as wide as its metrics need; none where nothing was measured. */
export function counterTableLines(
  counters: readonly KernelCounters[],
  nameOf: (name: string) => string
): string[] {
  const metrics = [...new Set(counters.flatMap(({ values }) => Object.keys(values)))]
  if (metrics.length === 0) return []
  const rows = counters.map(({ kernel, values }) => [
    ...metrics.map((name) => {
      const value = values[name] ?? null
      return value === null ? '' : digits(value)
    }),
    nameOf(kernel)
  ])
  return columnLines(
    [[...metrics.map(counterHeading), 'kernel'], ...rows],
    (column) => column === metrics.length
  )
}
