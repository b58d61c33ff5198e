/** What `auto` would choose in a run that is there, by the costs that its device's kernels have now. */
import type { Device } from '../contract/devices'
import type { Run, Step } from '../contract/run'
import { pointOf } from '../measurement/ratios'
import { choiceOf, rankKernels } from './choose'
import { factsOf } from './deviceFacts'

/**
 * The run's steps, marked as if `auto` had chosen at each point among the kernels that were timed there; what it chose when
 * the run was made is forgotten. `device`: the run's, with models of its kernels (withModels in the engine).
 */
export function chooseAgain({ steps, spec, roofs }: Run, device: Device): Step[] {
  const facts = factsOf(device, roofs ?? [])
  const timed = new Map<string, Set<string>>()
  for (const step of steps)
    if (step.measurement)
      timed.set(pointOf(step), (timed.get(pointOf(step)) ?? new Set()).add(step.kernel))
  return steps.map(({ choice: _before, ...step }) => {
    const { format, m, n, k, groups, kernel } = step
    const kernels = device.kernels.filter(({ id }) => timed.get(pointOf(step))?.has(id))
    const problem = { ...spec, format, m, n, k, ...(groups && { groups }) }
    const choice = choiceOf(rankKernels(kernels, facts, problem), problem)
    return kernel === choice.kernel ? { ...step, choice } : step
  })
}
