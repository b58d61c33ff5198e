/** `blockscope capture -- CMD`: the GPU kernels of any program, with its calls, its graphs and its children. */
import { Option, type Command } from 'commander'
import { join, resolve } from 'node:path'
import { labelOf } from '@shared/capture/accountSentences'
import { captureFileName } from '@shared/capture/captureFiles'
import { UserError } from '@shared/errors'
import { count, counted, text, quantity } from '@shared/units'
import { captureProfileName, prepareFolder, shardHeaders } from '../capture/captureFolder'
import { writeRecord, type CaptureRecord } from '../capture/captureRecord'
import {
  captureEnvironment,
  exitCodeOfProgram,
  FollowedProgram,
  type CaptureOptions,
  type ProgramEnd
} from '../capture/followProgram'
import { doubtsAbout, findProgram } from '../capture/programFile'
import {
  clearProgress,
  printJson,
  printNote,
  showProgress,
  showsProgress
} from '../ground/terminal'
import { timeLength } from './arguments'

interface Flags {
  out?: string
  for?: number
  after?: number
  range?: string
  kernels?: string
  graphs?: boolean
  graphNodes?: boolean
  only?: string
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
      'Runs a program and records its GPU kernels, copies, graphs and NVTX ranges, and those of its children.'
    )
    .usage('[options] -- CMD ARGS...')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--out <folder>', 'folder to write; otherwise capture-DATE-TIME here')
    .option('--after <time>', 'begin so long after the start: 5s', timeLength)
    .option('--for <time>', 'end the capture after so long: 500ms, 10s, 2m', timeLength)
    .option('--range <name>', 'only what is launched while an NVTX range of this name is open')
    .option('--kernels <regex>', 'only kernels of these names; POSIX extended regular expression')
    .option('--graph-nodes', 'a record for each kernel of a CUDA graph (so it is without a flag)')
    .option('--graphs', 'one record for each launch of a CUDA graph: costs less, has no kernels')
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
  if (process.platform !== 'linux')
    throw new UserError('unavailable', 'capture works on Linux: other systems inject differently.')
  const startedAt = new Date()
  const options: CaptureOptions = {
    folder: resolve(flags.out ?? `capture-${stampOf(startedAt)}`),
    command: command as [string, ...string[]],
    afterMs: flags.after ?? 0,
    forMs: flags.for ?? Infinity,
    ...(flags.range !== undefined && { range: flags.range }),
    ...(flags.kernels !== undefined && { kernels: flags.kernels }),
    ...(flags.only !== undefined && { only: flags.only }),
    wholeGraphs: flags.graphs === true,
    endProgram: flags.endProgram === true
  }
  const file = findProgram(options.command[0])
  const doubts = doubtsAbout(file)
  const environment = captureEnvironment(options)
  await prepareFolder(options.folder, options.afterMs > 0, flags.force)
  printNote(doubts)
  const followed = await FollowedProgram.start(file, environment, options)
  const release = passSignals(followed)
  const stopShowing = showCounts(options.folder)
  await followed.captured
  stopShowing()
  let end: ProgramEnd | null = await Promise.race([followed.ended, soon()])
  let record = await writeRecord(options, startedAt, end, doubts)
  printSummary(record, options.folder, flags)
  if (end === null) {
    printNote(
      options.endProgram
        ? 'The program was asked to end; waiting for it.'
        : 'The program goes on; Ctrl+C ends it.'
    )
    end = await followed.ended
    record = await writeRecord(options, startedAt, end, doubts)
  }
  release()
  if (flags.json) printJson(record)
  process.exitCode = exitCodeOfProgram(end)
}

/** The program's end may be told a moment after its last child's. */
const soon = () => new Promise<null>((give) => setTimeout(() => give(null), 100))

/** 20261122-091502 */
const stampOf = (date: Date) =>
  date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

function passSignals(followed: FollowedProgram): () => void {
  const interrupt = () => {
    clearProgress()
    if (!followed.end()) followed.signal('SIGINT')
  }
  const pass = (name: NodeJS.Signals) => {
    followed.end()
    followed.signal(name)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', pass)
  process.on('SIGHUP', pass)
  return () => {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', pass)
    process.off('SIGHUP', pass)
  }
}

/** The line is the terminal's last; where there is none, the program's own output stays alone. */
function showCounts(folder: string): () => void {
  if (!showsProgress()) return () => {}
  const timer = setInterval(() => showProgress(countsOf(folder)), lookMs)
  return () => {
    clearInterval(timer)
    clearProgress()
  }
}

/** In the order of native/inject/shard.h: what a header says before its shard's names are read. */
const shown = { kernelLaunches: 0, graphLaunches: 3, kernelRecords: 9, droppedRecords: 17 }

function countsOf(folder: string): string {
  const headers = shardHeaders(folder)
  const sum = (at: number) => headers.reduce((total, one) => total + (one.counters[at] ?? 0), 0)
  const bytes = headers.reduce((total, { fileBytes }) => total + fileBytes, 0)
  return [
    counted(headers.length, 'process', 'processes'),
    counted(sum(shown.kernelLaunches) + sum(shown.graphLaunches), 'launch', 'launches'),
    counted(sum(shown.kernelRecords), 'kernel record'),
    `${count(sum(shown.droppedRecords))} dropped`,
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
      ...(one.filtered > 0 ? [`${count(one.filtered)} left out by --kernels`] : [])
    ]
    if (one.state !== 'failed')
      printNote(
        `${labelOf(one)}: ${count(read.kernels)} of ${counted(one.expectedKernels, 'kernel')} recorded${more.length > 0 ? `; ${more.join(', ')}` : ''}.`
      )
  }
  if (idle.length > 0 && !everyProcess)
    printNote(`${counted(idle.length, 'process', 'processes')} started CUDA and launched nothing.`)
  const hasKernels = totals.kernels > 0
  printNote(
    hasKernels
      ? `Capture: ${folder}; blockscope view ${join(folder, captureProfileName)} -m time/ms`
      : `Capture: ${join(folder, captureFileName)}`
  )
}
