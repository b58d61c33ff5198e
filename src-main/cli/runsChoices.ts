/** runs choices: how far what `auto` chose is behind the best kernel of a run. */
import type { Command } from 'commander'
import { chooseAgain } from '@shared/choice/chooseAgain'
import type { Step } from '@shared/contract/run'
import { columnLines } from '@shared/columns'
import { exitCodeOf, UserError } from '@shared/errors'
import { judgeAuto, type AutoChoice } from '@shared/measurement/autoChoices'
import { counted } from '@shared/units'
import { print, printJson, printNote } from '../ground/terminal'
import type { RunStore } from '../store/runStore'
import { positiveNumber } from './arguments'
import { deviceOfRun } from './deviceOfRun'

interface Flags {
  atMost: number
  again?: boolean
  kernelDir?: string[]
  store?: string
  json?: boolean
}

/** @param open the store of these flags */
export function addChoices(command: Command, open: (flags: Flags) => RunStore): void {
  command
    .option(
      '--at-most <percent>',
      'how far a choice may be behind the best exact kernel',
      positiveNumber,
      5
    )
    .option(
      '--again',
      'choose again among the kernels that were timed, by their costs as they are known here now'
    )
    .option('--kernel-dir <folder...>', 'with --again: folder with kernels and their manifest.json')
    .addHelpText(
      'after',
      '\n<run>: an id, or a folder. Exit code: 1 where a choice is further behind, or nothing is beside one.'
    )
    .action((words: string, flags: Flags) => choices(words, open(flags), flags))
}

async function choices(words: string, store: RunStore, flags: Flags): Promise<void> {
  if (flags.kernelDir && !flags.again)
    throw new UserError('usage', '--kernel-dir goes with --again.')
  const { run } = await store.locate(words)
  const steps = flags.again ? chooseAgain(run, deviceOfRun(run, words, flags.kernelDir)) : run.steps
  const { choices: found, problems } = judgeAuto({ steps }, flags.atMost / 100)
  if (problems.length > 0) process.exitCode = exitCodeOf.failed
  if (flags.json) return printJson({ choices: found.map(figuresOf), problems })
  const rows = [heading, ...found.map(cellsOf)]
  if (found.length > 0) print(columnLines(rows, (column) => !isNumber(column)))
  const over = found.flatMap(({ overExact, overBest }) => overExact ?? overBest ?? [])
  if (over.length > 0)
    print([
      '',
      `${counted(over.length, 'problem')} of ${found.length} compared; at most ${Math.max(...over).toFixed(3)} of the best exact kernel's time.`
    ])
  print(problems)
  if (flags.again)
    printNote(
      'Chosen by the costs of today, compared by the times of the run: a kernel that was rewritten since has the time of then.'
    )
}

const heading = [
  ...['format, M x N x K', 'chosen', 'us', 'best exact', 'us', 'chosen / it'],
  ...['best of all', 'us', 'chosen / it']
]
const isNumber = (at: number) => /^us$|\//.test(heading[at]!)

const microseconds = (step: Step | undefined) => {
  const ns = step?.measurement?.timeNs.median
  return ns === undefined ? '-' : (ns / 1e3).toFixed(2)
}
const ratio = (value: number | undefined) => value?.toFixed(3) ?? '-'

const cellsOf = ({ problem, chosen, bestExact, best, overExact, overBest }: AutoChoice) => [
  ...[problem, chosen.kernel, microseconds(chosen)],
  ...[bestExact?.kernel ?? '-', microseconds(bestExact), ratio(overExact)],
  ...[best ? named(best) : '-', microseconds(best), ratio(overBest)]
]
const named = ({ kernel, level }: Step) =>
  level === 'approximate' ? `${kernel} (approximate)` : kernel

const figuresOf = ({ problem, chosen, bestExact, best, overExact, overBest }: AutoChoice) => {
  const brief = (step: Step | undefined) =>
    step && { kernel: step.kernel, level: step.level, medianNs: step.measurement?.timeNs.median }
  return {
    ...{ problem, predictedNs: chosen.choice?.predictedNs, chosen: brief(chosen) },
    ...{ bestExact: brief(bestExact), overExact, best: brief(best), overBest }
  }
}
