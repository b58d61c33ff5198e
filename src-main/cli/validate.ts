import { Option, type Command } from 'commander'
import { extname, resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { passRules, validateSpecSchema, type PassRule } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { UserError, exitCodeOf } from '@shared/errors'
import { outcomeOf, verdictWords } from '@shared/measurement/outcome'
import { ruleOf } from '@shared/measurement/validationFigures'
import { runToJunit } from '@shared/report/junit'
import { htmlReport } from '../jobs/exportRun'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson } from '../ground/terminal'
import { stringifyRun } from '../store/runFile'
import { nonNegative, parseSpec, positiveInteger } from './arguments'
import { followJob } from './followJob'
import { addJobFlags, type JobFlags } from './jobFlags'
import { localApplication } from './localApplication'
import { printRunTree } from './printRunTree'

interface Flags extends JobFlags {
  K?: number
  atol: number
  rtol: number
  rule: PassRule
  operands?: string
  report?: string
  force?: boolean
}

export function register(program: Command): void {
  addJobFlags(
    program
      .command('validate')
      .description('Check kernels against a float64 reference, format by format.')
  )
    .option('-K <depth>', 'columns of A and B', positiveInteger)
    .option('--operands <file>', 'operands (and reference) from a .safetensors file')
    .option('--atol <value>', 'absolute tolerance', nonNegative, defaults.atol)
    .option('--rtol <value>', 'relative tolerance', nonNegative, defaults.rtol)
    .addOption(
      new Option(
        '--rule <name>',
        'what passes: within the tolerance or an allowance for rounding and cancellation, or the tolerance alone'
      )
        .choices(passRules)
        .default(defaults.rule)
    )
    .option('--report <file>', 'also write a report: .html, .json or, for CI, .xml (JUnit)')
    .option('--force', 'replace the report if it is there')
    .addHelpText(
      'after',
      '\nExit code: 0 all passed, 1 some failed, 2 wrong usage, 3 no such device.'
    )
    .action(validate)
}

/** By the ending of the file's name. */
const reports: Record<string, (run: Run) => string | Promise<string>> = {
  '.html': htmlReport,
  '.json': (run) => `${stringifyRun(run, 2)}\n`,
  '.xml': runToJunit
}

async function validate(flags: Flags): Promise<void> {
  const reportType = flags.report ? extname(flags.report) : '.html'
  if (!(reportType in reports)) {
    const known = Object.keys(reports).join(', ')
    throw new UserError('usage', `--report ${flags.report}: the name must end in one of ${known}.`)
  }
  if (flags.report) checkOutput(flags.report, flags)
  const spec = parseSpec(validateSpecSchema, {
    kind: 'validate',
    device: flags.device,
    formats: flags.formats,
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
    operandsFile: flags.operands && resolve(flags.operands)
  })
  const application = localApplication(flags)
  try {
    const { run, folder } = await followJob(application, spec, { quiet: Boolean(flags.json) })
    if (flags.report) await writeOutput(flags.report, [await reports[reportType]!(run)], flags)
    if (flags.json) printJson(stringifyRun(run, 2))
    else {
      printValidation(run, folder)
      if (flags.report) print(`Report: ${flags.report}`)
    }
    process.exitCode = exitCodeOfRun(run)
  } finally {
    await application.close()
  }
}

export function printValidation(run: Run, folder: string): void {
  printRunTree(run)
  const judged = run.steps.find((step) => step.validation)?.validation
  print(['', verdictLine(run), ...(judged ? [ruleOf(judged)] : []), `Run folder: ${folder}`])
}

/** The verdict with what was planned, and why it ended early. */
export function verdictLine(run: Run): string {
  const { verdict, sentence } = outcomeOf(run)
  const device = run.device ? `, on ${run.device.name} (${run.device.architecture})` : ''
  const why = run.status === 'done' ? '' : ` ${run.reason}`
  return `${verdictWords[verdict]}: ${sentence}${device}.${why}`
}

/** 0: passed; 3: nothing of it can be run here; 1: anything else, nothing judged among it. */
export function exitCodeOfRun(run: Run): number {
  const { verdict } = outcomeOf(run)
  if (verdict === 'passed' || verdict === 'reference') return 0
  return verdict === 'unsupported' ? exitCodeOf.unavailable : exitCodeOf.failed
}
