/** What `auto` would choose in a run that is there, by the costs that its device's kernels have now. */
import type { Device } from '../contract/devices'
import type { Run, Step } from '../contract/run'
import { groupedBy } from '../groupedBy'
import { pointOf } from '../measurement/ratios'
import { choiceOf, rankKernels } from './choose'
import { factsOf } from './deviceFacts'

/**
 * The run's steps, marked as if `auto` had chosen at each point among the kernels that were timed there; what it chose when
 * the run was made is forgotten. `device`: the run's, with models of its kernels (withModels in the engine).
 */
export function chooseAgain({ steps, spec, roofs }: Run, device: Device): Step[] {
  const facts = factsOf(device, roofs ?? [])
  const timed = groupedBy(
    steps.filter(({ measurement }) => measurement),
    pointOf
  )
  const choices = new Map(
    [...timed].map(([point, ofOne]) => {
      const { format, m, n, k, groups } = ofOne[0]!
      const kernels = device.kernels.filter(({ id }) => ofOne.some(({ kernel }) => kernel === id))
      const problem = { ...spec, format, m, n, k, ...(groups && { groups }) }
      return [point, choiceOf(rankKernels(kernels, facts, problem), problem)] as const
    })
  )
  return steps.map(({ choice: _before, ...step }) => {
    const choice = choices.get(pointOf(step))
    return choice?.kernel === step.kernel ? { ...step, choice } : step
  })
}
