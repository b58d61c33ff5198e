import { Option, type Command } from 'commander'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { outputTypes, validateSpecSchema, type OutputType } from '@shared/contract/jobs'
import { parseSpec } from './arguments'
import {
  addValidationFlags,
  checkReport,
  runValidation,
  type ValidationFlags
} from './validationReport'

interface Flags extends ValidationFlags {
  operands: string
  result: string
  out?: OutputType
  device: string
}

export function register(program: Command): void {
  addValidationFlags(
    program
      .command('judge')
      .description('Check a product that another program made, and name the mistake that gives it.')
      .requiredOption('--operands <file>', 'its operands: a .safetensors file')
      .requiredOption('--result <file>', 'C: .npy, .npz or .safetensors')
      .addOption(
        new Option(
          '--out <type>',
          'judge C as this type (default: the type it is kept in)'
        ).choices(outputTypes)
      )
      .option('--device <id>', 'where the reference is computed', defaults.device)
  )
    .option('--store <folder>', 'folder of runs (default: $BLOCKSCOPE_STORE or the data folder)')
    .option('--json', 'print the run as JSON instead of a table')
    .addHelpText('after', '\nExit code: 0 right, 1 wrong, 2 wrong usage, 3 no such device.')
    .action(judge)
}

async function judge(flags: Flags): Promise<void> {
  checkReport(flags)
  const spec = parseSpec(validateSpecSchema, {
    kind: 'validate',
    device: flags.device,
    // The file of operands brings its own.
    formats: [...defaults.formats],
    atol: flags.atol,
    rtol: flags.rtol,
    rule: flags.rule,
    operandsFile: resolve(flags.operands),
    resultFile: resolve(flags.result),
    resultType: flags.out
  })
  await runValidation(spec, flags)
}
