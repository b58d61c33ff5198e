import { UserError } from '../errors'
import { numberColumn, timeMetric, type ProfileTree } from './profileTree'
import { isInclusive, ourRules } from './rollUp'

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
