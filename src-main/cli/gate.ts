import { Option, type Command } from 'commander'
import { defaults } from '@shared/contract/defaults'
import { distributions, outputTypes, sweepSpecSchema, type OutputType } from '@shared/contract/jobs'
import type { Detection, Device } from '@shared/contract/devices'
import { deviceStateText, type DeviceState } from '@shared/contract/deviceState'
import { UserError, exitCodeOf } from '@shared/errors'
import {
  gateLines,
  gateToDashboard,
  gateToJunit,
  gateToMarkdown,
  timeText
} from '@shared/report/gate'
import { counted } from '@shared/units'
import { version } from '../../package.json'
import { checkOutput, writeOutput } from '../ground/files'
import { clearProgress, print, printJson, printNote, showProgress } from '../ground/terminal'
import type { Application } from '../jobs/handlers'
import { addToBaseline, checkRecording, openBaseline } from '../jobs/gate/baselineFile'
import { runGate, timeForBaseline, type GateRequest, type GateWork } from '../jobs/gate/runGate'
import {
  kernelSideOf,
  namedSide,
  openSide,
  stateNow,
  type NamedSide,
  type Side
} from '../jobs/gate/sides'
import { findDevice } from '../jobs/plan'
import type { RunStore } from '../store/runStore'
import {
  integerList,
  parseSpec,
  positiveInteger,
  positiveNumber,
  wholeNumber,
  wordList
} from './arguments'
import { localApplication } from './localApplication'
import { addShapeFlags, shapesOf, type ShapeFlags } from './shapes'

interface Flags extends ShapeFlags {
  formats?: string[]
  M?: number[]
  N?: number[]
  K?: number[]
  device: string
  mode?: 'cold' | 'hot'
  out?: OutputType
  dist: (typeof distributions)[number]
  seed: number
  pairs: number
  samples: number
  confidence: number
  margin: number
  baseline?: string
  record?: boolean
  junit?: string
  markdown?: string
  dashboard?: string
  force?: boolean
  store?: string
  json?: boolean
}

export function register(program: Command): void {
  const command = program
    .command('gate')
    .description(
      'Whether new kernels are slower than base: passes only on evidence that they are not.'
    )
    .argument(
      '<sides...>',
      "base and new, or with --baseline new alone: each a folder with manifest.json, git's REF:FOLDER, a kernel, or a run (its id or folder)"
    )
    .option('--baseline <file>', 'times kept in a repository, in place of base')
    .option('--record', 'time new, and keep it in the baseline')
    .option(
      '--formats <list>',
      `formats, comma-separated (default: ${defaults.formats.join(',')})`,
      wordList
    )
    .option('-M <list>', 'values of M: rows of A and C, comma-separated', integerList)
    .option('-N <list>', 'values of N: rows of B, columns of C', integerList)
    .option('-K <list>', 'values of K: columns of A and B', integerList)
  addShapeFlags(command)
    .option(
      '--device <id>',
      'cpu, cuda:0, ... or auto: the first GPU, else the CPU',
      defaults.device
    )
    .addOption(
      new Option(
        '--mode <mode>',
        `cold: operands not in L2; hot: the same operands again (default: ${defaults.mode}, or the run's)`
      ).choices(['cold', 'hot'])
    )
    .addOption(
      new Option('--out <type>', `type of C (default: ${defaults.output}, or the run's)`).choices(
        outputTypes
      )
    )
    .addOption(
      new Option('--dist <name>', 'distribution of the operands')
        .choices(distributions)
        .default(defaults.distribution)
    )
    .option('--seed <number>', 'seed of the operands and of the order', wholeNumber, defaults.seed)
    .option('--pairs <count>', 'pairs of visits at each point', positiveInteger, 40)
    .option('--samples <count>', 'samples of a visit; their median counts', positiveInteger, 5)
    .option('--confidence <percent>', 'of all verdicts together', positiveNumber, 95)
    .option('--margin <percent>', 'what counts as the same', positiveNumber, 1)
    .option('--junit <file>', 'also write JUnit XML')
    .option('--markdown <file>', 'also write a summary in Markdown')
    .option('--dashboard <file>', "also write records for PyTorch's benchmark dashboard")
    .option('--force', 'replace files, and points of the baseline, that are there')
    .option('--store <folder>', 'folder of runs')
    .option('--json', 'print the whole result, with every sample, as JSON')
    .action(gate)
}

/** By flag: each report the gate can also be written as. */
const reports = {
  junit: gateToJunit,
  markdown: gateToMarkdown,
  dashboard: gateToDashboard
} as const
const reportNames = Object.keys(reports) as (keyof typeof reports)[]

/** 0: every point passes; 1: any does not, or nothing was compared. */
async function gate(words: string[], flags: Flags): Promise<void> {
  const request = await requestOf(flags)
  checkWords(words, flags)
  for (const name of reportNames) if (flags[name] !== undefined) checkOutput(flags[name], flags)
  const sides: NamedSide[] = []
  try {
    for (const one of words) sides.push(await namedSide(one))
    await withApplication(sides, request, flags, flags.record ? record : compare)
  } finally {
    for (const side of sides) if (side.kind === 'folder') await side.remove?.()
  }
}

function checkWords(words: readonly string[], { baseline, record }: Flags): void {
  const wanted = baseline === undefined ? 2 : 1
  if (words.length === wanted) return
  const what = record ? 'what is timed' : wanted === 1 ? 'new alone' : 'base and new'
  const baselineWords = wanted === 1 ? ' with --baseline' : ''
  throw new UserError(
    'usage',
    `gate${baselineWords} takes ${what}; got ${counted(words.length, 'name')}.`
  )
}

async function requestOf(flags: Flags): Promise<GateRequest> {
  const { confidence, margin, pairs: visits, samples } = flags
  if (confidence < 50 || confidence >= 100)
    throw new UserError(
      'usage',
      `--confidence: a number from 50 to below 100 is expected, not ${confidence}.`
    )
  if (margin >= 100)
    throw new UserError('usage', `--margin: a number below 100 is expected, not ${margin}.`)
  const spec = parseSpec(sweepSpecSchema, {
    kind: 'sweep',
    device: flags.device,
    formats: flags.formats ?? [...defaults.formats],
    seed: flags.seed,
    distribution: flags.dist,
    output: flags.out,
    mode: flags.mode,
    mValues: flags.M ?? [],
    nValues: flags.N ?? [],
    shapes: await shapesOf(flags),
    // The sweep's own default, one point.
    kValues: flags.K ?? (flags.shapes === undefined ? [512] : [])
  })
  const is = (value: unknown) => value !== undefined
  return {
    ...{ spec, visits, samples, confidence: confidence / 100, margin: margin / 100 },
    narrow: { formats: is(flags.formats), m: is(flags.M), n: is(flags.N), k: is(flags.K) },
    asked: { mode: flags.mode, output: flags.out }
  }
}

/** What is detected and named, for either kind of work. */
interface Opened {
  flags: Flags
  request: GateRequest
  work: GateWork
  state: DeviceState
  /** Base, where it is named, and new. */
  sides: Side[]
}

async function withApplication(
  named: readonly NamedSide[],
  request: GateRequest,
  flags: Flags,
  act: (opened: Opened) => Promise<void>
): Promise<void> {
  const roles = named.length === 2 ? (['base', 'new'] as const) : (['new'] as const)
  const kernelSides = named.flatMap((side, at) => kernelSideOf(side, roles[at]!))
  const application = localApplication({ store: flags.store, kernelSides })
  const { signal, release } = interruptible()
  try {
    const { store } = application
    const detection = await application.detect(await sufficesFor(named, store))
    const device = findDevice(request.spec.device, detection)
    const work = workOf(application, detection, device, signal)
    const state = stateNow(detection, device.id)
    const sides: Side[] = []
    for (const [at, side] of named.entries())
      sides.push(await openSide(side, roles[at]!, { detection, device, store }))
    await act({ flags, request, work, state, sides })
  } finally {
    release()
    clearProgress()
    await application.close()
  }
}

/** Whether kernels that are not Triton's are all that is named; `auto` chooses among Triton's too. */
async function sufficesFor(named: readonly NamedSide[], store: RunStore) {
  const names: string[] = []
  for (const { kind, name } of named)
    if (kind === 'words' && !(await isRun(store, name))) names.push(name.toLowerCase())
  return ({ devices }: Detection): boolean => {
    const known = new Set(
      devices.flatMap(({ kernels }) => kernels.map(({ id }) => id.toLowerCase()))
    )
    return names.every((name) => known.has(name))
  }
}

const isRun = (store: RunStore, words: string): Promise<boolean> =>
  store.find(words).then(
    () => true,
    () => false
  )

async function compare({ flags, request, work, state, sides }: Opened): Promise<void> {
  const tested = sides.at(-1)!
  const base =
    flags.baseline === undefined
      ? sides[0]!
      : await openBaseline(flags.baseline, state, request.spec)
  const result = await runGate(base, tested, request, work)
  clearProgress()
  for (const name of reportNames)
    if (flags[name] !== undefined) await writeOutput(flags[name], [reports[name](result)], flags)
  if (flags.json) printJson(result)
  else print(gateLines(result))
  if (!result.passed) process.exitCode = exitCodeOf.failed
}

/** What could not be timed is said, and not kept. */
async function record({ flags, request, work, state, sides }: Opened): Promise<void> {
  const file = flags.baseline!
  await checkRecording(file, state, request.spec, flags)
  const { state: timed, failed } = await timeForBaseline(sides[0]!, request, work)
  clearProgress()
  const points = timed.points.length > 0 ? await addToBaseline(file, timed) : 0
  if (flags.json) printJson({ baseline: file, points, recorded: timed, failed })
  else {
    print(timed.points.map(timeText))
    printNote(failed)
    print(`${file} holds ${points} points of ${deviceStateText(timed.device)}.`)
  }
  if (failed.length > 0 || timed.points.length === 0) process.exitCode = exitCodeOf.failed
}

function workOf(
  application: Application,
  detection: Detection,
  device: Device,
  signal: AbortSignal
): GateWork {
  let last = -Infinity
  return {
    ...{ engine: application.engine, detection, device, signal, appVersion: version },
    plan: (spec) => application.jobs.plan(spec),
    onNotice: printNote,
    onProgress(point, done, total) {
      if (performance.now() - last < 1000) return
      last = performance.now()
      showProgress(`${point}: ${done} of ${total} pairs`)
    }
  }
}

/** Ctrl+C ends the pairs that are being made; what was judged before is told. */
function interruptible(): { signal: AbortSignal; release(): void } {
  const abort = new AbortController()
  let interrupts = 0
  const interrupt = () => {
    if (++interrupts > 1) process.exit(130)
    printNote('Cancelling; Ctrl-C again to leave at once.')
    abort.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const release = () => {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
  return { signal: abort.signal, release }
}
