import { Option, type Command } from 'commander'
import { distributions } from '@shared/contract/jobs'
import { positiveInteger, wholeNumber, wordList } from './arguments'

/** The four formats of the Triton tutorial. */
export const tutorialFormats = ['nvfp4', 'mxfp4', 'mxfp8', 'mixed']

export interface JobFlags {
  formats: string[]
  kernels?: string[]
  M?: number
  N?: number
  device: string
  seed: number
  dist: (typeof distributions)[number]
  out?: 'f16' | 'bf16' | 'f32' | 'e4m3'
  store?: string
  kernelDir?: string[]
  json?: boolean
}

/** What validate and sweep have in common. */
export function addJobFlags(command: Command): Command {
  return command
    .option('--formats <list>', 'formats, comma-separated, or "all"', wordList, tutorialFormats)
    .option(
      '--kernels <list>',
      'kernel ids (default: every kernel that can do the format)',
      wordList
    )
    .option('-M <rows>', 'rows of A and C', positiveInteger)
    .option('-N <columns>', 'rows of B, columns of C', positiveInteger)
    .option('--device <id>', 'cpu, cuda:0, ... or auto: the first GPU, else the CPU', 'auto')
    .option('--seed <number>', 'seed of the operands and of the order', wholeNumber, 42)
    .addOption(
      new Option('--dist <name>', 'distribution of the operands')
        .choices(distributions)
        .default('normal')
    )
    .addOption(
      new Option('--out <type>', 'type of C (default: f16; f32 for operands from a file)').choices([
        'f16',
        'bf16',
        'f32',
        'e4m3'
      ])
    )
    .option('--store <folder>', 'folder of runs (default: $BLOCKSCOPE_STORE or the data folder)')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .option('--json', 'print the run as JSON instead of a table')
}
