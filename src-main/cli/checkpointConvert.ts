import { Option, type Command } from 'commander'
import {
  findBlockScaledWeights,
  findConvention,
  scaleLayoutKey,
  type BlockScaledWeight,
  type Convention
} from '@shared/checkpoints/conventions'
import {
  convertWeight,
  copyTensor,
  sameFormat,
  type ConvertedTensor
} from '@shared/checkpoints/convert'
import {
  conversionError,
  floatSource,
  requantizeWeight,
  weightSource,
  type ConversionError,
  type WeightSource
} from '@shared/checkpoints/requantize'
import { UserError } from '@shared/errors'
import { scaleRules, type ScaleRule } from '@shared/formats/quantize'
import type { ScaleLayout } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { withCheckpoint, writeCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { wordList } from './arguments'
import { lossJson, lossText } from './checkpointWeights'

interface ConvertFlags {
  to?: string
  scaleLayout: string
  requantise?: boolean
  rule: ScaleRule
  keep: string[]
  onlyConverted?: boolean
  out: string
  json?: boolean
}

export function registerConvert(checkpoint: Command): void {
  checkpoint
    .command('convert <file>')
    .description('the weights in another convention, scale layout or format, as a new file')
    .option('--to <convention>', 'convention; left out: each weight keeps its own')
    .option('--scale-layout <name>', 'layout of the scales', 'linear')
    .option('--requantise', 'allow another format; matrices X.weight of real numbers take part')
    .addOption(
      new Option('--rule <name>', 'scale rule of --requantise').choices(scaleRules).default('floor')
    )
    .option('--keep <words>', 'real tensors with such a word in their name stay', wordList, [
      'embed',
      'lm_head',
      'router',
      'norm'
    ])
    .option('--only-converted', 'leave out the tensors that are no converted weights')
    .requiredOption('--out <file>', 'new file')
    .option('--json', 'print as JSON')
    .action((file: string, flags: ConvertFlags) =>
      withCheckpoint(file, (open) => convert(open, flags))
    )
}

/** One weight on its way. */
interface Conversion {
  source: WeightSource
  /** What it was stored as: a convention or a dtype. */
  from: string
  to: Convention
  /** Names of the tensors that it replaces. */
  replaced: string[]
  tensors: ConvertedTensor[]
}

function convert(checkpoint: Checkpoint, flags: ConvertFlags): void {
  const layout = findLayout(flags.scaleLayout)
  const to = flags.to === undefined ? undefined : findConvention(flags.to)
  if (flags.requantise && !to) {
    throw new UserError('usage', '--requantise needs --to, the convention to convert to.')
  }
  const conversions = findBlockScaledWeights(checkpoint, checkpoint.path).map((weight) =>
    conversionOf(weight, to ?? weight.convention, layout, checkpoint, flags)
  )
  if (flags.requantise && to) conversions.push(...floatConversions(to, layout, checkpoint, flags))
  if (conversions.length === 0) {
    const what = flags.requantise ? 'weights' : 'block-scaled weights'
    throw new UserError('usage', `${checkpoint.path} has no ${what} to convert.`)
  }
  const replaced = new Set(conversions.flatMap((one) => one.replaced))
  const others = [...checkpoint.tensors.values()].filter(({ name }) => !replaced.has(name))
  const copied = flags.onlyConverted ? [] : others.map((one) => copyTensor(one, checkpoint.read))
  const tensors = [...conversions.flatMap((one) => one.tensors), ...copied]
  writeCheckpoint(flags.out, tensors, { ...checkpoint.metadata, [scaleLayoutKey]: layout.name })
  report(flags, conversions, copied.length, measure(flags.out, conversions))
}

function conversionOf(
  weight: BlockScaledWeight,
  to: Convention,
  layout: ScaleLayout,
  { read }: Checkpoint,
  flags: ConvertFlags
): Conversion {
  const source = weightSource(weight, read)
  const anew = flags.requantise && !sameFormat(weight.convention, to)
  const parts = [weight.codes, weight.scales, ...(weight.tensorScale ? [weight.tensorScale] : [])]
  return {
    source,
    from: weight.convention.name,
    to,
    replaced: parts.map(({ name }) => name),
    tensors: anew
      ? requantizeWeight(source, to, layout, flags.rule)
      : convertWeight(weight, to, layout, read)
  }
}

function floatConversions(
  to: Convention,
  layout: ScaleLayout,
  { tensors, read }: Checkpoint,
  { keep, rule }: ConvertFlags
): Conversion[] {
  return [...tensors.values()].flatMap((tensor) => {
    if (keep.some((word) => tensor.name.includes(word))) return []
    const source = floatSource(tensor, to.scaleBlockSize, read)
    if (!source) return []
    const converted = requantizeWeight(source, to, layout, rule)
    return [{ source, from: tensor.dtype, to, replaced: [tensor.name], tensors: converted }]
  })
}

/** Reads the new file back and compares every value with the original's. */
function measure(out: string, conversions: readonly Conversion[]): ConversionError[] {
  return withCheckpoint(out, (written) => {
    const weights = new Map(findBlockScaledWeights(written, out).map((one) => [one.name, one]))
    return conversions.map(({ source }) =>
      conversionError(source, weightSource(weights.get(source.name)!, written.read))
    )
  })
}

function report(
  { out, json }: ConvertFlags,
  conversions: readonly Conversion[],
  copied: number,
  errors: readonly ConversionError[]
): void {
  const bytes = conversions
    .flatMap(({ tensors }) => tensors)
    .reduce((sum, { byteLength }) => sum + byteLength, 0)
  const print = (text: string) => process.stdout.write(text + '\n')
  if (json) {
    const weights = conversions.map(({ source, from, to }, i) => {
      return { name: source.name, from, to: to.name, ...lossJson(errors[i]!) }
    })
    return void print(JSON.stringify({ out, weights, copied, bytes }, null, 2))
  }
  conversions.forEach(({ source, from, to }, i) => {
    print(`${source.name}  ${from} to ${to.name}  ${lossText(errors[i]!)}`)
  })
  print(`${out}: ${conversions.length} weights, ${bytes} bytes; ${copied} other tensors copied`)
}
