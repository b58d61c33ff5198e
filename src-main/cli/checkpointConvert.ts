import { Option, type Command } from 'commander'
import { findConvention } from '@shared/checkpoints/conventions'
import { isDamaged, lossJson, lossText } from '@shared/checkpoints/loss'
import { exitCodeOf } from '@shared/errors'
import { scaleRules, type ScaleRule } from '@shared/formats/quantize'
import { findLayout } from '@shared/layouts/registry'
import { checkOutput } from '../ground/files'
import { print, printJson, printNote } from '../ground/terminal'
import { convertCheckpoint, type Conversion } from '../jobs/weights/convertCheckpoint'
import { withCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { wordList } from './arguments'
import { namedOf, withNamedTensors, type NamedFlags } from './checkpointWeights'
import { followWeights } from './followWeights'

interface ConvertFlags extends NamedFlags {
  to?: string
  scaleLayout?: string
  requantise?: boolean
  rule: ScaleRule
  keep: string[]
  onlyConverted?: boolean
  out: string
  force?: boolean
  allowNonFinite?: boolean
  json?: boolean
}

export function registerConvert(checkpoint: Command): void {
  withNamedTensors(checkpoint.command('convert <file>'))
    .description('the weights in another convention, scale layout or format, as a new file')
    .option('--to <convention>', 'convention; left out: each weight keeps its own')
    .option('--scale-layout <name>', 'layout of the scales; left out: as the convention has them')
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
    .option('--force', 'replace the file if it is there')
    .option('--allow-non-finite', 'end well even if a weight holds NaN or infinities')
    .option('--json', 'print as JSON')
    .addHelpText(
      'after',
      '\nA command that was stopped or killed goes on where it was when it is given again.' +
        '\nExit code: 0 done, 1 done, but NaN or infinities made blocks NaN, 2 wrong usage, 130 stopped.'
    )
    .action((file: string, flags: ConvertFlags) =>
      withCheckpoint(file, (open) => convert(open, flags))
    )
}

async function convert(checkpoint: Checkpoint, flags: ConvertFlags): Promise<void> {
  const { out, rule, keep } = flags
  const layout = flags.scaleLayout === undefined ? undefined : findLayout(flags.scaleLayout)
  const to = flags.to === undefined ? undefined : findConvention(flags.to)
  // Before an engine is started.
  checkOutput(out, flags)
  const request = {
    ...(to ? { to } : {}),
    ...(layout ? { layout } : {}),
    named: namedOf(checkpoint, flags),
    requantise: flags.requantise === true,
    rule,
    keep,
    onlyConverted: flags.onlyConverted === true,
    out,
    force: flags.force === true
  }
  const done = await followWeights(
    (work) => convertCheckpoint(checkpoint, request, work),
    `What is done is kept in ${out}.partial; the same command goes on from there.`
  )
  report(flags, done)
  const damaged = done.weights.filter(({ loss }) => isDamaged(loss))
  if (damaged.length === 0 || flags.allowNonFinite) return
  printNote(
    `blockscope: ${out} is whole, but ${damaged.length} of ${done.weights.length} weights hold NaN or infinities, whose blocks became NaN. --allow-non-finite takes that as a success.`
  )
  process.exitCode = exitCodeOf.failed
}

function report(
  { out, json }: ConvertFlags,
  { weights, copied, bytes, resumedAt }: Conversion
): void {
  if (json) {
    const shown = weights.map(({ name, from, to, loss }) => ({ name, from, to, ...lossJson(loss) }))
    return printJson({ out, weights: shown, copied, bytes, resumedAt })
  }
  print(weights.map(({ name, from, to, loss }) => `${name}  ${from} to ${to}  ${lossText(loss)}`))
  if (resumedAt > 0) print(`${Math.floor(resumedAt * 100)} % of the work was done before`)
  print(`${out}: ${weights.length} weights, ${bytes} bytes; ${copied} other tensors copied`)
}
