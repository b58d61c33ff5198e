import type { Command } from 'commander'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { validateSpecSchema } from '@shared/contract/jobs'
import { parseSpec, positiveInteger } from './arguments'
import { UserError } from '@shared/errors'
import { addGroupFlags, groupsOf, type GroupFlags } from './groupFlags'
import {
  addBenchFlags,
  addJobFlags,
  operationFlags,
  type BenchFlags,
  type JobFlags
} from './jobFlags'
import { addOperandFlags, operandFiles, operandsAs, type OperandFlags } from './operandFlags'
import { addShapeFlags, shapesOf, type ShapeFlags } from './shapes'
import { sweep } from './sweep'
import {
  addValidationFlags,
  checkReport,
  runValidation,
  type ValidationFlags
} from './validationReport'

interface Flags
  extends
    JobFlags,
    GroupFlags,
    BenchFlags,
    ShapeFlags,
    Omit<ValidationFlags, keyof JobFlags>,
    OperandFlags {
  M?: number
  N?: number
  K?: number
  bench?: boolean
  operands?: string[]
}

export function register(program: Command): void {
  addValidationFlags(
    addOperandFlags(
      addBenchFlags(
        addShapeFlags(
          addGroupFlags(
            addJobFlags(
              program
                .command('validate')
                .description('Check kernels against a float64 reference, format by format.')
            )
          )
        )
          .option('-M <rows>', 'rows of A and C', positiveInteger)
          .option('-N <columns>', 'rows of B, columns of C', positiveInteger)
          .option('-K <depth>', 'columns of A and B', positiveInteger)
          .option('--bench', 'sweep afterwards: K alone, --K-range, or 512')
          .option('--operands <file...>', `operands (and reference) from files: ${operandFiles}`)
      )
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
    providerFiles: flags.provider,
    seed: flags.seed,
    distribution: flags.dist,
    output: flags.out ?? (flags.operands ? defaults.outputOfFiles : defaults.output),
    m: flags.M,
    n: flags.N,
    k: flags.K,
    shapes: await shapesOf(flags),
    atol: flags.atol,
    rtol: flags.rtol,
    rule: flags.rule,
    operandsFiles: flags.operands?.map((path) => resolve(path)),
    operandsAs: flags.operands && operandsAs({ ...flags, format: formatOfFile(flags) }),
    ...operationFlags(flags),
    groups: groupsOf(flags)
  })
  await runValidation(spec, flags)
  if (!flags.bench) return
  const { exitCode } = process
  const { M, N, K, ...asked } = flags
  const alone = (value: number | undefined) => (value === undefined ? undefined : [value])
  await sweep({ ...asked, M: alone(M), N: alone(N), K: alone(K) })
  process.exitCode = exitCode || process.exitCode
}

/** With operands from a file, --format says the one format that they are in. */
function formatOfFile({ operands, formats = [] }: Flags): string | undefined {
  if (operands === undefined || formats.length < 2) return formats[0]
  throw new UserError(
    'usage',
    `--operands ${operands.join(' ')} is in one format; --formats names ${formats.length}.`
  )
}
