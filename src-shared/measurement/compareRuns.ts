import type { Groups } from '../contract/groups'
import type { Run } from '../contract/run'
import { stepKey } from './ratios'
import { compareMeasurements, type Comparison } from './verdict'

export interface ComparedPoint extends Comparison {
  format: string
  kernel: string
  m: number
  n: number
  k: number
  groups?: Groups | undefined
  baselineNs: number
  testedNs: number
}

/** Points that both runs measured, in the baseline's order. */
export function compareRuns(baseline: Run, tested: Run): ComparedPoint[] {
  const byKey = new Map(tested.steps.map((step) => [stepKey(step), step]))
  return baseline.steps.flatMap((step) => {
    const other = byKey.get(stepKey(step))
    if (!step.measurement || !other?.measurement) return []
    const { format, kernel, m, n, k, groups } = step
    return {
      format,
      kernel,
      m,
      n,
      k,
      ...(groups && { groups }),
      baselineNs: step.measurement.timeNs.median,
      testedNs: other.measurement.timeNs.median,
      ...compareMeasurements(step.measurement, other.measurement)
    }
  })
}
