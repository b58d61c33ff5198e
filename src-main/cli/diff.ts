import type { Command } from 'commander'
import { basename } from 'node:path'
import { UserError } from '@shared/errors'
import { demangle } from '@shared/profile/demangle'
import type { DerivedMetric } from '@shared/profile/deriveMetric'
import {
  beyondNoise,
  diffTrees,
  inBoth,
  isGone,
  isNew,
  withinNoise,
  type TreeDiff
} from '@shared/profile/diffTrees'
import { filterTree } from '@shared/profile/filterTree'
import { nodeAtPath } from '@shared/profile/nodePath'
import { defaultDepth, printTreeLines } from '@shared/profile/printTree'
import { nodeName, type ProfileTree } from '@shared/profile/profileTree'
import { visibleRows, type RowOptions } from '@shared/profile/visibleRows'
import { openProfileFile, printWarnings } from './profileFiles'
import { print, wholeNumber } from './view'

interface DiffFlags {
  metric: string
  byName?: boolean
  include?: string
  exclude?: string
  node?: string
  depth: number
  sort?: string
  demangle: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('diff')
    .description(
      'Profiles side by side: each value, the change from the first to the last, new and gone nodes.'
    )
    .argument('<files...>', 'two or more profiles; the first is the base')
    .option('-m, --metric <name>', 'metric to compare', 'time/ms')
    .option('--by-name', 'also match names that differ only in extents, tiles or mangling')
    .option(
      '-i, --include <text>',
      'keep paths through names with this text, /regex/ or "a > ** > b"'
    )
    .option(
      '-e, --exclude <text>',
      'drop names with this text, /regex/ or path, and all below them'
    )
    .option('--node <path>', 'only the subtree of the node at this path: "step 1 > matmul"')
    .option('-d, --depth <n>', 'levels to show', wholeNumber, defaultDepth)
    .option('--sort <order>', 'order of siblings: chronological, name, change', 'chronological')
    .option('--no-demangle', 'C++ names as they are mangled')
    .option('--json', 'print as JSON')
    .action((files: string[], flags: DiffFlags) => {
      if (files.length < 2)
        throw new UserError('usage', 'diff needs two profiles or more: diff A B.')
      const trees = files.map((file) => openProfileFile(file).tree)
      trees.forEach(printWarnings)
      printDiff(files, trees, flags)
    })
}

/** Prints the difference of trees, of which the first is the base. */
export function printDiff(
  files: readonly string[],
  trees: readonly ProfileTree[],
  flags: DiffFlags
): void {
  const { include, exclude, node } = flags
  const isFiltered = include || exclude || node !== undefined
  const shown = isFiltered ? trees.map((tree) => shownOf(tree, flags)) : undefined
  const diff = diffTrees(trees, flags.metric, { byNormalisedName: flags.byName, shown })
  if (diff.tree.count === 0)
    throw new UserError('usage', 'The filter leaves no node in any of the profiles.')
  const order: RowOptions = { depth: flags.depth, sort: sortOf(flags, diff) }
  const nameOf = (node: number) => (flags.demangle ? demangle : String)(nodeName(diff.tree, node))
  if (flags.json) return printJson(files, diff, order, nameOf)
  const marked = (node: number) => `${nameOf(node)}${markOf(diff, node)}`
  print(
    printTreeLines(diff.tree, columns(files, diff), { ...order, nameOf: marked, reasons: false })
  )
}

/** A profile without the node that is asked for shows nothing: there it is new, or gone. */
function shownOf(tree: ProfileTree, { include, exclude, node }: DiffFlags): Uint8Array {
  const below = node === undefined ? undefined : nodeAtPath(tree, node)
  return below === -1 ? new Uint8Array(tree.count) : filterTree(tree, { include, exclude, below })
}

function sortOf(flags: DiffFlags, diff: TreeDiff): RowOptions['sort'] {
  switch (flags.sort) {
    case undefined:
    case 'chronological':
    case 'metric':
      return { by: 'chronological' }
    case 'name':
      return { by: 'name' }
    case 'change':
      return { by: 'metric', values: diff.change.map(Math.abs), descending: true }
    default:
      throw new UserError('usage', `--sort '${flags.sort}' is not chronological, name or change.`)
  }
}

function columns(files: readonly string[], diff: TreeDiff): DerivedMetric[] {
  const column = (label: string, values: Float64Array): DerivedMetric => ({
    label,
    column: label,
    inclusive: diff.isSum,
    values,
    text: null,
    reason: () => ''
  })
  const names = files.map((file) => basename(file).replace(/\.[^.]*$/, ''))
  return [
    ...diff.values.map((values, profile) => column(`${names[profile]} ${diff.metric}`, values)),
    column('change', diff.change),
    column('ratio', diff.ratio)
  ]
}

function markOf({ state, noise }: TreeDiff, node: number): string {
  if (state[node] === isNew) return ' (new)'
  if (state[node] === isGone) return ' (gone)'
  if (noise[node] === withinNoise) return ' (within noise)'
  return noise[node] === beyondNoise ? ' (beyond noise)' : ''
}

const stateNames = { [inBoth]: 'both', [isNew]: 'new', [isGone]: 'gone' }

function printJson(
  files: readonly string[],
  diff: TreeDiff,
  order: RowOptions,
  nameOf: (node: number) => string
): void {
  const number = (value: number) => (Number.isFinite(value) ? value : null)
  const rows = Array.from(visibleRows(diff.tree, 'all', order), (node) => ({
    name: nameOf(node),
    depth: diff.tree.depth[node],
    values: diff.values.map((values) => number(values[node]!)),
    change: number(diff.change[node]!),
    ratio: number(diff.ratio[node]!),
    state: stateNames[diff.state[node] as 0 | 1 | 2],
    noise: [null, 'within', 'beyond'][diff.noise[node]!]
  }))
  process.stdout.write(JSON.stringify({ files, metric: diff.metric, rows }, null, 2) + '\n')
}
