import type { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { validateSpecSchema, type Disposition } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { UserError, exitCodeOf } from '@shared/errors'
import { runToHtml } from '@shared/report/html'
import { runToJunit } from '@shared/report/junit'
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
  operands?: string
  report?: string
}

export function register(program: Command): void {
  addJobFlags(
    program
      .command('validate')
      .description('Check kernels against a float64 reference, format by format.')
  )
    .option('-K <depth>', 'columns of A and B', positiveInteger)
    .option('--operands <file>', 'operands (and reference) from a .safetensors file')
    .option('--atol <value>', 'absolute tolerance', nonNegative, 1e-3)
    .option('--rtol <value>', 'relative tolerance', nonNegative, 1e-3)
    .option('--report <file>', 'also write a report: .html, .json or, for CI, .xml (JUnit)')
    .addHelpText(
      'after',
      '\nExit code: 0 all passed, 1 some failed, 2 wrong usage, 3 no such device.'
    )
    .action(validate)
}

/** By the ending of the file's name. */
const reports: Record<string, (run: Run) => string> = {
  '.html': runToHtml,
  '.json': (run) => `${stringifyRun(run, 2)}\n`,
  '.xml': runToJunit
}

async function validate(flags: Flags): Promise<void> {
  const reportType = flags.report ? extname(flags.report) : '.html'
  if (!(reportType in reports)) {
    const known = Object.keys(reports).join(', ')
    throw new UserError('usage', `--report ${flags.report}: the name must end in one of ${known}.`)
  }
  const spec = parseSpec(validateSpecSchema, {
    kind: 'validate',
    device: flags.device,
    formats: flags.formats,
    kernels: flags.kernels ?? [],
    seed: flags.seed,
    distribution: flags.dist,
    // Whose operands are given may have any range; float16 would overflow on many.
    output: flags.out ?? (flags.operands ? 'f32' : 'f16'),
    m: flags.M,
    n: flags.N,
    k: flags.K,
    atol: flags.atol,
    rtol: flags.rtol,
    operandsFile: flags.operands && resolve(flags.operands)
  })
  const application = localApplication(flags)
  try {
    const { run, folder } = await followJob(application, spec, { quiet: Boolean(flags.json) })
    if (flags.report) await writeReport(flags.report, reports[reportType]!(run))
    if (flags.json) process.stdout.write(stringifyRun(run, 2) + '\n')
    else {
      await printValidation(run, folder)
      if (flags.report) process.stdout.write(`Report: ${flags.report}\n`)
    }
    process.exitCode = exitCodeOfRun(run)
  } finally {
    await application.close()
  }
}

export async function printValidation(run: Run, folder: string): Promise<void> {
  await printRunTree(folder)
  process.stdout.write(`\n${verdictLine(run)}\nRun folder: ${folder}\n`)
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new UserError('usage', `--report ${file} cannot be written.`, { cause: error })
  }
}

function verdictLine(run: Run): string {
  const formats = new Set(run.steps.map((step) => step.format))
  const passed = run.steps.filter((step) => step.disposition === 'passed').length
  const device = run.device ? `${run.device.name} (${run.device.architecture})` : ''
  const status = run.status === 'done' ? '' : ` ${run.reason}`
  return `${passed} of ${run.steps.length} steps passed, ${formats.size} formats, on ${device}.${status}`
}

/** 0: all passed; 1: any failed; 3: nothing could be run here. */
export function exitCodeOfRun(run: Run): number {
  if (run.status !== 'done') return exitCodeOf.failed
  const outcomes = run.steps.map((step) => step.disposition)
  const fine: Disposition[] = ['passed', 'baseline', 'not-supported']
  if (outcomes.some((outcome) => !fine.includes(outcome))) return exitCodeOf.failed
  return outcomes.some((outcome) => outcome !== 'not-supported') ? 0 : exitCodeOf.unavailable
}
