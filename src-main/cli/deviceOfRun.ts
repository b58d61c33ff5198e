/** The device on which a run was made, for what is told of it here. */
import type { Device } from '@shared/contract/devices'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { withModels } from '../engine/kernelManifests'
import { kernelSourcesOf } from './localApplication'

/** With the cost of kernels as it is known here now. Throws a UserError for a run, `words`, that has no device. */
export function deviceOfRun({ device }: Run, words: string, kernelDir?: string[]): Device {
  if (!device) throw new UserError('usage', `${words} does not say on which device it was made.`)
  const [known] = withModels([device], kernelSourcesOf(kernelDir))
  return known!
}
