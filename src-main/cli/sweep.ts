import { Option, type Command } from 'commander'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import { presetNames, sweepSpecSchema, type SweepSpec } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { columnsOf } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import { print, printJson } from '../ground/terminal'
import { stringifyRun } from '../store/runFile'
import { integerList, integerRange, parseSpec, positiveInteger } from './arguments'
import { followJob } from './followJob'
import {
  addBenchFlags,
  addJobFlags,
  operationFlags,
  type BenchFlags,
  type JobFlags
} from './jobFlags'
import { addGroupFlags, groupsOf, type GroupFlags } from './groupFlags'
import { localApplication } from './localApplication'
import { printRunTree } from './printRunTree'
import { printTimings, timingsWords } from './timings'
import { addShapeFlags, shapesOf, type ShapeFlags } from './shapes'
import { exitCodeOfRun, printStepLines, printModelTimes, verdictLine } from './validationReport'

export interface SweepFlags extends JobFlags, GroupFlags, BenchFlags, ShapeFlags {
  M?: number[]
  N?: number[]
  K?: number[]
  mode?: 'cold' | 'hot'
  preset?: (typeof presetNames)[number]
  rounds?: number
  sustained?: boolean
  outDir?: string
  timings?: boolean
}

export function register(program: Command): void {
  addShapeFlags(
    addBenchFlags(
      addGroupFlags(
        addJobFlags(
          program
            .command('sweep')
            .alias('bench')
            .description('Time kernels over K, M and N, each point validated first.')
        )
      )
    )
  )
    .option('-M <list>', 'values of M: rows of A and C, comma-separated', integerList)
    .option('-N <list>', 'values of N: rows of B, columns of C', integerList)
    .option('-K <list>', 'values of K: columns of A and B', integerList)
    .addOption(
      new Option('--mode <mode>', 'cold: operands not in L2; hot: the same operands again')
        .choices(['cold', 'hot'])
        .default(defaults.mode)
    )
    .addOption(
      new Option('--preset <name>', 'how many samples a point takes')
        .choices(presetNames)
        .default(defaults.preset)
    )
    .option('--rounds <count>', 'rounds over all points (default: by preset)', positiveInteger)
    .option(
      '--sustained',
      'also run back to back for half a second: the rate at the power that the device keeps up'
    )
    .option('--timings', timingsWords)
    .option('--out-dir <folder>', 'folder of this run, instead of one in the store')
    .action(sweep)
}

function depths(flags: SweepFlags): number[] {
  if (flags.shapes !== undefined) return []
  if (flags.K) return flags.K
  // The Triton tutorial's default: one point at K = 512.
  return integerRange(flags.KRange ?? [512, 512], flags.KStep)
}

/** What the flags ask for. Throws a UserError. */
export async function sweepSpec(flags: SweepFlags): Promise<SweepSpec> {
  return parseSpec(sweepSpecSchema, {
    kind: 'sweep',
    device: flags.device,
    formats: flags.formats ?? [...defaults.formats],
    kernels: flags.kernels ?? [],
    providers: flags.providers ?? [],
    providerFiles: flags.provider,
    seed: flags.seed,
    distribution: flags.dist,
    output: flags.out,
    mValues: flags.M ?? [],
    nValues: flags.N ?? [],
    kValues: depths(flags),
    shapes: await shapesOf(flags),
    mode: flags.mode,
    preset: flags.preset,
    warmup: flags.warmup,
    reps: flags.reps,
    rounds: flags.rounds,
    sustained: flags.sustained ?? false,
    ...operationFlags(flags),
    groups: groupsOf(flags)
  })
}

/** Runs the job here, prints what came of it and leaves the exit code. */
export async function sweep(flags: SweepFlags): Promise<void> {
  const spec = await sweepSpec(flags)
  const application = localApplication(flags)
  try {
    const folder = flags.outDir && resolve(flags.outDir)
    const result = await followJob(application, spec, { quiet: Boolean(flags.json), folder })
    if (flags.json) printJson(stringifyRun(result.run, 2))
    else printSweep(result.run, result.folder)
    printTimings(application, flags)
    process.exitCode = exitCodeOfRun(result.run)
  } finally {
    await application.close()
  }
}

export function printSweep(run: Run, folder: string): void {
  const columns = columnsOf(run)
  const { steps } = run
  const widths = columnWidths(columns, steps)
  const lines = [undefined, ...steps].map((step) => tableLine(columns, step, widths))
  print(['', ...lines])
  printRunTree(run)
  printStepLines(run)
  printModelTimes(run)
  print(['', verdictLine(run), `Run folder: ${folder}`])
}
