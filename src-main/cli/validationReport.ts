/** What validate and judge have in common: the rule of passing, the report, and how a validation is told at its end. */
import { Option, type Command } from 'commander'
import { extname } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { passRules, type PassRule, type ValidateSpec } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { UserError, exitCodeOf } from '@shared/errors'
import { modelTimesOf, modelTimeText } from '@shared/measurement/modelTime'
import { outcomeOf, verdictWords } from '@shared/measurement/outcome'
import { mistakesOf, ruleOf } from '@shared/measurement/validationFigures'
import { stepLines } from '@shared/report/stepLines'
import { runToJunit } from '@shared/report/junit'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson } from '../ground/terminal'
import { htmlReport } from '../jobs/exportRun'
import { stringifyRun } from '../store/runFile'
import { nonNegative } from './arguments'
import { followJob } from './followJob'
import { localApplication } from './localApplication'
import { printRunTree } from './printRunTree'
import { printTimings, timingsWords } from './timings'

export interface ValidationFlags {
  atol: number
  rtol: number
  rule: PassRule
  report?: string
  force?: boolean
  store?: string
  json?: boolean
  timings?: boolean
}

export function addValidationFlags(command: Command): Command {
  return command
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
    .option('--timings', timingsWords)
}

/** By the ending of the file's name. */
const reports: Record<string, (run: Run) => string | Promise<string>> = {
  '.html': htmlReport,
  '.json': (run) => `${stringifyRun(run, 2)}\n`,
  '.xml': runToJunit
}

/** Before anything is done: whether the report can be written. */
export function checkReport(flags: ValidationFlags): void {
  if (flags.report === undefined) return
  if (!(extname(flags.report) in reports)) {
    const known = Object.keys(reports).join(', ')
    throw new UserError('usage', `--report ${flags.report}: the name must end in one of ${known}.`)
  }
  checkOutput(flags.report, flags)
}

/** Runs the job here, prints what came of it, writes the report and sets the exit code. */
export async function runValidation(
  spec: ValidateSpec,
  flags: ValidationFlags & Parameters<typeof localApplication>[0]
): Promise<void> {
  const application = localApplication(flags)
  try {
    const { run, folder } = await followJob(application, spec, { quiet: Boolean(flags.json) })
    const { report } = flags
    if (report) await writeOutput(report, [await reports[extname(report)]!(run)], flags)
    if (flags.json) printJson(stringifyRun(run, 2))
    else {
      printValidation(run, folder)
      if (report) print(`Report: ${report}`)
    }
    printTimings(application, flags)
    process.exitCode = exitCodeOfRun(run)
  } finally {
    await application.close()
  }
}

export function printValidation(run: Run, folder: string): void {
  printRunTree(run)
  printStepLines(run)
  const judged = run.steps.find((step) => step.validation)?.validation
  const rule = judged ? [ruleOf(judged)] : []
  print(['', verdictLine(run), ...rule, ...run.steps.flatMap(mistakesOf), `Run folder: ${folder}`])
}

/** What a model's linear layers take; nothing for a run of no model. */
export function printModelTimes(run: Run): void {
  const lines = modelTimesOf(run).map(modelTimeText)
  if (lines.length > 0) print(['', ...lines])
}

/** What `auto` stood for, and why; what kernels counted; what libraries chose. */
export function printStepLines(run: Run): void {
  const lines = stepLines(run).flatMap((told) => told.lines)
  if (lines.length > 0) print(['', ...lines])
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
