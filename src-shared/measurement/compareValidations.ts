/** Two validations cell by cell: what became of each (format, kernel, shape), and how its error moved. */
import type { Groups } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { stepKey } from './ratios'
import { isFailed } from './outcome'
import { toleranceShareOf } from './validationFigures'

export type ValidationChange = 'now fails' | 'now passes' | 'error grew' | 'error shrank' | 'same'

export interface ComparedValidation {
  format: string
  kernel: string
  m: number
  n: number
  k: number
  groups?: Groups | undefined
  baseline: Step
  tested: Step
  /** Largest error over the tolerance; undefined where it was not judged. */
  baselineShare: number | undefined
  testedShare: number | undefined
  change: ValidationChange
}

/** Errors are exact figures of exact runs: less than this is another reduction order, not another kernel. */
const leastChange = 0.01

/** Cells that both runs judged, what got worse first. */
export function compareValidations(baseline: Run, tested: Run): ComparedValidation[] {
  const byKey = new Map(tested.steps.map((step) => [stepKey(step), step]))
  const found = baseline.steps.flatMap((step): ComparedValidation[] => {
    const other = byKey.get(stepKey(step))
    if (!step.validation || !other?.validation) return []
    const { format, kernel, m, n, k, groups } = step
    const baselineShare = toleranceShareOf(step.validation)
    const testedShare = toleranceShareOf(other.validation)
    return [
      {
        ...{
          format,
          kernel,
          m,
          n,
          k,
          ...(groups && { groups }),
          baseline: step,
          tested: other,
          baselineShare,
          testedShare
        },
        change: changeOf(step, other, baselineShare, testedShare)
      }
    ]
  })
  return found.sort((a, b) => order.indexOf(a.change) - order.indexOf(b.change))
}

const order: readonly ValidationChange[] = [
  'now fails',
  'error grew',
  'now passes',
  'error shrank',
  'same'
]

function changeOf(
  before: Step,
  after: Step,
  was: number | undefined,
  is: number | undefined
): ValidationChange {
  if (isFailed(before) !== isFailed(after)) return isFailed(after) ? 'now fails' : 'now passes'
  if (was === undefined || is === undefined || was === is) return 'same'
  if (is > was * (1 + leastChange) || Number.isNaN(is)) return 'error grew'
  return is < was * (1 - leastChange) ? 'error shrank' : 'same'
}
