/** `blockscope capture -- CMD`: the GPU kernels of any program, with its calls, its graphs and its children. */
import { Option, type Command } from 'commander'
import { join, resolve } from 'node:path'
import { labelOf } from '@shared/capture/accountSentences'
import { counterMetrics } from '@shared/capture/counterMetrics'
import { captureFileName } from '@shared/capture/captureFiles'
import { captureSpecSchema, type CaptureSpecInput } from '@shared/contract/capture'
import { count, counted, text, quantity } from '@shared/units'
import { captureProfileName } from '../capture/captureFolder'
import type { CaptureRecord } from '../capture/captureRecord'
import { exitCodeOfProgram, type FollowedProgram, type ProgramEnd } from '../capture/followProgram'
import { captureCounts, startCapture, stampOf } from '../capture/runCapture'
import {
  clearProgress,
  printJson,
  printNote,
  showProgress,
  showsProgress
} from '../ground/terminal'
import { parseSpec, timeLength } from './arguments'

interface Flags {
  out?: string
  for?: number
  after?: number
  onSignal?: 'USR1' | 'USR2'
  range?: string
  kernels?: string
  graphs?: boolean
  graphNodes?: boolean
  only?: string
  python?: boolean
  counters?: true | string[]
  everyProcess?: boolean
  endProgram?: boolean
  force?: boolean
  json?: boolean
}

const lookMs = 500

export function register(program: Command): void {
  program
    .command('capture')
    .description(
      'Runs a program and records its GPU kernels, copies, graphs and NVTX or roctx ranges, and those of its children. By CUPTI; by rocprofiler-sdk on AMD GPUs, where it was not run yet.'
    )
    .usage('[options] -- CMD ARGS...')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--out <folder>', 'folder to write; otherwise capture-DATE-TIME here')
    .option('--after <time>', 'begin so long after the start: 5s', timeLength)
    .option('--for <time>', 'end the capture after so long: 500ms, 10s, 2m', timeLength)
    .addOption(
      new Option(
        '--on-signal <name>',
        'begin at this signal to blockscope, end at the next'
      ).choices(['USR1', 'USR2'])
    )
    .option(
      '--range <name>',
      'only what is launched while an NVTX or roctx range of this name is open'
    )
    .option('--kernels <regex>', 'only kernels of these names; POSIX extended regular expression')
    .option('--graph-nodes', 'a record for each kernel of a CUDA graph (so it is without a flag)')
    .option('--graphs', 'one record for each launch of a CUDA graph: costs less, has no kernels')
    .option('--python', 'the Python call path of every launch: CPython 3.9 to 3.13')
    .option(
      '--counters [metrics...]',
      "measure each kernel's first launch by the GPU's counters: tensor pipe, memory, stalls; or by perfworks' names"
    )
    .option('--every-process', 'name processes that launched nothing too')
    .option('--only <program>', 'only processes of this program or script: train.py')
    .option('--end-program', 'interrupt the program when the capture ends')
    .option('--force', 'replace the capture in the folder')
    .addOption(new Option('--json', 'print what capture.json holds, after what the program prints'))
    .addHelpText(
      'after',
      '\nCtrl+C ends the capture, a second one the program. The exit code is that of the program.'
    )
    .action(capture)
}

async function capture(command: string[], flags: Flags): Promise<void> {
  const folder = resolve(flags.out ?? `capture-${stampOf(new Date())}`)
  const spec = parseSpec(captureSpecSchema, {
    command,
    ...{ afterMs: flags.after, forMs: flags.for, range: flags.range, kernels: flags.kernels },
    ...{
      waits: flags.onSignal !== undefined,
      only: flags.only,
      wholeGraphs: flags.graphs,
      python: flags.python,
      counters: flags.counters === true ? counterMetrics.map(({ name }) => name) : flags.counters,
      endProgram: flags.endProgram
    }
  } satisfies CaptureSpecInput)
  const window = signalWindow(flags.onSignal)
  const signals = passSignals()
  const running = await startCapture(spec, folder, { force: flags.force })
  printNote(running.doubts)
  const followed = running.program
  window.open(followed)
  signals.open(followed)
  const stopShowing = showCounts(folder)
  await followed.captured
  stopShowing()
  let end: ProgramEnd | null = await Promise.race([followed.ended, soon()])
  let record = await running.record(end)
  printSummary(record, folder, flags)
  if (end === null) {
    printNote(
      spec.endProgram
        ? 'The program was asked to end; waiting for it.'
        : 'The program goes on; Ctrl+C ends it.'
    )
    end = await followed.ended
    record = await running.record(end)
  }
  signals.close()
  window.close()
  if (flags.json) printJson(record)
  process.exitCode = exitCodeOfProgram(end)
}

/** The program's end may be told a moment after its last child's. */
const soon = () => new Promise<null>((give) => setTimeout(() => give(null), 100))

/** The window between two signals. Listened for before the program starts: unheard, a signal would end blockscope. */
function signalWindow(name: 'USR1' | 'USR2' | undefined) {
  let followed: FollowedProgram | undefined
  const take = () => {
    if (!followed || followed.state === 'ending') return
    clearProgress()
    if (followed.begin()) printNote(`Recording; SIG${name} again ends the capture.`)
    else followed.end()
  }
  if (name) process.on(`SIG${name}`, take)
  return {
    open(program: FollowedProgram) {
      followed = program
      if (name)
        printNote(`Waiting: kill -${name} ${process.pid} begins, the next ends the capture.`)
    },
    close: () => void (name && process.off(`SIG${name}`, take))
  }
}

/** Ctrl+C and its kind. Listened for before the program starts too: what comes meanwhile is passed on once it is followed. */
function passSignals() {
  let followed: FollowedProgram | undefined
  const early: NodeJS.Signals[] = []
  const take = (name: NodeJS.Signals) => {
    if (!followed) return void early.push(name)
    clearProgress()
    const isFirst = followed.end()
    if (name !== 'SIGINT' || !isFirst) followed.signal(name)
  }
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, take)
  return {
    open(program: FollowedProgram) {
      followed = program
      early.forEach(take)
    },
    close: () => names.forEach((name) => process.off(name, take))
  }
}

/** The line is the terminal's last; where there is none, the program's own output stays alone. */
function showCounts(folder: string): () => void {
  if (!showsProgress()) return () => {}
  const timer = setInterval(() => showProgress(countsText(folder)), lookMs)
  return () => {
    clearInterval(timer)
    clearProgress()
  }
}

function countsText(folder: string): string {
  const { processes, launches, kernels, dropped, bytes } = captureCounts(folder)
  return [
    counted(processes, 'process', 'processes'),
    counted(launches, 'launch', 'launches'),
    counted(kernels, 'kernel record'),
    `${count(dropped)} dropped`,
    text(quantity('bytes', bytes))
  ].join(', ')
}

/** On stderr: stdout is the program's. */
function printSummary(record: CaptureRecord, folder: string, { everyProcess }: Flags): void {
  const { processes, totals, notes } = record
  printNote(notes)
  const isIdle = (one: CaptureRecord['processes'][number]) =>
    one.expectedKernels === 0 && one.launches.graphs === 0 && one.state !== 'failed'
  const idle = processes.filter(isIdle)
  for (const one of everyProcess ? processes : processes.filter((each) => !isIdle(each))) {
    const { launches, read, failed, captured } = one
    const more = [
      ...(launches.graphs > 0 ? [counted(launches.graphs, 'graph launch', 'graph launches')] : []),
      ...(captured > 0 ? [`${count(captured)} captured into graphs`] : []),
      ...(failed > 0 ? [`${count(failed)} failed`] : []),
      ...(read.copies > 0 ? [counted(read.copies, 'copy', 'copies')] : []),
      ...(read.measured > 0 ? [`${count(read.measured)} measured by counters`] : []),
      ...(one.filtered > 0 ? [`${count(one.filtered)} left out by --kernels`] : [])
    ]
    if (one.state !== 'failed')
      printNote(
        `${labelOf(one)}: ${count(read.kernels)} of ${counted(one.expectedKernels, 'kernel')} recorded${more.length > 0 ? `; ${more.join(', ')}` : ''}.`
      )
  }
  if (idle.length > 0 && !everyProcess)
    printNote(
      `${counted(idle.length, 'process', 'processes')} started CUDA or HIP and launched nothing.`
    )
  if (totals.measured > 0)
    printNote(`Counters: blockscope launches ${folder}; view and top of the folder with -m.`)
  const hasKernels = totals.kernels > 0
  printNote(
    hasKernels
      ? `Capture: ${folder}; blockscope view ${join(folder, captureProfileName)} -m time/ms`
      : `Capture: ${join(folder, captureFileName)}`
  )
}
