/** `checkpoint error`: block-scaled weights against the originals they were made from. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { findBlockScaledWeights, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { isDamaged, lossJson, lossText } from '@shared/checkpoints/loss'
import {
  floatMatrix,
  floatSuffix,
  weightSource,
  type WeightSource
} from '@shared/checkpoints/weightSource'
import { exitCodeOf, UserError } from '@shared/errors'
import { print, printJson } from '../ground/terminal'
import { compareWeights } from '../jobs/weights/compareWeights'
import { withCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { namedOf, weightNamed, withNamedTensors, type NamedFlags } from './checkpointWeights'
import { followWeights } from './followWeights'

interface ErrorFlags extends NamedFlags {
  original: string
  tensor?: string
  originalTensor?: string
  json?: boolean
}

export function registerError(checkpoint: Command): void {
  withNamedTensors(checkpoint.command('error <file>'))
    .description('quantisation error of the weights against the checkpoint they were made from')
    .requiredOption('--original <file>', 'the original, .safetensors or its index')
    .option('--tensor <name>', 'one weight, as list names it, instead of all')
    .option(
      '--original-tensor <name>',
      'its tensor in the original (default: the same name, or with .weight)'
    )
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExit code: 0 compared, 1 values are NaN or infinite, 2 wrong usage.')
    .action((file: string, flags: ErrorFlags) =>
      withCheckpoint(file, (quantised) =>
        withCheckpoint(flags.original, (original) => compare(quantised, original, flags))
      )
    )
}

async function compare(
  quantised: Checkpoint,
  original: Checkpoint,
  flags: ErrorFlags
): Promise<void> {
  const named = namedOf(quantised, flags)
  const weights =
    flags.tensor === undefined
      ? findBlockScaledWeights(quantised, quantised.path, named)
      : [weightNamed(quantised, flags.tensor, named)]
  const pairs = weights.flatMap((weight) => {
    const source = originalOf(weight, original, flags.originalTensor)
    if (!source) return []
    checkSizes(weight, source, original.path)
    const { name, convention } = weight
    return [{ name, convention, original: source, converted: weightSource(weight) }]
  })
  if (pairs.length === 0) {
    const wanted = flags.originalTensor ?? weights[0]?.name
    throw new UserError(
      'usage',
      wanted === undefined
        ? `${quantised.path} has no block-scaled weights.`
        : `${original.path} has no matrix "${wanted}" or "${wanted}${floatSuffix}" to compare with.`
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-compare-'))
  const losses = await followWeights(
    (work) => compareWeights(pairs, original, quantised, work, join(folder, 'rows')),
    'Stopped before all weights were compared.'
  ).finally(() => rmSync(folder, { recursive: true, force: true }))
  const missing = weights.length - pairs.length
  if (losses.some(isDamaged)) process.exitCode = exitCodeOf.failed
  const rows = pairs.map(({ name, convention }, i) => {
    return { name, convention: convention.name, loss: losses[i]! }
  })
  if (flags.json) {
    const json = rows.map(({ loss, ...row }) => ({ ...row, ...lossJson(loss) }))
    return printJson({ weights: json, missing })
  }
  for (const { name, convention, loss } of rows) print(`${name}  ${convention}  ${lossText(loss)}`)
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
    const found = tensor && floatMatrix(tensor, name, convention.scaleBlockSize)
    if (found) return found
  }
  const weights = findBlockScaledWeights(original, original.path)
  const same = weights.find((weight) => names.includes(weight.name))
  return same && weightSource(same)
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
