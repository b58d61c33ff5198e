import type { Step } from '../contract/run'
import { workOf, type Asked, type Work } from './work'

type Worked = Pick<Step, 'format' | 'm' | 'n' | 'k' | 'groups' | 'work' | 'measurement'>

/** Work of a step's operation as it was recorded: the one number for profile, report and charts. */
export function workOfStep(step: Worked, asked: Asked): Work {
  const { format, m, n, k, groups, work, measurement } = step
  const usual = { scaleLayout: 'linear', operandBits: 0 }
  return work ?? measurement ?? workOf(format, m, n, k, { ...asked, groups }, usual)
}
