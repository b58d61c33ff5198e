import type { Command } from 'commander'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { exportForms, type Output } from '@shared/contract/methods'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { adviceOn } from '@shared/measurement/advice'
import { compareRuns } from '@shared/measurement/compareRuns'
import { columnsOf } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import { exportRun } from '../jobs/exportRun'
import { importRun } from '../store/importRun'
import { stringifyRun } from '../store/runFile'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { followJob } from './followJob'
import { localApplication } from './localApplication'
import { printSweep } from './sweep'
import { exitCodeOfRun, printValidation } from './validate'

interface Flags {
  store?: string
  json?: boolean
}

export function register(program: Command): void {
  const runs = program
    .command('runs')
    .description('Earlier runs: list, show, compare, resume, export, remove.')
  const command = (name: string, description: string) =>
    runs
      .command(name)
      .description(description)
      .option('--store <folder>', 'folder of runs')
      .option('--json', 'print as JSON')

  command('list', 'all runs, newest first').action(list)
  command('show <id>', 'one run')
    .option('--advice', 'also what each measured point says about its limits')
    .action(show)
  command('compare <baseline> <tested>', 'time of each point against a baseline run')
    .option('--fail-on-slow', 'exit 1 when any point is SLOW')
    .action(compare)
  command('resume <id>', 'finish a run that was cancelled or cut off, as a new run')
    .option('--kernel-dir <folder...>', 'as when the run was started')
    .action(resume)
  command('rm <id...>', 'move runs to the trash').action(remove)
  command('restore <id>', 'bring a run back from the trash').action(restore)
  command('export <id>', 'write a run as one file')
    .option('--as <form>', exportForms.join(', '), 'json')
    .option('--output <file>', 'where to, or - for stdout (default: a name made from the id)')
    .action(exportOne)
  command('import <file>', 'add a run from a .blockscope-run or run.json').action(importOne)
}

const open = (flags: Flags) => new RunStore(flags.store ?? defaultStoreFolder())

async function list(flags: Flags): Promise<void> {
  const runs = await open(flags).list()
  if (flags.json) return print(JSON.stringify(runs, null, 2))
  if (runs.length === 0) return print('No runs yet. "blockscope validate" makes one.')
  for (const run of runs) print(listLine(run))
}

function listLine(run: Output<'runs.list'>[number]): string {
  if (run.problem) return `${run.id}  unreadable: ${run.problem}`
  const outcome = `${run.passed} of ${run.steps} passed`
  return [run.id, run.status.padEnd(11), outcome.padEnd(18), run.device, run.label]
    .join('  ')
    .trimEnd()
}

async function show(id: string, flags: Flags & { advice?: boolean }): Promise<void> {
  const run = await open(flags).read(id)
  if (flags.json) return print(stringifyRun(run, 2))
  print(`${run.id}  ${run.status}  ${run.reason}`.trimEnd())
  print(`${run.device?.name ?? ''}  ${run.createdAt}\n${run.command}\n`)
  const columns = columnsOf(run)
  const widths = columnWidths(columns, run.steps)
  for (const step of [undefined, ...run.steps]) print(tableLine(columns, step, widths))
  for (const event of run.events) print(`${event.at}  ${event.message}`)
  if (flags.advice) adviceLines(run).forEach(print)
}

function adviceLines(run: Run): string[] {
  const lines = run.steps.flatMap((step) =>
    adviceOn(step, run.device).map(
      ({ text }) => `${step.format} ${step.kernel} K=${step.k}: ${text}`
    )
  )
  return ['', ...(lines.length > 0 ? lines : ['No point stands out.'])]
}

async function compare(
  baselineId: string,
  testedId: string,
  flags: Flags & { failOnSlow?: boolean }
): Promise<void> {
  const store = open(flags)
  const [baseline, tested]: Run[] = [await store.read(baselineId), await store.read(testedId)]
  const rows = compareRuns(baseline!, tested!)
  if (flags.json) print(JSON.stringify(rows, null, 2))
  else if (rows.length === 0) print('The two runs have no measured point in common.')
  else {
    for (const row of rows) {
      const point = `${row.format} ${row.kernel} M=${row.m} N=${row.n} K=${row.k}`
      print(
        `${row.verdict.toUpperCase().padEnd(10)}${row.ratio.toFixed(4)}x  ${point}  ${row.reason}`
      )
    }
  }
  if (flags.failOnSlow && rows.some((row) => row.verdict === 'slow')) process.exitCode = 1
}

async function resume(id: string, flags: Flags & { kernelDir?: string[] }): Promise<void> {
  const application = localApplication(flags)
  try {
    const { spec } = await application.store.read(id)
    const quiet = Boolean(flags.json)
    const { run, folder } = await followJob(application, { ...spec, resumes: id }, { quiet })
    if (quiet) print(stringifyRun(run, 2))
    else await (run.kind === 'sweep' ? printSweep : printValidation)(run, folder)
    process.exitCode = exitCodeOfRun(run)
  } finally {
    await application.close()
  }
}

async function remove(ids: string[], flags: Flags): Promise<void> {
  const store = open(flags)
  for (const id of ids) {
    await store.remove(id)
    print(`${id} is in the trash. "blockscope runs restore ${id}" brings it back.`)
  }
}

async function restore(id: string, flags: Flags): Promise<void> {
  await open(flags).restore(id)
  print(`${id} is back.`)
}

async function exportOne(
  id: string,
  flags: Flags & { as: string; output?: string }
): Promise<void> {
  const form = exportForms.find((known) => known === flags.as)
  if (!form) {
    throw new UserError('usage', `--as ${flags.as}: choose one of ${exportForms.join(', ')}.`)
  }
  const exported = await exportRun(open(flags), id, form)
  if (flags.output === '-') {
    process.stdout.write(exported.bytes)
    return
  }
  const file = flags.output ?? exported.name
  try {
    await writeFile(file, exported.bytes)
  } catch (error) {
    throw new UserError('usage', `${file} cannot be written.`, { cause: error })
  }
  print(file)
}

async function importOne(file: string, flags: Flags): Promise<void> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new UserError('usage', `${file} cannot be read.`, { cause: error })
  }
  const summary = await importRun(open(flags), basename(file), bytes)
  print(`Imported as ${summary.id}.`)
}

function print(line: string): void {
  process.stdout.write(line + '\n')
}
