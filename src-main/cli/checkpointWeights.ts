/** What the checkpoint commands share: flags that say what a file does not say itself, and a weight by name. */
import { Option, type Command } from 'commander'
import type { TensorScaleUse } from '@shared/checkpoints/convention'
import {
  findConvention,
  findWeights,
  unsureText,
  type BlockScaledWeight,
  type FoundWeights,
  type Named
} from '@shared/checkpoints/conventions'
import { ownConvention } from '@shared/checkpoints/ownConvention'
import { likelyWeights } from '@shared/checkpoints/unknown'
import { UserError } from '@shared/errors'
import { blockFormats } from '@shared/formats/blockFormat'
import { didYouMean } from '@shared/knownName'
import { elementPackings } from '@shared/layouts/elementPacking'
import { findLayout } from '@shared/layouts/registry'
import type { Checkpoint } from '../store/checkpointFile'

export interface NamedFlags {
  convention?: string
  inputLayout?: string
  codes?: string
  scales?: string
  globalScale?: string
  globalScaleUse?: TensorScaleUse
  format?: string
  order?: string
}

export function withNamedTensors(command: Command): Command {
  return command
    .optionsGroup('Where the file does not say enough:')
    .option('--convention <name>', 'of tensors that fit several conventions')
    .option('--input-layout <name>', 'layout of the block scales in the file')
    .option('--codes <tensor>', 'the codes of a weight; others of the same naming are found too')
    .option('--scales <tensor>', 'its block scales')
    .option('--global-scale <tensor>', 'its scale for the whole tensor')
    .addOption(
      new Option('--global-scale-use <how>', 'element x scale x it, or / it').choices([
        'multiply',
        'divide'
      ])
    )
    .addOption(
      new Option('--format <name>', 'what the codes are (its operand B)').choices(
        blockFormats.map(({ id }) => id)
      )
    )
    .addOption(
      new Option('--order <packing>', 'how the codes lie (layout elements list)').choices(
        elementPackings.map(({ name }) => name)
      )
    )
    .optionsGroup('Options:')
}

/** Throws a UserError for names that are none. */
export function namedOf(checkpoint: Checkpoint, flags: NamedFlags): Named {
  const { codes, scales, format, convention, inputLayout, globalScale, globalScaleUse, order } =
    flags
  const own =
    codes === undefined
      ? undefined
      : ownConvention(
          {
            codes,
            scales: scales!,
            format: format!,
            ...(globalScale === undefined ? {} : { tensorScale: globalScale }),
            ...(globalScaleUse === undefined ? {} : { tensorScaleUse: globalScaleUse }),
            ...(order === undefined ? {} : { order })
          },
          checkpoint,
          checkpoint.path
        )
  return {
    ...(convention === undefined ? {} : { convention: findConvention(convention) }),
    ...(inputLayout === undefined ? {} : { scaleLayout: findLayout(inputLayout) }),
    ...(own ? { own } : {})
  }
}

/** Throws a UserError that names some of those there are. */
export function weightNamed(
  checkpoint: Checkpoint,
  name: string,
  named: Named = {}
): BlockScaledWeight {
  const all = findWeights(checkpoint, checkpoint.path, named)
  const { weights, unsure } = all
  const found = weights.find((weight) => weight.name === name)
  if (found) return found
  const two = unsure.find((weight) => weight.name === name)
  if (two) throw new UserError('usage', `${checkpoint.path}: ${unsureText(two)}`)
  const some = weights.slice(0, 5).map((weight) => weight.name)
  const near = didYouMean(
    name,
    weights.map((weight) => weight.name)
  )
  const what = `${checkpoint.path} has no block-scaled weight "${name}".${near}`
  throw new UserError(
    'usage',
    `${what} It has ${some.join(', ') || 'none'}.${hint(checkpoint, all)}`
  )
}

/** Where nothing is known: what looks like codes and scales. */
function hint(checkpoint: Checkpoint, { weights, unsure }: FoundWeights): string {
  if (weights.length > 0) return ''
  if (unsure.length > 0) return ` ${unsureText(unsure[0]!)}`
  const [likely] = likelyWeights(checkpoint, weights, [])
  if (!likely) return ''
  const { codes, scales, formats } = likely
  return ` "${codes.name}" and "${scales.name}" look like codes and scales: --codes ${codes.name} --scales ${scales.name} --format ${formats[0]}.`
}
