/** `checkpoint error`: block-scaled weights against the originals they were made from. */
import type { Command } from 'commander'
import { findBlockScaledWeights, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import {
  conversionError,
  floatMatrix,
  floatSuffix,
  weightSource,
  type WeightSource
} from '@shared/checkpoints/requantize'
import { UserError } from '@shared/errors'
import { withCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { lossJson, lossText, weightNamed } from './checkpointWeights'

interface ErrorFlags {
  original: string
  tensor?: string
  originalTensor?: string
  json?: boolean
}

export function registerError(checkpoint: Command): void {
  checkpoint
    .command('error <file>')
    .description('quantisation error of the weights against the checkpoint they were made from')
    .requiredOption('--original <file>', 'the original, .safetensors or its index')
    .option('--tensor <name>', 'one weight, as list names it, instead of all')
    .option(
      '--original-tensor <name>',
      'its tensor in the original (default: the same name, or with .weight)'
    )
    .option('--json', 'print as JSON')
    .action((file: string, flags: ErrorFlags) =>
      withCheckpoint(file, (quantised) =>
        withCheckpoint(flags.original, (original) => compare(quantised, original, flags))
      )
    )
}

function compare(quantised: Checkpoint, original: Checkpoint, flags: ErrorFlags): void {
  if (flags.originalTensor !== undefined && flags.tensor === undefined)
    throw new UserError('usage', '--original-tensor is of one weight: name it with --tensor.')
  const weights =
    flags.tensor === undefined
      ? findBlockScaledWeights(quantised, quantised.path)
      : [weightNamed(quantised, flags.tensor)]
  const rows = weights.flatMap((weight) => {
    const source = originalOf(weight, original, flags.originalTensor)
    if (!source) return []
    checkSizes(weight, source, original.path)
    const error = conversionError(source, weightSource(weight, quantised.read))
    return [{ name: weight.name, convention: weight.convention.name, error }]
  })
  if (rows.length === 0) {
    const wanted = flags.originalTensor ?? weights[0]?.name
    throw new UserError(
      'usage',
      wanted === undefined
        ? `${quantised.path} has no block-scaled weights.`
        : `${original.path} has no matrix "${wanted}" or "${wanted}${floatSuffix}" to compare with.`
    )
  }
  const missing = weights.length - rows.length
  if (flags.json) {
    const json = rows.map(({ error, ...row }) => ({ ...row, ...lossJson(error) }))
    return print(JSON.stringify({ weights: json, missing }, null, 2))
  }
  for (const { name, convention, error } of rows)
    print(`${name}  ${convention}  ${lossText(error)}`)
  if (missing > 0) print(`${missing} other weights have no original in ${original.path}.`)
}

/** A float matrix, or a block-scaled weight, of the same name. */
function originalOf(
  { name, convention }: BlockScaledWeight,
  original: Checkpoint,
  tensorName: string | undefined
): WeightSource | undefined {
  const names = tensorName === undefined ? [name, name + floatSuffix] : [tensorName]
  for (const candidate of names) {
    const tensor = original.tensors.get(candidate)
    const found = tensor && floatMatrix(tensor, name, convention.scaleBlockSize, original.read)
    if (found) return found
  }
  const weights = findBlockScaledWeights(original, original.path)
  const same = weights.find((weight) => names.includes(weight.name))
  return same && weightSource(same, original.read)
}

function checkSizes(weight: BlockScaledWeight, source: WeightSource, path: string): void {
  const sizeOf = ({ leading, rows, k }: Pick<WeightSource, 'leading' | 'rows' | 'k'>) =>
    [...leading, rows, k].join(' x ')
  if (sizeOf(weight) === sizeOf(source)) return
  throw new UserError(
    'usage',
    `"${weight.name}" is ${sizeOf(weight)} and its original in ${path} ${sizeOf(source)}; they must be alike.`
  )
}

function print(text: string): void {
  process.stdout.write(text + '\n')
}
