import { Option, type Command } from 'commander'
import { resolve } from 'node:path'
import { presets, sweepSpecSchema } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { columnsOf } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import { stringifyRun } from '../store/runFile'
import { integerList, integerRange, parseSpec, positiveInteger } from './arguments'
import { duration, followJob } from './followJob'
import { addJobFlags, type JobFlags } from './jobFlags'
import { localApplication } from './localApplication'
import { printRunTree } from './printRunTree'
import { exitCodeOfRun } from './validate'

interface Flags extends JobFlags {
  K?: number[]
  KRange?: number[]
  KStep: number
  mode: 'cold' | 'hot'
  preset: (typeof presets)[number]
  reps?: number
  rounds?: number
  sustained?: boolean
  outDir?: string
}

export function register(program: Command): void {
  addJobFlags(
    program
      .command('sweep')
      .alias('bench')
      .description('Time kernels over K, each point validated first.')
  )
    .option('-K <list>', 'values of K, comma-separated', integerList)
    .option('--K-range <bounds...>', 'first and last K', collectIntegers)
    .option('--K-step <step>', 'distance of the values in --K-range', positiveInteger, 512)
    .addOption(
      new Option('--mode <mode>', 'cold: operands not in L2; hot: the same operands again')
        .choices(['cold', 'hot'])
        .default('cold')
    )
    .addOption(
      new Option('--preset <name>', 'how many samples a point takes')
        .choices(presets)
        .default('standard')
    )
    .option('--reps <count>', 'exactly this many samples per point', positiveInteger)
    .option('--rounds <count>', 'rounds over all points (default: by preset)', positiveInteger)
    .option('--sustained', 'also run back to back for half a second')
    .option('--out-dir <folder>', 'folder of this run, instead of one in the store')
    .action(sweep)
}

function collectIntegers(text: string, before: number[] = []): number[] {
  return [...before, positiveInteger(text)]
}

function depths(flags: Flags): number[] {
  if (flags.K && flags.KRange) throw new UserError('usage', 'Give -K or --K-range, not both.')
  if (flags.K) return flags.K
  // The Triton tutorial's default: one point at K = 512.
  return integerRange(flags.KRange ?? [512, 512], flags.KStep)
}

async function sweep(flags: Flags): Promise<void> {
  const spec = parseSpec(sweepSpecSchema, {
    kind: 'sweep',
    device: flags.device,
    formats: flags.formats,
    kernels: flags.kernels ?? [],
    seed: flags.seed,
    distribution: flags.dist,
    output: flags.out,
    m: flags.M,
    n: flags.N,
    kValues: depths(flags),
    mode: flags.mode,
    preset: flags.preset,
    reps: flags.reps,
    rounds: flags.rounds,
    sustained: flags.sustained ?? false
  })
  const application = localApplication(flags)
  try {
    const plan = await application.jobs.plan(spec)
    if (!flags.json) {
      const time = duration(plan.secondsExpected)
      process.stderr.write(`${plan.steps.length} points on ${plan.device.name}, about ${time}.\n`)
    }
    const folder = flags.outDir && resolve(flags.outDir)
    const result = await followJob(application, spec, { quiet: Boolean(flags.json), folder })
    if (flags.json) process.stdout.write(stringifyRun(result.run, 2) + '\n')
    else await printSweep(result.run, result.folder)
    process.exitCode = exitCodeOfRun(result.run)
  } finally {
    await application.close()
  }
}

export async function printSweep(run: Run, folder: string): Promise<void> {
  const columns = columnsOf(run)
  const { steps } = run
  const widths = columnWidths(columns, steps)
  const lines = [undefined, ...steps].map((step) => tableLine(columns, step, widths))
  process.stdout.write(`\n${lines.join('\n')}\n`)
  await printRunTree(folder)
  const end = run.status === 'done' ? '' : `${run.reason}\n`
  process.stdout.write(`\n${end}Run folder: ${folder}\n`)
}
