/** kernels explain: what `auto` chooses for one problem, and how the cost model comes to each kernel's time. */
import { Option, type Command } from 'commander'
import { defaults } from '@shared/contract/defaults'
import { outputTypes, type OutputType } from '@shared/contract/jobs'
import { plainOperation } from '@shared/contract/operation'
import type { Detection, Device } from '@shared/contract/devices'
import type { Roof } from '@shared/contract/roofs'
import { factsOf, type DeviceFacts, type Rate } from '@shared/choice/deviceFacts'
import { choiceOf, isSettled, rankKernels, type Candidate } from '@shared/choice/choose'
import type { Problem, StageTime } from '@shared/choice/cost'
import { columnLines } from '@shared/columns'
import { checkShape, findBlockFormat } from '@shared/formats/blockFormat'
import { problemText } from '@shared/measurement/problemText'
import { print, printJson } from '../ground/terminal'
import { findDevice } from '../jobs/plan'
import { readRunFolder } from '../store/runFile'
import { positiveInteger } from './arguments'
import { deviceOfRun } from './deviceOfRun'
import { localApplication } from './localApplication'

interface Flags {
  format: string
  M: number
  N: number
  K: number
  cType: OutputType
  device: string
  deviceOf?: string
  kernelDir?: string[]
  json?: boolean
}

export function registerExplain(kernels: Command): void {
  kernels
    .command('explain')
    .description('what auto chooses for a problem: predicted time of every kernel, stage by stage')
    .requiredOption('--format <name>', 'block-scaled format')
    .requiredOption('-M <rows>', 'rows of A and C', positiveInteger)
    .requiredOption('-N <columns>', 'rows of B, columns of C', positiveInteger)
    .requiredOption('-K <depth>', 'columns of A and B', positiveInteger)
    .addOption(
      new Option('--c-type <type>', 'type of C').choices(outputTypes).default(defaults.output)
    )
    .option(
      '--device <id>',
      'cpu, cuda:0, ... or auto: the first GPU, else the CPU',
      defaults.device
    )
    .option('--device-of <folder>', 'the device of a run that was made elsewhere, with its roofs')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .option('--json', 'print as JSON')
    .action(explain)
}

async function explain(flags: Flags): Promise<void> {
  const { m, n, k } = { m: flags.M, n: flags.N, k: flags.K }
  const block = findBlockFormat(flags.format)
  checkShape(block, m, n, k)
  const problem: Problem = { ...plainOperation, format: block.id, m, n, k, output: flags.cType }
  const { device, roofs } = flags.deviceOf
    ? await deviceThere(flags.deviceOf, flags)
    : await deviceHere(flags, problem)
  const facts = factsOf(device, roofs)
  const ranking = rankKernels(device.kernels, facts, problem)
  const choice = choiceOf(ranking, problem)
  if (flags.json) {
    const ranked = ranking.ranked.map(({ kernel, level, prediction }) => ({
      ...{ kernel: kernel.id, level },
      ...prediction
    }))
    printJson({ device: device.name, problem, choice, ranked })
    return
  }
  print([
    `${problemText(problem)}, ${flags.cType} out, on ${device.name} (${device.architecture})`,
    `read of memory: ${rateText(facts.read)}`,
    `auto: ${choice.kernel || 'none'}, ${choice.why}`,
    '',
    ...candidateLines(ranking.ranked),
    '',
    ...basisLines(ranking.ranked, facts),
    ...byReason(ranking.left.map(({ kernel, reason }) => [reason, kernel.id])).map(
      ([reason, ids]) => `left out: ${ids.join(', ')}: ${reason}`
    ),
    ...(device.kernels.some(({ python }) => python) || device.kind === 'cpu'
      ? []
      : ['Python kernels are not looked at: they have no cost, and come behind.'])
  ])
}

/** With Triton's kernels only where one of them may be the choice. */
async function deviceHere(
  flags: Flags,
  problem: Problem
): Promise<{ device: Device; roofs: Roof[] }> {
  const application = localApplication(flags)
  const isEnough = (found: Detection) => {
    if (flags.device === 'cpu') return true
    const device = findDevice(flags.device, found)
    return (
      device.kind !== 'cpu' &&
      isSettled(choiceOf(rankKernels(device.kernels, factsOf(device, []), problem), problem))
    )
  }
  try {
    const device = findDevice(flags.device, await application.detect(isEnough))
    return { device, roofs: (await application.memory.of(device)).roofs }
  } finally {
    await application.close()
  }
}

async function deviceThere(folder: string, { kernelDir }: Flags) {
  const run = await readRunFolder(folder)
  return { device: deviceOfRun(run, folder, kernelDir), roofs: run.roofs ?? [] }
}

/** A table, best first: the time, what of it is for sure, and what it adds up from. */
function candidateLines(ranked: readonly Candidate[]): string[] {
  const rows = ranked.map(({ kernel, level, prediction }) => {
    if ('reason' in prediction) return [kernel.id, level, '-', '-', `no time: ${prediction.reason}`]
    const { ns, fixedNs, floorNs, stages } = prediction
    const busy = stages.filter(({ waves }) => waves > 0).map(stageText)
    const fixed = fixedNs > 0 ? [`launches ${microseconds(fixedNs)}`] : []
    return [
      kernel.id,
      level,
      microseconds(ns),
      microseconds(floorNs),
      [...fixed, ...busy].join('; ')
    ]
  })
  const table = [['kernel', 'level', 'predicted', 'at least', 'of'], ...rows]
  return columnLines(table, (column) => column !== 2 && column !== 3)
}

/** The rates and constants that the times stand on, each once. */
function basisLines(ranked: readonly Candidate[], facts: DeviceFacts): string[] {
  const instructions = [...new Set(ranked.map(({ instruction }) => instruction))]
  const sources = ranked.flatMap(({ kernel, prediction }): [string, string][] =>
    'reason' in prediction ? [] : [[prediction.source, kernel.id]]
  )
  return [
    'at least: operands read and C written once, at the rate of memory',
    ...instructions.map((one) => `peak of ${one}: ${rateText(facts.peakOf(one), 'TFLOP/s', 1e12)}`),
    ...byReason(sources).map(([source, ids]) => `constants of ${ids.join(', ')}: ${source}`)
  ]
}

/** Ids with what is said of them: each saying once, with all its ids. */
function byReason(said: readonly (readonly [saying: string, id: string])[]): [string, string[]][] {
  const ids = new Map<string, string[]>()
  for (const [saying, id] of said) ids.set(saying, [...(ids.get(saying) ?? []), id])
  return [...ids]
}

function stageText({ name, ns, waves, filled }: StageTime): string {
  const share = Math.round(100 * filled)
  const tail =
    waves > 1 ? ` in ${waves} waves, ${share} % filled` : filled < 1 ? `, ${share} % filled` : ''
  return `${name} ${microseconds(ns)}${tail}`
}

const microseconds = (ns: number): string => `${(ns / 1e3).toFixed(1)} us`

const rateText = (rate: Rate, unit = 'GB/s', scale = 1e9): string =>
  'reason' in rate
    ? rate.reason
    : `${Number((rate.rate / scale).toPrecision(4))} ${unit}, ${rate.source}`
