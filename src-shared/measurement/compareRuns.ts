import type { Groups } from '../contract/groups'
import { operationName } from '../contract/operation'
import type { Run } from '../contract/run'
import { methodOn } from './presets'
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

/** 'bs-3 quick, cold', of all points of a run; '' where none was timed. */
export const methodOf = (run: Run): string =>
  run.steps.find((step) => step.measurement)?.measurement?.method ?? ''

/** Why the times of two runs may not be comparable, in sentences. */
export function comparisonDoubts(a: Run, b: Run): string[] {
  const method = (run: Run) => methodOn(run.device?.kind === 'cpu', methodOf(run))
  const same: [what: string, left: string, right: string][] = [
    ['device', a.device?.name ?? '', b.device?.name ?? ''],
    ['method', method(a), method(b)],
    ['operands', a.spec.distribution, b.spec.distribution],
    ['output type', a.spec.output, b.spec.output],
    ['operation', operationName(a.spec), operationName(b.spec)]
  ]
  return same.flatMap(([what, left, right]) =>
    left === right ? [] : [`Different ${what}: ${left || 'none'} and ${right || 'none'}.`]
  )
}
