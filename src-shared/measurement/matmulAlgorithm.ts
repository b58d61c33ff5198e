/** What a matmul library chose for a point, in words. */
import type { MatmulAlgorithm } from '../contract/matmulAlgorithm'
import type { Step } from '../contract/run'
import { counted, figure, quantity, text } from '../units'

/** Undefined where the kernel is no library's, and in runs that did not ask. */
export const algorithmOf = ({ measurement, validation }: Step): MatmulAlgorithm | undefined =>
  measurement?.algorithm ?? validation?.algorithm

/** 'algorithm 66, tile 256x128, stages 64xAUTO, ..., workspace 0 B, waves 3.88; number 1 of 8 proposals' */
export function algorithmText(step: Step): string | undefined {
  const told = algorithmOf(step)
  if (!told) return undefined
  const { splitK, customOption, reduction } = told
  const parts = [
    `algorithm ${told.id}`,
    told.name,
    told.tile && `tile ${told.tile}`,
    told.stages && `stages ${told.stages}`,
    told.cluster && `cluster ${told.cluster}`,
    splitK !== undefined && `split-K ${splitK}${splitK > 1 ? ` (added up ${reduction})` : ''}`,
    told.swizzle !== undefined && `swizzle ${told.swizzle}`,
    customOption !== undefined && customOption !== 0 && `custom option ${customOption}`,
    `workspace ${text(quantity('bytes', told.workspaceBytes))}`,
    `waves ${figure(told.waves)}`
  ]
  const place = `number ${told.rank} of ${counted(told.proposed, 'proposal')}`
  return `${parts.filter(Boolean).join(', ')}; ${place}`
}
