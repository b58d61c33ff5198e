import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import { demangle } from '@shared/profile/demangle'
import { availableMetrics, deriveMetric, findTime } from '@shared/profile/deriveMetric'
import { printTreeLines } from '@shared/profile/printTree'
import { nodeName, type ProfileTree } from '@shared/profile/profileTree'
import { flattenByKernel } from '@shared/profile/regroup'
import { orderedChildren } from '@shared/profile/visibleRows'
import { openProfileFiles, printWarnings } from './profileFiles'
import { commaList, print, wholeNumber } from './view'

interface TopFlags {
  number: number
  metrics?: string[]
  demangle: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('top')
    .description('The kernels that take the most, one row per name over the whole profile.')
    .argument('<files...>', 'profile, or the parts of one')
    .option('-n, --number <n>', 'rows to show', wholeNumber, 20)
    .option('-m, --metrics <a,b>', 'metrics to show; rows are in the order of the first', commaList)
    .option('--no-demangle', 'C++ names as they are mangled')
    .option('--json', 'print as JSON')
    .action(top)
}

function top(files: string[], flags: TopFlags): void {
  const profile = openProfileFiles(files)
  printWarnings(profile)
  const tree = flattenByKernel(profile, flags.demangle ? demangle : undefined)
  const metrics = (flags.metrics ?? defaultMetrics(tree)).map((name) => deriveMetric(tree, name))
  const sort = { by: 'metric', values: metrics[0]!.values, descending: true } as const
  const kernels = orderedChildren(tree, 0, { sort })
  const rows = Int32Array.from(kernels.slice(0, flags.number))
  if (flags.json) {
    const json = Array.from(rows, (node) => ({
      name: nodeName(tree, node),
      metrics: Object.fromEntries(
        metrics.map(({ label, values }) => [
          label,
          Number.isNaN(values[node]) ? null : values[node]
        ])
      )
    }))
    process.stdout.write(JSON.stringify({ kernels: kernels.length, rows: json }, null, 2) + '\n')
    return
  }
  print(printTreeLines(tree, metrics, { rows, reasons: false }))
  const left = kernels.length - rows.length
  if (left > 0) process.stdout.write(`${left} more; -n ${kernels.length} shows all.\n`)
}

function defaultMetrics(tree: ProfileTree): string[] {
  const available = availableMetrics(tree)
  if (findTime(tree, 'time')) {
    const wanted = [
      'time/ms',
      'time/%',
      'count',
      'avg_time/us',
      'tflop/s',
      'tflop8/s',
      'gbyte/s',
      'util'
    ]
    const possible = wanted.filter((name) => available.includes(name))
    const known = possible.filter((name) =>
      deriveMetric(tree, name).values.some((value) => value > 0)
    )
    return known.length > 0 ? known : possible.slice(0, 1)
  }
  const first = tree.numbers[0]?.name
  if (first === undefined)
    throw new UserError('usage', 'The profile has no metrics to sort kernels by.')
  return [first]
}
