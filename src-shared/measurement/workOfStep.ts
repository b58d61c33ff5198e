import type { Step } from '../contract/run'
import { workOf, type Asked, type Work } from './work'

type Worked = Pick<Step, 'format' | 'm' | 'n' | 'k' | 'work' | 'measurement'>

/** Work of a step's operation as it was recorded: the one number for profile, report and charts. */
export function workOfStep({ format, m, n, k, work, measurement }: Worked, asked: Asked): Work {
  const usual = { scaleLayout: 'linear', operandBits: 0 }
  return work ?? measurement ?? workOf(format, m, n, k, asked, usual)
}
