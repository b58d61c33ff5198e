import { countMetric, numberColumn, type ProfileTree } from '../tree/profileTree'
import { findTime } from './amounts'
import { availableMetrics, deriveMetric } from './deriveMetric'

/** What a profile is first shown with: time, its share, and a rate; without time that of the CPU, or its first metric. */
export function suggestedMetrics(tree: ProfileTree): string[] {
  if (!findTime(tree, 'time')) return withoutTime(tree)
  return ['time/ms', 'time/%', ...rateOf(tree)]
}

/** What a list of kernels is shown with: what they have a value of, and counts where any ran more than once. */
export function suggestedForKernels(tree: ProfileTree): string[] {
  if (!findTime(tree, 'time')) return withoutTime(tree)
  const available = availableMetrics(tree)
  const ranOnce = numberColumn(tree, countMetric)?.values.every((count) => count <= 1) === true
  const wanted = ['time/ms', 'time/%', 'count', 'avg_time/us', ...rateOf(tree), 'gbyte/s', 'util']
  const known = wanted.filter(
    (name) =>
      available.includes(name) &&
      !(ranOnce && (name === 'count' || name === 'avg_time/us')) &&
      deriveMetric(tree, name).values.some((value) => value > 0)
  )
  return known.length > 0 ? known : ['time/ms']
}

/** One is enough: all operations first, else those of one width. */
function rateOf(tree: ProfileTree): string[] {
  return availableMetrics(tree)
    .filter((name) => /^tflop\d*\/s$/.test(name))
    .slice(0, 1)
}

/** Of a program that used no GPU, its own time. */
function withoutTime(tree: ProfileTree): string[] {
  if (findTime(tree, 'cpu_time')) return ['cpu_time/us']
  return tree.numbers.slice(0, 1).map((column) => column.name)
}
