import { Option, type Command } from 'commander'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { exportForms, type ExportForm, type Output } from '@shared/contract/methods'
import type { Run } from '@shared/contract/run'
import { exitCodeOf, UserError } from '@shared/errors'
import { adviceOn } from '@shared/measurement/advice'
import { compareRuns, comparisonDoubts } from '@shared/measurement/compareRuns'
import { compareValidations, type ComparedValidation } from '@shared/measurement/compareValidations'
import { outcomeOf, verdictWords } from '@shared/measurement/outcome'
import { pointText } from '@shared/measurement/problemText'
import { shortName } from '@shared/profile/ask/shortName'
import { columnsOf, figure } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import { exportRun } from '../jobs/exportRun'
import { writeOutput } from '../ground/files'
import { print, printJson, printNote, writeData } from '../ground/terminal'
import { stringifyRun } from '../store/runFile'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { followJob } from './followJob'
import { localApplication } from './localApplication'
import { addChoices } from './runsChoices'
import { addHistory } from './runsHistory'
import { addImport } from './runsImport'
import { printSweep } from './sweep'
import {
  exitCodeOfRun,
  printModelTimes,
  printStepLines,
  printValidation,
  verdictLine
} from './validationReport'

interface Flags {
  store?: string
  json?: boolean
}

export function register(program: Command): void {
  const runs = program
    .command('runs')
    .description(
      'Runs: list, show, compare, history, choices, cancel, resume, export, import, remove, restore.'
    )
    .addHelpText(
      'after',
      '\nAn id may be cut short where that leaves one run; "latest" is the newest. What only reads takes a folder with a run.json, too.'
    )
  const command = (name: string, description: string) =>
    runs
      .command(name)
      .description(description)
      .option('--store <folder>', 'folder of runs')
      .option('--json', 'print as JSON')

  command('list', 'all runs, newest first').action(list)
  command('show <run>', 'one run')
    .option('--advice', 'also what each measured point says about its limits')
    .action(show)
  command(
    'compare <baseline> <tested>',
    'each point against a baseline run: times of sweeps, errors of validations'
  )
    .option('--fail-on-slow', 'exit 1 when any point is SLOW, or none could be compared')
    .action(compare)
  addHistory(command('history', 'the rate of one point over the runs that measured it'), open)
  addChoices(
    command('choices <run>', 'what auto chose, beside every other kernel that a sweep timed there'),
    open
  )
  command('cancel <id>', 'end a run that is being made, in whatever process it is').action(cancel)
  command('resume <id>', 'finish a run that was cancelled or cut off, as a new run')
    .option('--kernel-dir <folder...>', 'as when the run was started')
    .action(resume)
  command('rm <id...>', 'move runs to the trash').action(remove)
  command('restore <id>', 'bring a run back from the trash').action(restore)
  command('export <run>', 'write a run as one file')
    .addOption(new Option('--as <form>', 'what to write').choices(exportForms).default('json'))
    .option('--output <file>', 'where to, or - for stdout (default: a name made from the id)')
    .option('--force', 'replace the file if it is there')
    .action(exportOne)
  addImport(
    command(
      'import <path>',
      "add a run from a run's folder, a .blockscope-run, run.json or nvbench's JSON, gzipped or not"
    ),
    open
  )
}

const open = (flags: Flags) =>
  new RunStore(flags.store === undefined ? defaultStoreFolder() : resolve(flags.store))

async function list(flags: Flags): Promise<void> {
  const runs = await open(flags).list()
  if (flags.json) return printJson(runs)
  if (runs.length === 0) return print('No runs yet. "blockscope validate" makes one.')
  const rows = runs.map(listCells)
  const widths = [0, 1, 2, 3].map((at) =>
    Math.max(
      0,
      ...rows.filter((cells) => at === 0 || cells.length > 2).map((cells) => cells[at]!.length)
    )
  )
  print(
    rows.map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()
    )
  )
}

/** A run that cannot be read has its problem where the others have their columns. */
function listCells(run: Output<'runs.list'>[number]): string[] {
  if (run.problem) return [run.id, `unreadable: ${run.problem}`]
  const { verdict, sentence } = run.outcome
  return [run.id, verdictWords[verdict], sentence, run.device, run.label]
}

async function show(words: string, flags: Flags & { advice?: boolean }): Promise<void> {
  const { run } = await open(flags).locate(words)
  if (flags.json) return printJson(stringifyRun(run, 2))
  print(run.id)
  print(verdictLine(run))
  print([
    `${run.device?.name ?? ''}  ${run.createdAt}`,
    run.command,
    ...(run.operandsRead ?? []),
    ''
  ])
  const columns = columnsOf(run)
  const widths = columnWidths(columns, run.steps)
  print([undefined, ...run.steps].map((step) => tableLine(columns, step, widths)))
  printStepLines(run)
  printModelTimes(run)
  for (const event of run.events) print(`${event.at}  ${event.message}`)
  if (flags.advice) print(adviceLines(run))
}

function adviceLines(run: Run): string[] {
  const lines = run.steps.flatMap((step) =>
    adviceOn(step, run.device, shortName).map(({ text }) => `${pointText(step)}: ${text}`)
  )
  return ['', ...(lines.length > 0 ? lines : ['No point stands out.'])]
}

async function compare(
  baselineWords: string,
  testedWords: string,
  flags: Flags & { failOnSlow?: boolean }
): Promise<void> {
  const store = open(flags)
  const { run: baseline } = await store.locate(baselineWords)
  const { run: tested } = await store.locate(testedWords)
  if (baseline.kind === 'validate' && tested.kind === 'validate')
    return printComparedValidations(compareValidations(baseline, tested), flags)
  const rows = compareRuns(baseline, tested)
  printNote(comparisonDoubts(baseline, tested))
  if (flags.json) printJson(rows)
  else if (rows.length === 0) print('The two runs have no measured point in common.')
  else {
    for (const row of rows) {
      const { verdict, ratio, reason } = row
      print(`${verdict.toUpperCase().padEnd(10)}${ratio.toFixed(4)}x  ${pointText(row)}  ${reason}`)
    }
  }
  if (!flags.failOnSlow) return
  const isSlow = rows.some((row) => row.verdict === 'slow')
  // A gate that compared nothing has let nothing through.
  if (rows.length === 0) printNote('Nothing was compared: --fail-on-slow fails.')
  if (isSlow || rows.length === 0) process.exitCode = exitCodeOf.failed
}

function printComparedValidations(
  cells: readonly ComparedValidation[],
  flags: Flags & { failOnSlow?: boolean }
): void {
  if (flags.failOnSlow)
    throw new UserError('usage', '--fail-on-slow is about time; these are two validations.')
  if (flags.json) printJson(cells.map(({ baseline: _a, tested: _b, ...cell }) => cell))
  else if (cells.length === 0) print('The two validations judged no cell in common.')
  else
    print(
      cells.map((cell) =>
        [
          cell.change.padEnd(12),
          pointText(cell),
          `error / tolerance ${figure(cell.baselineShare)} -> ${figure(cell.testedShare)}`
        ].join('  ')
      )
    )
  if (cells.some(({ change }) => change === 'now fails')) process.exitCode = exitCodeOf.failed
}

/** A writer that looks for the wish at every beat, and ends what it does, takes no longer than this. */
const cancelMs = 20_000

async function cancel(words: string, flags: Flags): Promise<void> {
  const store = open(flags)
  const id = await store.find(words)
  const how = await store.cancel(id)
  const end = performance.now() + cancelMs
  let run = await store.read(id)
  while (how === 'asked' && ['queued', 'running'].includes(run.status)) {
    if (performance.now() > end) {
      const words = `Run ${id} was asked to end and has not done so in ${cancelMs / 1000} s; it may be in a long step.`
      throw new UserError('failed', words)
    }
    await setTimeout(200)
    run = await store.read(id)
  }
  if (flags.json) return printJson({ id, status: run.status, steps: run.steps.length })
  print(`${id} is ${run.status}; ${outcomeOf(run).sentence}.`)
}

/** Finishes a run as a new one, prints it and leaves the exit code. */
export async function resume(
  words: string,
  flags: Flags & { kernelDir?: string[] }
): Promise<void> {
  const application = localApplication(flags)
  try {
    const id = await application.store.find(words)
    const { spec } = await application.store.read(id)
    const quiet = Boolean(flags.json)
    const { run, folder } = await followJob(application, { ...spec, resumes: id }, { quiet })
    if (quiet) printJson(stringifyRun(run, 2))
    else (run.kind === 'sweep' ? printSweep : printValidation)(run, folder)
    process.exitCode = exitCodeOfRun(run)
  } finally {
    await application.close()
  }
}

async function remove(ids: string[], flags: Flags): Promise<void> {
  const store = open(flags)
  // All are looked for before the first is moved.
  const found = await Promise.all(ids.map((id) => store.find(id)))
  for (const id of new Set(found)) {
    await store.remove(id)
    if (!flags.json) print(`${id} is in the trash. "blockscope runs restore ${id}" brings it back.`)
  }
  if (flags.json) printJson({ removed: [...new Set(found)] })
}

async function restore(id: string, flags: Flags): Promise<void> {
  await open(flags).restore(id)
  if (flags.json) printJson({ restored: id })
  else print(`${id} is back.`)
}

async function exportOne(
  words: string,
  flags: Flags & { as: ExportForm; output?: string; force?: boolean }
): Promise<void> {
  const located = await open(flags).locate(words)
  const { id } = located.run
  const exported = await exportRun(located, flags.as)
  if (flags.output === '-') {
    if (flags.json || flags.force)
      throw new UserError('usage', '--json and --force are of a file; --output is standard output.')
    return writeData(exported.bytes)
  }
  const file = flags.output ?? exported.name
  const bytes = await writeOutput(file, [exported.bytes], flags)
  if (flags.json) printJson({ id, as: flags.as, output: file, bytes })
  else print(file)
}
