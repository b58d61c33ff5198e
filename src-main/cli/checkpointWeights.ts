/** What the checkpoint commands share: a weight by name. */
import { findBlockScaledWeights, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { UserError } from '@shared/errors'
import { didYouMean } from '@shared/knownName'
import type { Checkpoint } from '../store/checkpointFile'

/** Throws a UserError that names some of those there are. */
export function weightNamed(checkpoint: Checkpoint, name: string): BlockScaledWeight {
  const weights = findBlockScaledWeights(checkpoint, checkpoint.path)
  const found = weights.find((weight) => weight.name === name)
  if (found) return found
  const some = weights.slice(0, 5).map((weight) => weight.name)
  const near = didYouMean(
    name,
    weights.map((weight) => weight.name)
  )
  throw new UserError(
    'usage',
    `${checkpoint.path} has no block-scaled weight "${name}".${near} It has ${some.join(', ') || 'none'}.`
  )
}
