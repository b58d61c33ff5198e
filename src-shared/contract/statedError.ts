import * as v from 'valibot'
import { distributions } from './jobs'

/**
 * Norm-wise error of an approximate kernel before C is rounded to its type, for each distribution of operands that it is
 * known of: what it is judged by (docs/measurement.md).
 */
export const statedErrorSchema = v.record(
  v.picklist(distributions, `must be for one of ${distributions.join(', ')}`),
  v.pipe(
    v.number('must be a number'),
    v.gtValue(0, 'must be above 0'),
    v.ltValue(1, 'must be below 1')
  ),
  'must be an object of numbers by distribution'
)
