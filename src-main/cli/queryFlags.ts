/** The flags of a question about a profile, the same in every command that asks one. */
import { Option, type Command } from 'commander'
import { defaultDepth, type Query } from '@shared/profile/ask/ask'
import type { Arrangement } from '@shared/profile/ask/arrange'
import { frameFormats, type FrameFormat } from '@shared/profile/ask/frameFormat'
import { finiteNumber, positiveInteger } from './arguments'

export interface QueryFlags {
  include?: string
  exclude?: string
  threshold?: number
  depth: number
  format: FrameFormat
  sort: 'chronological' | 'name' | 'metric' | 'change'
  metadata?: boolean
  demangle: boolean
  short?: boolean
  hotPath?: boolean
  flat?: boolean
  inverted?: boolean
  group?: string
  node?: string
  byName?: boolean
}

/** @param byValue what --sort calls the order of values. */
export function addQueryFlags<C extends Command>(command: C, byValue: 'metric' | 'change'): C {
  return command
    .option(
      '-i, --include <text>',
      'keep paths through names with this text, /regex/ or "a > ** > b"'
    )
    .option(
      '-e, --exclude <text>',
      'drop names with this text, /regex/ or path, and all below them'
    )
    .option(
      '-t, --threshold <value>',
      'keep nodes whose first metric is at least this, 0 included',
      finiteNumber
    )
    .option('-d, --depth <n>', 'levels to show', positiveInteger, defaultDepth)
    .addOption(
      new Option('-f, --format <form>', 'form of source names')
        .choices(frameFormats)
        .default('full')
    )
    .addOption(
      new Option('--sort <order>', 'order of siblings')
        .choices(['chronological', 'name', byValue])
        .default('chronological')
    )
    .option('--metadata', 'show and count launch-metadata subtrees')
    .option('--no-demangle', 'C++ names as they are mangled')
    .option('--short', 'names as the app shortens them')
    .option('--hot-path', 'only the path of the largest values')
    .option('--flat', 'one row per kernel name')
    .option('--inverted', 'one row per kernel name, and below it who calls it')
    .option('--group <regex>', "one row per captured text: --group 'K=(\\d+)'")
    .option('--node <path>', 'only the subtree of the node at this path: "step 1 > matmul"')
    .option(
      '--by-name',
      'when comparing: also match names that differ only in extents, tiles or mangling'
    ) as C
}

export function queryOf(flags: QueryFlags, metrics: readonly string[] | undefined): Query {
  return {
    metrics,
    arrangement: arrangementOf(flags),
    include: flags.include,
    exclude: flags.exclude,
    threshold: flags.threshold,
    depth: flags.depth,
    sort: flags.sort === 'change' ? 'metric' : flags.sort,
    hotPath: flags.hotPath,
    metadata: flags.metadata,
    demangle: flags.demangle,
    short: flags.short,
    frame: flags.format,
    node: flags.node,
    byName: flags.byName
  }
}

function arrangementOf({ flat, inverted, group }: QueryFlags): Arrangement {
  if (flat) return 'flat'
  if (inverted) return 'inverted'
  return group === undefined ? 'tree' : { group }
}
