/** `blockscope launches`: the kernels of a capture by launch shape, or every launch. */
import { Option, type Command } from 'commander'
import type { CapturedActivity } from '@shared/capture/captureReader'
import { figuresOf, parseFlopRule } from '../capture/flopRules'
import {
  allKernelFacts,
  extentsText,
  kernelGroupings,
  kernelTableLines,
  unknownFits,
  type KernelGrouping
} from '@shared/capture/kernelTable'
import { KernelTally } from '@shared/capture/kernelTally'
import { launchCsvHeader, launchCsvLine, launchOf } from '@shared/capture/launchTable'
import { counterTableLines, countersOf } from '@shared/capture/counterTable'
import { processLabel } from '@shared/capture/processLabel'
import type { ShardNames } from '@shared/capture/shardNames'
import { demangle } from '@shared/profile/ask/demangle'
import { shownNameTest } from '@shared/profile/ask/shownNameTest'
import { shortName } from '@shared/profile/ask/shortName'
import { accountSentences } from '@shared/capture/accountSentences'
import { readCapture } from '../capture/captureFolder'
import { print, printJson, printNote, writeData } from '../ground/terminal'
import { positiveInteger } from './arguments'
import { capturePlace } from './capturePlace'

interface Flags {
  kernels?: string
  number: number
  demangle: boolean
  short?: boolean
  by: KernelGrouping
  flops?: string[]
  each?: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('launches')
    .description(
      'Kernels of a capture by launch shape: times, registers, waves and blocks per multiprocessor.'
    )
    .argument('<capture>', 'folder of a capture, its id in the app, or one of its shards')
    .option('--kernels <text>', 'only kernels with this in their name; text or /regex/')
    .option('-n, --number <n>', 'rows to show', positiveInteger, 30)
    .option(
      '--no-demangle',
      'C++ names as they are mangled; so they are in --each, and as "kernel" in --json'
    )
    .option('--short', 'names as the app shortens them')
    .addOption(
      new Option('--by <what>', 'a row for each launch shape, or each kernel')
        .choices(kernelGroupings)
        .default('shape')
    )
    .option(
      '--flops <rule...>',
      'what kernels compute, for rate and share of their roof: NAME=MxNxK or NAME=FLOP of a launch, @fp8 behind it where it is not bf16'
    )
    .option('--each', 'every launch as CSV instead, all of them; with --json a line of JSON each')
    .option('--json', 'print as JSON; times in ns')
    .action(launches)
}

function launches(words: string, flags: Flags): void {
  const path = capturePlace(words)
  const rules = (flags.flops ?? []).map(parseFlopRule)
  const test =
    flags.kernels === undefined ? () => true : shownNameTest(flags.kernels, { ignoreCase: true })
  if (flags.each) return printEach(path, flags.json === true, test)
  const tally = new KernelTally(test)
  const reader = readCapture(path, tally)
  printNote([...reader.warnings, ...accountSentences(reader.accounts)])
  const counters = countersOf(tally.processes).filter(({ kernel }) => test(kernel))
  tally.sums.counters = counters
  const facts = allKernelFacts(tally.sums, flags.by)
  if (flags.json)
    return printJson(
      facts.map((row) => ({
        ...row,
        name: demangle(row.kernel),
        product: figuresOf(row, rules)
      }))
    )
  const nameOf = flags.short ? shortName : flags.demangle ? demangle : (name: string) => name
  print(kernelTableLines(facts, flags.number, nameOf))
  for (const row of facts.slice(0, flags.number)) {
    const found = figuresOf(row, rules)
    if (found) print(`${nameOf(row.kernel)} ${extentsText(row.grid)}: ${found.sentence}`)
  }
  if (counters.length > 0)
    print([
      '',
      "The device's counters, at a kernel's first launch:",
      ...counterTableLines(counters, nameOf)
    ])
  if (rules.some(({ matches }) => !facts.some(({ kernel }) => matches(kernel))))
    printNote('A rule of --flops matches no kernel here.')
  printNote(unknownFits(facts))
}

function printEach(path: string, asJson: boolean, test: (name: string) => boolean): void {
  let names!: ShardNames
  let process = ''
  let batch = asJson ? '' : `${launchCsvHeader}\n`
  const take = (activity: CapturedActivity) => {
    const launch = launchOf(activity, names, process)
    if (!test(launch.name)) return
    batch += `${asJson ? JSON.stringify(launch) : launchCsvLine(launch)}\n`
    if (batch.length < 1 << 18) return
    writeData(batch)
    batch = ''
  }
  const reader = readCapture(path, {
    process: (current, header) => {
      names = current
      process = processLabel(header.pid, current.process)
    },
    activity: take,
    measured: take
  })
  writeData(batch)
  printNote([...reader.warnings, ...accountSentences(reader.accounts)])
}
