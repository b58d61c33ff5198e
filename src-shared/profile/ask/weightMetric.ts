import { UserError } from '../../errors'
import { numberColumn, timeMetric, type ProfileTree } from '../tree/profileTree'
import { isInclusive, metricValues, ourRules, type RollUpRules } from '../tree/rollUp'
import { findTime } from './amounts'

/** The metric whose sums give widths to flame graphs: time where there is one, else cycles, samples, or any sum. */
export function weightMetric(tree: ProfileTree): string {
  const wanted = [timeMetric, 'cycles', 'num_samples'].find((name) => numberColumn(tree, name))
  const metric =
    wanted ?? tree.numbers.find((column) => isInclusive(tree, column.name, ourRules))?.name
  if (metric !== undefined) return metric
  throw new UserError(
    'usage',
    'The profile has no metric that gives nodes a width, such as time (ns).'
  )
}

/** Values that give a flame graph its widths: time, or what is asked for first where there is none. */
export function widthsOf(
  tree: ProfileTree,
  columns: readonly { values: Float64Array }[],
  rules: RollUpRules
): Float64Array {
  const time = findTime(tree, 'time')
  if (time) return metricValues(tree, time.metric, rules)
  return columns[0]?.values ?? new Float64Array(tree.count)
}
