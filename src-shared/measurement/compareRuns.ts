import { shapeKey } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { compareMeasurements, type Comparison } from './verdict'

export interface ComparedPoint extends Comparison {
  format: string
  kernel: string
  m: number
  n: number
  k: number
  baselineNs: number
  testedNs: number
}

const keyOf = (step: Step) => [step.format, step.kernel, shapeKey(step)].join(' ')

/** Points that both runs measured, in the baseline's order. */
export function compareRuns(baseline: Run, tested: Run): ComparedPoint[] {
  const byKey = new Map(tested.steps.map((step) => [keyOf(step), step]))
  return baseline.steps.flatMap((step) => {
    const other = byKey.get(keyOf(step))
    if (!step.measurement || !other?.measurement) return []
    const { format, kernel, m, n, k } = step
    return {
      format,
      kernel,
      m,
      n,
      k,
      baselineNs: step.measurement.timeNs.median,
      testedNs: other.measurement.timeNs.median,
      ...compareMeasurements(step.measurement, other.measurement)
    }
  })
}
