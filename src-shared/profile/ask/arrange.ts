import type { ProfileTree } from '../tree/profileTree'
import type { RollUpRules } from '../tree/rollUp'
import { demangle } from './demangle'
import { lastOf } from './lastOf'
import { compile } from './nameMatcher'
import { flattenByKernel, groupByCapture, invertCalls } from './regroup'

/**
 * As recorded; one row per name; one row per name with who calls it below; one scope per text that a regular expression
 * captures of the names.
 */
export type Arrangement = 'tree' | 'flat' | 'inverted' | { group: string }

/** The profile under the headings asked for; the same object as long as they stay. */
export function arranged(
  profile: ProfileTree,
  query: { arrangement?: Arrangement; demangle?: boolean },
  rules: RollUpRules
): ProfileTree {
  const { arrangement = 'tree', demangle: short = true } = query
  const nameOf = short ? demangle : undefined
  const key = arrangement === 'tree' ? '' : JSON.stringify([arrangement, short, rules])
  return lastOf(profile, 'arrangement', key, () => {
    if (arrangement === 'tree') return profile
    if (arrangement === 'flat') return flattenByKernel(profile, nameOf, rules)
    if (arrangement === 'inverted') return invertCalls(profile, nameOf, rules)
    const { group } = arrangement
    const expression = compile(group.replace(/^\/(.*)\/$/, '$1'), '', group)
    return groupByCapture(profile, expression, nameOf, rules)
  })
}
