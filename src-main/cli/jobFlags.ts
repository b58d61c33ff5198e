import { Option, type Command } from 'commander'
import { defaults } from '@shared/contract/defaults'
import { distributions, outputTypes, type OutputType } from '@shared/contract/jobs'
import { bOrders, type BOrder, type Operation } from '@shared/contract/operation'
import {
  integerList,
  positiveInteger,
  positiveNumber,
  wholeNumber,
  withSpellings,
  wordList
} from './arguments'

export interface JobFlags {
  formats?: string[]
  kernels?: string[]
  providers?: string[]
  device: string
  seed: number
  dist: (typeof distributions)[number]
  out?: OutputType
  store?: string
  kernelDir?: string[]
  provider?: string[]
  json?: boolean
  outScale: number
  bOrder?: BOrder
  beta: '0' | '1'
  batch?: number[]
  batchA?: number[]
  batchB?: number[]
}

/** What the flags say of the operation, as a job's spec has it. */
export function operationFlags(flags: JobFlags): Operation {
  const { batch = [], batchA = batch, batchB = batch } = flags
  const { bOrder = 'nk', outScale: outputScale } = flags
  return { bOrder, accumulate: flags.beta === '1', outputScale, batchA, batchB }
}

/** The Triton tutorial's spellings of our flags. */
const tutorialSpellings = {
  '--K_range': '--K-range',
  '--K_step': '--K-step',
  '--format': '--formats'
}

export const bOrderOption = () =>
  new Option('--b-order <order>', 'B as nk: (N, K), or kn: (K, N) (default: nk)').choices(bOrders)

/** Which K are timed, and by how many launches: of sweep, and of validate with --bench. */
export interface BenchFlags {
  KRange?: number[]
  KStep: number
  warmup?: number
  reps?: number
}

export function addBenchFlags(command: Command): Command {
  return command
    .option('--K-range <bounds...>', 'first and last K that is timed', collectIntegers)
    .option('--K-step <step>', 'distance of the values in --K-range', positiveInteger, 512)
    .option('--warmup <launches>', 'exactly this many launches of warm-up', positiveInteger)
    .option('--reps <count>', 'exactly this many samples per point', positiveInteger)
}

function collectIntegers(text: string, before: number[] = []): number[] {
  return [...before, positiveInteger(text)]
}

/** What validate and sweep have in common. */
export function addJobFlags(command: Command): Command {
  return withSpellings(command, tutorialSpellings)
    .option(
      '--formats <list>',
      `formats, comma-separated; "all" with a short name, or all "pairs" of elements (default: ${defaults.formats.join(',')})`,
      wordList
    )
    .option(
      '--kernels <list>',
      'kernel ids; auto: the fastest exact one for each problem, by the cost model (default: every kernel that can do the format)',
      wordList
    )
    .option(
      '--providers <list>',
      'only kernels that come from these: blockscope, Triton, ... (devices lists them)',
      wordList
    )
    .option(
      '--device <id>',
      'cpu, cuda:0, ... or auto: the first GPU, else the CPU',
      defaults.device
    )
    .option('--seed <number>', 'seed of the operands and of the order', wholeNumber, defaults.seed)
    .addOption(
      new Option('--dist <name>', 'distribution of the operands')
        .choices(distributions)
        .default(defaults.distribution)
    )
    .addOption(
      new Option(
        '--out <type>',
        `type of C (default: ${defaults.output}; ${defaults.outputOfFiles} for operands from a file)`
      ).choices(outputTypes)
    )
    .option('--out-scale <factor>', 'C times this, rounded to e4m3 or e5m2', positiveNumber, 1)
    .addOption(bOrderOption())
    .addOption(
      new Option('--beta <factor>', '1: a float32 accumulator is added to A x B')
        .choices(['0', '1'])
        .default('0')
    )
    .option('--batch <dims>', 'batch dimensions of A and B: 4 or 2,3', integerList)
    .option('--batch-a <dims>', 'of A alone; they broadcast as matmul broadcasts', integerList)
    .option('--batch-b <dims>', 'of B alone', integerList)
    .option('--store <folder>', 'folder of runs (default: $BLOCKSCOPE_STORE or the data folder)')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .option(
      '--provider <file...>',
      'file of Python kernels of your own (blockscope provider new), or a bundled one by its name: torch_bf16'
    )
    .option('--json', 'print the run as JSON instead of a table')
}
