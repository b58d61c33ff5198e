import type { Command } from 'commander'
import { ask, refuseEmpty } from '@shared/profile/ask/ask'
import { arranged } from '@shared/profile/ask/arrange'
import { suggestedForKernels } from '@shared/profile/ask/suggestedMetrics'
import { ourRules } from '@shared/profile/tree/rollUp'
import { printTreeLines } from '@shared/profile/write/printTree'
import { print, printJson } from '../ground/terminal'
import { commaList, positiveInteger } from './arguments'
import { openProfileFiles, printWarnings } from './profileFiles'

interface TopFlags {
  number: number
  metrics?: string[]
  demangle: boolean
  short?: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('top')
    .description('The kernels that take the most, one row per name over the whole profile.')
    .argument(
      '<files...>',
      'profile, the parts or ranks of one, or a run: its folder, its id or "latest"'
    )
    .option('-n, --number <n>', 'rows to show', positiveInteger, 20)
    .option('-m, --metrics <a,b>', 'metrics to show; rows are in the order of the first', commaList)
    .option('--no-demangle', 'C++ names as they are mangled')
    .option('--short', 'names as the app shortens them')
    .option('--json', 'print as JSON')
    .action(top)
}

async function top(files: string[], flags: TopFlags): Promise<void> {
  const profile = await openProfileFiles(files)
  printWarnings(profile)
  const shape = { arrangement: 'flat', demangle: flags.demangle } as const
  const metrics = flags.metrics ?? suggestedForKernels(arranged(profile, shape, ourRules))
  const query = { ...shape, metrics, list: flags.number, short: flags.short }
  const answer = ask(profile, query)
  refuseEmpty(answer, query)
  const { columns, rows, rowCount, nameOf } = answer
  if (flags.json) {
    const json = Array.from(rows, (node) => ({
      name: nameOf(node),
      metrics: Object.fromEntries(
        columns.map(({ label, values }) => [
          label,
          Number.isNaN(values[node]) ? null : values[node]
        ])
      )
    }))
    printJson({ kernels: rowCount, rows: json })
    return
  }
  print(printTreeLines(answer))
  const left = rowCount - rows.length
  if (left > 0) print(`${left} more; -n ${rowCount} shows all.`)
}
