import { Option, type Command } from 'commander'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { outputTypes, validateSpecSchema, type OutputType } from '@shared/contract/jobs'
import { parseSpec, positiveNumber } from './arguments'
import { bOrderOption } from './jobFlags'
import { addOperandFlags, operandFiles, operandsAs, type OperandFlags } from './operandFlags'
import {
  addValidationFlags,
  checkReport,
  runValidation,
  type ValidationFlags
} from './validationReport'

interface Flags extends ValidationFlags, OperandFlags {
  operands: string[]
  result: string
  out?: OutputType
  outScale: number
  device: string
}

export function register(program: Command): void {
  addValidationFlags(
    addOperandFlags(
      program
        .command('judge')
        .description(
          'Check a product that another program made, and name the mistake that gives it.'
        )
        .requiredOption('--operands <file...>', `its operands: ${operandFiles}`)
        .requiredOption('--result <file>', 'C: .npy, .npz, .safetensors or .pt')
        .option('--format <name>', 'format of the operands, where their file does not say it')
        .addOption(bOrderOption())
    )
      .addOption(
        new Option(
          '--out <type>',
          'judge C as this type (default: the type it is kept in)'
        ).choices(outputTypes)
      )
      .option('--out-scale <factor>', 'what C of e4m3 or e5m2 was multiplied by', positiveNumber, 1)
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
    operandsFiles: flags.operands.map((path) => resolve(path)),
    operandsAs: operandsAs(flags),
    outputScale: flags.outScale,
    resultFile: resolve(flags.result),
    resultType: flags.out
  })
  await runValidation(spec, flags)
}
