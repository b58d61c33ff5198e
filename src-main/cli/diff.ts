import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import { ask, refuseEmpty } from '@shared/profile/ask/ask'
import { profileNames } from '@shared/profile/ask/profileNames'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { comparisonJson } from '@shared/profile/write/answerJson'
import { printTreeLines } from '@shared/profile/write/printTree'
import { print, printJson, printNote } from '../ground/terminal'
import { openProfileFile, printWarnings } from './profileFiles'
import { addQueryFlags, queryOf, type QueryFlags } from './queryFlags'

interface DiffFlags extends QueryFlags {
  metric?: string
  json?: boolean
}

export function register(program: Command): void {
  const diff = program
    .command('diff')
    .description(
      'Profiles side by side: each value, the change from the first to the last, new and gone nodes.'
    )
    .argument(
      '<files...>',
      'two or more profiles or runs (folder, id or "latest"); the first is the base'
    )
    .option('-m, --metric <name>', 'metric to compare (default: time/ms, or what there is)')
  addQueryFlags(diff, 'change').option('--json', 'print as JSON').action(printDiff)
}

async function printDiff(files: string[], flags: DiffFlags): Promise<void> {
  if (files.length < 2) throw new UserError('usage', 'diff needs two profiles or more: diff A B.')
  const trees: ProfileTree[] = []
  for (const file of files) {
    const { tree } = await openProfileFile(file)
    printWarnings(tree)
    trees.push(tree)
  }
  const query = {
    ...queryOf(flags, flags.metric === undefined ? undefined : [flags.metric]),
    names: profileNames(files)
  }
  const answer = ask(trees[trees.length - 1]!, query, trees.slice(0, -1))
  refuseEmpty(answer, query)
  answer.remarks.forEach((remark) => printNote(remark))
  if (flags.json) return printJson(comparisonJson(files, answer))
  print(printTreeLines(answer))
}
