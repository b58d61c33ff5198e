import { Command, InvalidArgumentError, Option } from 'commander'
import { UserError } from '@shared/errors'
import { demangle } from '@shared/profile/demangle'
import {
  availableMetrics,
  deriveMetric,
  findTime,
  type DerivedMetric
} from '@shared/profile/deriveMetric'
import { filterTree, isEmpty } from '@shared/profile/filterTree'
import { formatFrame, frameFormats, type FrameFormat } from '@shared/profile/frameFormat'
import { hotPath } from '@shared/profile/hotPath'
import { metricNames } from '@shared/profile/metricRequest'
import { compile } from '@shared/profile/nameMatcher'
import { nodeAtPath } from '@shared/profile/nodePath'
import { defaultDepth, formatValue, printTreeLines } from '@shared/profile/printTree'
import { metadataMask, nodeName, type ProfileTree } from '@shared/profile/profileTree'
import { protonMetricList, protonView } from '@shared/profile/protonView'
import { flattenByKernel, groupByCapture, invertCalls } from '@shared/profile/regroup'
import { isInclusive, ownValues, type RollUpRules } from '@shared/profile/rollUp'
import { visibleRows, type SortOrder } from '@shared/profile/visibleRows'
import { printDiff } from './diff'
import { openProfileFiles, printWarnings } from './profileFiles'

export interface ViewFlags {
  list?: boolean
  metrics?: string[]
  include?: string
  exclude?: string
  threshold?: number
  depth: number
  format: FrameFormat
  printSorted?: boolean
  diffProfile?: string
  proton?: boolean
  sort: 'chronological' | 'name' | 'metric'
  metadata?: boolean
  demangle: boolean
  hotPath?: boolean
  flat?: boolean
  inverted?: boolean
  node?: string
  group?: string
  json?: boolean
}

/** proton-viewer spells one long flag with a single dash, which commander would take for -d with the value 'iff'. */
class ViewCommand extends Command {
  override parseOptions(argv: string[]) {
    return super.parseOptions(argv.map((word) => (word === '-diff' ? '--diff-profile' : word)))
  }
}

export function register(program: Command): void {
  const view = new ViewCommand('view')
    .description(
      'A profile as a tree. Takes the flags of proton-viewer, and any profile it can read.'
    )
    .argument(
      '<files...>',
      'profile, or the parts of one; .hatchet, .hatchet_msgpack, chrome trace, run folder'
    )
    .option('-l, --list', 'list the metrics of the profile')
    .option('-m, --metrics <a,b>', 'metrics to show, such as time/ms,tflop8/s,util', commaList)
    .option(
      '-i, --include <text>',
      'keep paths through names with this text, /regex/ or "a > ** > b"'
    )
    .option(
      '-e, --exclude <text>',
      'drop names with this text, /regex/ or path, and all below them'
    )
    .option('-t, --threshold <value>', 'keep nodes whose first metric is at least this', finite)
    .option('-d, --depth <n>', 'levels to show', wholeNumber, defaultDepth)
    .addOption(
      new Option('-f, --format <form>', 'form of source names')
        .choices(frameFormats)
        .default('full')
    )
    .option('--print-sorted', 'also list all nodes by the first metric, largest first')
    .option('--diff-profile <file>', 'show the difference to this profile (-diff in proton-viewer)')
    .option('--proton', "print exactly proton-viewer's text")
    .addOption(
      new Option('--sort <order>', 'order of siblings')
        .choices(['chronological', 'name', 'metric'])
        .default('chronological')
    )
    .option('--metadata', 'show and count launch-metadata subtrees')
    .option('--no-demangle', 'C++ names as they are mangled')
    .option('--hot-path', 'only the path of the largest values of the first metric')
    .option('--flat', 'one row per kernel name')
    .option('--inverted', 'one row per kernel name, and below it who calls it')
    .option('--node <path>', 'only the subtree of the node at this path: "step 1 > matmul"')
    .option('--group <regex>', "one row per captured text: --group 'K=(\\d+)'")
    .option('--json', 'print as JSON')
    .action((files: string[], flags: ViewFlags) => printView(files, flags))
  program.addCommand(view)
}

function printView(files: string[], flags: ViewFlags): void {
  if (flags.proton && flags.include && flags.exclude) {
    throw new UserError(
      'usage',
      'proton-viewer takes --include or --exclude, not both: leave one or --proton out.'
    )
  }
  if (flags.flat && flags.inverted)
    throw new UserError('usage', '--flat and --inverted exclude each other: leave one out.')
  const opened = openProfileFiles(files)
  printWarnings(opened)
  if (flags.proton) return printLikeProton(opened, flags)
  const rules: RollUpRules = { proton: false, metadata: flags.metadata === true }
  if (flags.list) return list(opened, flags, rules)
  const shortName = flags.demangle ? demangle : (name: string) => name
  const tree = regrouped(opened, flags, shortName, rules)
  if (flags.diffProfile) {
    const metric = flags.metrics?.[0] ?? defaultMetrics(tree)[0]!
    return printDiff(
      [flags.diffProfile, files[0]!],
      [regrouped(openProfileFiles([flags.diffProfile]), flags, shortName, rules), tree],
      {
        ...flags,
        metric
      }
    )
  }
  const held = metadataNote(opened, rules)
  const requests = flags.metrics ?? defaultMetrics(tree)
  const metrics = requests.map((request) => deriveMetric(tree, request, rules))
  const shown = shownNodes(tree, metrics[0]!, flags, rules)
  const sort = sortOrder(flags, metrics[0]!)
  const nameOf = (node: number) => formatFrame(shortName(nodeName(tree, node)), flags.format)
  const rows = visibleRows(tree, 'all', { sort, shown, depth: flags.depth })
  if (flags.json) return printJson(tree, metrics, rows, nameOf)
  print(printTreeLines(tree, metrics, { sort, shown, depth: flags.depth, nameOf }))
  if (held) process.stdout.write(`\n${held}\n`)
  if (flags.printSorted) printSorted(tree, metrics[0]!, shown, nameOf)
}

/** Under the headings that the flags ask for. */
function regrouped(
  opened: ProfileTree,
  { flat, inverted, group }: ViewFlags,
  shortName: (name: string) => string,
  rules: RollUpRules
): ProfileTree {
  let tree = opened
  if (flat) tree = flattenByKernel(tree, shortName, rules)
  if (inverted) tree = invertCalls(tree, shortName, rules)
  if (group) tree = groupByCapture(tree, groupExpression(group), shortName, rules)
  return tree
}

function printLikeProton(tree: ProfileTree, flags: ViewFlags): void {
  if (flags.list) {
    process.stdout.write(protonMetricList(tree))
    return
  }
  const metrics = flags.metrics ?? []
  if (metrics.length > 2)
    process.stderr.write('--proton shows two metrics; the rest are left out.\n')
  const minus = flags.diffProfile ? openProfileFiles([flags.diffProfile]) : undefined
  process.stdout.write(
    protonView(tree, {
      metrics,
      include: flags.include,
      exclude: flags.exclude,
      threshold: flags.threshold,
      depth: flags.depth,
      format: flags.format,
      printSorted: flags.printSorted === true,
      minus
    })
  )
}

function list(tree: ProfileTree, flags: ViewFlags, rules: RollUpRules): void {
  const derived = availableMetrics(tree).slice(0, -metricNames(tree).length || undefined)
  const numbers = tree.numbers.map((column) => column.name)
  const inclusive = numbers.filter((name) => isInclusive(tree, name, rules))
  const exclusive = numbers.filter((name) => !isInclusive(tree, name, rules))
  const others = metricNames(tree).filter((name) => !numbers.includes(name))
  if (flags.json) {
    process.stdout.write(
      JSON.stringify({ inclusive, exclusive, other: others, derived }, null, 2) + '\n'
    )
    return
  }
  const section = (title: string, names: string[]) =>
    names.length > 0 ? `${title}\n${names.map((name) => `- ${name}\n`).join('')}` : ''
  process.stdout.write(
    section('Summed over the subtree:', inclusive) +
      section('On their own node only:', exclusive) +
      section('Text and vectors:', others) +
      section('Derived:', derived)
  )
}

function defaultMetrics(tree: ProfileTree): string[] {
  const available = availableMetrics(tree)
  if (!findTime(tree, 'time')) {
    const first = tree.numbers[0]?.name
    if (first === undefined) throw new UserError('usage', 'The profile has no metrics to show.')
    return [first]
  }
  const rate = available.find((name) => /^tflop\d*\/s$/.test(name))
  return ['time/ms', 'time/%', ...(rate ? [rate] : [])]
}

function shownNodes(
  tree: ProfileTree,
  first: DerivedMetric,
  flags: ViewFlags,
  rules: RollUpRules
): Uint8Array {
  const { include, exclude, threshold } = flags
  const shown = filterTree(
    tree,
    {
      include,
      exclude,
      threshold: threshold ? { values: first.values, atLeast: threshold } : undefined,
      below: flags.node === undefined ? undefined : existingNode(tree, flags.node)
    },
    rules
  )
  if (isEmpty(shown)) {
    const what = include ? `No name matches '${include}'` : 'The filter leaves no node'
    throw new UserError('usage', `${what} in this profile of ${tree.count} nodes.`)
  }
  if (!flags.hotPath) return shown
  const path = new Uint8Array(tree.count)
  for (const node of hotPath(tree, first.values)) path[node] = shown[node]!
  return path
}

/** Throws a UserError when there is none. */
function existingNode(tree: ProfileTree, path: string): number {
  const node = nodeAtPath(tree, path)
  if (node >= 0) return node
  throw new UserError(
    'usage',
    `--node '${path}': the profile has no node at this path; names are separated by ' > '.`
  )
}

function sortOrder(flags: ViewFlags, first: DerivedMetric): SortOrder {
  if (flags.sort !== 'metric') return { by: flags.sort }
  return { by: 'metric', values: first.values, descending: true }
}

function groupExpression(text: string): RegExp {
  return compile(text.replace(/^\/(.*)\/$/, '$1'), '', text)
}

/** Time that launch metadata held and the totals leave out. */
function metadataNote(tree: ProfileTree, rules: RollUpRules): string {
  const time = findTime(tree, 'time')
  if (rules.metadata || !time) return ''
  const mask = metadataMask(tree)
  if (!mask.includes(1)) return ''
  const values = ownValues(tree, time.metric, { proton: false, metadata: true })
  let total = 0
  values.forEach((value, node) => (total += mask[node] && !Number.isNaN(value) ? value : 0))
  const us = formatValue(total * time.seconds * 1e6)
  return `Launch metadata held ${us} us, not counted above; --metadata counts it.`
}

function printJson(
  tree: ProfileTree,
  metrics: readonly DerivedMetric[],
  rows: Int32Array,
  nameOf: (node: number) => string
): void {
  const json = Array.from(rows, (node) => {
    const values: [string, unknown][] = []
    const missing: [string, string][] = []
    for (const { label, text, values: column, reason } of metrics) {
      const value = text ? text(node) || null : Number.isNaN(column[node]) ? null : column[node]
      values.push([label, value])
      if (value === null) missing.push([label, reason(node)])
    }
    return {
      name: nameOf(node),
      depth: tree.depth[node],
      metrics: Object.fromEntries(values),
      ...(missing.length > 0 && { missing: Object.fromEntries(missing) })
    }
  })
  process.stdout.write(
    JSON.stringify({ metrics: metrics.map((metric) => metric.label), rows: json }, null, 2) + '\n'
  )
}

function printSorted(
  tree: ProfileTree,
  metric: DerivedMetric,
  shown: Uint8Array,
  nameOf: (node: number) => string
): void {
  const rows = visibleRows(tree, 'all', { shown }).filter((node) => tree.parent[node]! >= 0)
  const value = (node: number) =>
    Number.isNaN(metric.values[node]) ? -Infinity : metric.values[node]!
  rows.sort((a, b) => value(b) - value(a) || a - b)
  process.stdout.write('\n')
  print(printTreeLines(tree, [metric], { rows, nameOf, reasons: false }))
}

/** In batches: a million small writes would take longer than the tree. */
export function print(lines: Iterable<string>): void {
  let batch = ''
  for (const line of lines) {
    batch += `${line}\n`
    if (batch.length < 1 << 16) continue
    process.stdout.write(batch)
    batch = ''
  }
  process.stdout.write(batch)
}

export function commaList(text: string): string[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (words.length === 0) throw new InvalidArgumentError('It names no metric.')
  return words
}

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1)
    throw new InvalidArgumentError('A whole number above 0 is needed.')
  return value
}

function finite(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value))
    throw new InvalidArgumentError('A number is needed.')
  return value
}
