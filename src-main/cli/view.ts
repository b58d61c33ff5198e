import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import { ask, refuseEmpty } from '@shared/profile/ask/ask'
import { availableMetrics } from '@shared/profile/ask/deriveMetric'
import { metricNames } from '@shared/profile/ask/metricRequest'
import { profileNames } from '@shared/profile/ask/profileNames'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { isInclusive, ourRules } from '@shared/profile/tree/rollUp'
import { answerJson, comparisonJson } from '@shared/profile/write/answerJson'
import { notesOn } from '@shared/profile/write/notes'
import { printTreeLines } from '@shared/profile/write/printTree'
import { protonMetricList, protonView } from '@shared/profile/write/protonView'
import { print, printJson, printNote, printText } from '../ground/terminal'
import { commaList, withSpellings } from './arguments'
import { openProfileFiles, printWarnings } from './profileFiles'
import { addQueryFlags, queryOf, type QueryFlags } from './queryFlags'

interface ViewFlags extends QueryFlags {
  list?: boolean
  metrics?: string[]
  printSorted?: boolean
  diffProfile?: string
  proton?: boolean
  json?: boolean
}

export function register(program: Command): void {
  // proton-viewer spells one long flag with a single dash, which commander would take for -d with the value 'iff'.
  const view = withSpellings(program.command('view'), { '-diff': '--diff-profile' })
    .description(
      'A profile as a tree. Takes the flags of proton-viewer, and any profile it can read.'
    )
    .argument(
      '<files...>',
      'profile, the parts or ranks of one, or a run: its folder, its id or "latest"'
    )
    .option('-l, --list', 'list the metrics of the profile')
    .option('-m, --metrics <a,b>', 'metrics to show, such as time/ms,tflop8/s,util', commaList)
  addQueryFlags(view, 'metric')
    .option('--print-sorted', 'also list all nodes by the first metric, largest first')
    .option('--diff-profile <file>', 'show the difference to this profile (-diff in proton-viewer)')
    .option('--proton', "print exactly proton-viewer's text")
    .option('--json', 'print as JSON')
    .action(printView)
}

async function printView(files: string[], flags: ViewFlags): Promise<void> {
  if (flags.proton && flags.include && flags.exclude) {
    throw new UserError(
      'usage',
      'proton-viewer takes --include or --exclude, not both: leave one or --proton out.'
    )
  }
  const opened = await openProfileFiles(files)
  printWarnings(opened)
  const base = flags.diffProfile ? await openProfileFiles([flags.diffProfile]) : undefined
  if (base) printWarnings(base)
  if (flags.proton) return printLikeProton(opened, flags, base)
  if (flags.list) return list(opened, flags)
  const compared = base ? [flags.diffProfile!, files[0]!] : []
  const query = { ...queryOf(flags, flags.metrics), names: profileNames(compared) }
  const answer = ask(opened, query, base ? [base] : [])
  refuseEmpty(answer, query)
  answer.remarks.forEach((remark) => printNote(remark))
  if (flags.json) return printJson(base ? comparisonJson(compared, answer) : answerJson(answer))
  print(printTreeLines(answer))
  const notes = notesOn(opened, query)
  if (notes.length > 0) print(['', ...notes])
  if (!flags.printSorted) return
  const sorted = { ...query, metrics: query.metrics?.slice(0, 1), list: Infinity }
  print('')
  print(printTreeLines(ask(opened, sorted, base ? [base] : [])))
}

function printLikeProton(
  tree: ProfileTree,
  flags: ViewFlags,
  minus: ProfileTree | undefined
): void {
  if (flags.list) {
    printText(protonMetricList(tree))
    return
  }
  const metrics = flags.metrics ?? []
  if (metrics.length > 2) printNote('--proton shows two metrics; the rest are left out.')
  printText(
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

function list(tree: ProfileTree, flags: ViewFlags): void {
  const derived = availableMetrics(tree).slice(0, -metricNames(tree).length || undefined)
  const numbers = tree.numbers.map((column) => column.name)
  const inclusive = numbers.filter((name) => isInclusive(tree, name, ourRules))
  const exclusive = numbers.filter((name) => !isInclusive(tree, name, ourRules))
  const others = metricNames(tree).filter((name) => !numbers.includes(name))
  if (flags.json) return printJson({ inclusive, exclusive, other: others, derived })
  const section = (title: string, names: string[]) =>
    names.length > 0 ? [title, ...names.map((name) => `- ${name}`)] : []
  print([
    ...section('Summed over the subtree:', inclusive),
    ...section('On their own node only:', exclusive),
    ...section('Text and vectors:', others),
    ...section('Derived:', derived)
  ])
}
