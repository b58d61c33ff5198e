import type { Run } from '@shared/contract/run'
import { treeOfRun } from '@shared/profile/read/runTree'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { traceOfRun } from '@shared/profile/write/runTrace'

export const profileName = 'profile.hatchet'
export const traceName = 'trace.json'

/**
 * Files of a run that follow from its steps, for other tools; never read back, and made anew wherever a run is stored or
 * handed on. A run without a single timed kernel has no profile.
 */
export function derivedFiles(run: Run): { [name: string]: string } {
  const tree = treeOfRun(run)
  return {
    ...(tree.count > 1 && { [profileName]: writeHatchet(tree) }),
    [traceName]: traceOfRun(run, tree)
  }
}
