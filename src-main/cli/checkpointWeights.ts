/** What the checkpoint commands share: a weight by name, and what it lost. */
import { findBlockScaledWeights, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import type { ConversionError } from '@shared/checkpoints/requantize'
import { UserError } from '@shared/errors'
import type { Checkpoint } from '../store/checkpointFile'

/** Throws a UserError that names some of those there are. */
export function weightNamed(checkpoint: Checkpoint, name: string): BlockScaledWeight {
  const weights = findBlockScaledWeights(checkpoint, checkpoint.path)
  const found = weights.find((weight) => weight.name === name)
  if (found) return found
  const some = weights.slice(0, 5).map((weight) => weight.name)
  throw new UserError(
    'usage',
    `${checkpoint.path} has no block-scaled weight "${name}"; it has ${some.join(', ') || 'none'}.`
  )
}

export function lossText({ exact, sqnr, maxError }: ConversionError): string {
  return exact
    ? 'exact: every value compared equal'
    : `SQNR ${sqnr.toFixed(2)} dB, max error ${maxError.toPrecision(4)}`
}

/** JSON has no infinities: they are texts. */
export function lossJson({ exact, sqnr, maxError }: ConversionError) {
  const shown = (value: number) => (Number.isFinite(value) ? value : `${value}`)
  return { exact, sqnr: shown(sqnr), maxError: shown(maxError) }
}
