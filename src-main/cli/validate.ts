import type { Command } from 'commander'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { validateSpecSchema } from '@shared/contract/jobs'
import { parseSpec, positiveInteger } from './arguments'
import { UserError } from '@shared/errors'
import { addJobFlags, operationFlags, type JobFlags } from './jobFlags'
import { addOperandFlags, operandFiles, operandsAs, type OperandFlags } from './operandFlags'
import {
  addValidationFlags,
  checkReport,
  runValidation,
  type ValidationFlags
} from './validationReport'

interface Flags extends JobFlags, Omit<ValidationFlags, keyof JobFlags>, OperandFlags {
  K?: number
  operands?: string
}

export function register(program: Command): void {
  addValidationFlags(
    addOperandFlags(
      addJobFlags(
        program
          .command('validate')
          .description('Check kernels against a float64 reference, format by format.')
      )
        .option('-K <depth>', 'columns of A and B', positiveInteger)
        .option('--operands <file>', `operands (and reference) from a file: ${operandFiles}`)
    )
  )
    .addHelpText(
      'after',
      '\nExit code: 0 all passed, 1 some failed, 2 wrong usage, 3 no such device.'
    )
    .action(validate)
}

async function validate(flags: Flags): Promise<void> {
  checkReport(flags)
  const spec = parseSpec(validateSpecSchema, {
    kind: 'validate',
    device: flags.device,
    formats: flags.formats ?? [...defaults.formats],
    kernels: flags.kernels ?? [],
    providers: flags.providers ?? [],
    seed: flags.seed,
    distribution: flags.dist,
    output: flags.out ?? (flags.operands ? defaults.outputOfFiles : defaults.output),
    m: flags.M,
    n: flags.N,
    k: flags.K,
    atol: flags.atol,
    rtol: flags.rtol,
    rule: flags.rule,
    operandsFile: flags.operands && resolve(flags.operands),
    operandsAs: flags.operands && operandsAs({ ...flags, format: formatOfFile(flags) }),
    ...operationFlags(flags)
  })
  await runValidation(spec, flags)
}

/** With operands from a file, --format says the one format that they are in. */
function formatOfFile({ operands, formats = [] }: Flags): string | undefined {
  if (operands === undefined || formats.length < 2) return formats[0]
  throw new UserError(
    'usage',
    `--operands ${operands} is in one format; --formats names ${formats.length}.`
  )
}
