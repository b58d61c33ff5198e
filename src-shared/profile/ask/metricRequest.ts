/** What a metric's name asks for: Proton's names, plus flop4, parent% and min/max per launch. */
import { UserError } from '../../errors'
import { didYouMean } from '../../knownName'
import type { OperandWidth } from '../../measurement/peaks'
import type { ProfileTree } from '../tree/profileTree'

export type TimeUnit = 's' | 'ms' | 'us' | 'ns'
export const secondsPer: Record<TimeUnit, number> = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 }

export type MetricRequest =
  | {
      kind: 'time' | 'avg_time' | 'min_time' | 'max_time' | 'cpu_time' | 'avg_cpu_time'
      unit: TimeUnit
    }
  | { kind: 'flops'; width: OperandWidth | null; factor: number }
  | { kind: 'bandwidth'; factor: number }
  | { kind: 'util' }
  | { kind: 'in_unit'; metric: string; from: TimeUnit; unit: TimeUnit }
  | { kind: 'percent'; of: 'total' | 'parent'; metric: string }
  | { kind: 'raw'; metric: string }

const factors: Record<string, number> = { '': 1, g: 1e9, t: 1e12 }

/** What can be asked for beside the raw names, as people write it. */
const derivedNames = [
  ...['time', 'avg_time', 'min_time', 'max_time', 'cpu_time'].flatMap((name) =>
    Object.keys(secondsPer).map((unit) => `${name}/${unit}`)
  ),
  ...['', 4, 8, 16, 32, 64].map((width) => `tflop${width}/s`),
  ...['gbyte/s', 'tbyte/s', 'util', 'time/%', 'time/parent%']
]

/** A metric name to what it asks for. Raw names are looked up in the tree first, so that a user's metric wins. */
export function parseMetricRequest(tree: ProfileTree, request: string): MetricRequest {
  const text = request.trim()
  const lower = text.toLowerCase()
  const raw = findMetric(tree, text)
  if (raw !== undefined) return { kind: 'raw', metric: raw }
  const time = /^((?:avg_|min_|max_)?time|(?:avg_)?cpu_time)\/(s|ms|us|ns)$/.exec(lower)
  if (time) return { kind: time[1] as 'time', unit: time[2] as TimeUnit }
  const flops = /^([gt]?)flop(4|8|16|32|64)?\/s$/.exec(lower)
  if (flops) {
    const width = flops[2] ? (Number(flops[2]) as OperandWidth) : null
    return { kind: 'flops', width, factor: factors[flops[1]!]! }
  }
  const bandwidth = /^([gt]?)byte\/s$/.exec(lower)
  if (bandwidth) return { kind: 'bandwidth', factor: factors[bandwidth[1]!]! }
  if (lower === 'util') return { kind: 'util' }
  const inUnit = /^(.+)\/(s|ms|us|ns)$/.exec(lower)
  const metric = inUnit ? findMetric(tree, inUnit[1]!) : undefined
  const from = metric && unitOf(metric)
  if (from) return { kind: 'in_unit', metric, from, unit: inUnit![2] as TimeUnit }
  const percent = /^(.+)\/(parent)?%$/.exec(text)
  if (percent) {
    const metric = requireMetric(tree, percent[1]!)
    return { kind: 'percent', of: percent[2] ? 'parent' : 'total', metric }
  }
  throw notFound(tree, text)
}

/** Proton's match: the raw name, or the lower-cased name without its unit. Undefined when nothing matches. */
export function findMetric(tree: ProfileTree, request: string): string | undefined {
  const lower = request.trim().toLowerCase()
  const names = metricNames(tree)
  return (
    names.find((name) => name === request || name.toLowerCase() === lower) ??
    names.find((name) => withoutUnit(name) === lower)
  )
}

export function requireMetric(tree: ProfileTree, request: string): string {
  const found = findMetric(tree, request)
  if (found === undefined) throw notFound(tree, request)
  return found
}

export function metricNames(tree: ProfileTree): string[] {
  const vectors = new Set(tree.vectors.map((vector) => vector.name))
  return [
    ...new Set([
      ...tree.numbers.map((column) => column.name),
      ...tree.texts.map((column) => column.name),
      ...vectors
    ])
  ]
}

/** 'time (ns)' -> 'ns'; undefined where it is no time. */
export function unitOf(name: string): TimeUnit | undefined {
  return /\((s|ms|us|ns)\)/.exec(name)?.[1] as TimeUnit | undefined
}

/** 'time (ns)' -> 'time' */
export function withoutUnit(name: string): string {
  return name.split('(')[0]!.trim().toLowerCase()
}

function notFound(tree: ProfileTree, request: string): UserError {
  const units = /^(.+)\/([^/]+)$/.exec(request)
  const known = ['time', 'avg_time', 'min_time', 'max_time', 'cpu_time', 'avg_cpu_time']
  if (units && known.includes(units[1]!.toLowerCase())) {
    return new UserError(
      'usage',
      `Metric '${request}': '${units[2]}' is not a unit of ${units[1]}; use s, ms, us, ns, % or parent%.`
    )
  }
  const names = metricNames(tree).slice(0, 12)
  const has =
    names.length > 0 ? `The profile has: ${names.join(', ')}.` : 'The profile has no metrics.'
  const near = didYouMean(request, [...metricNames(tree), ...derivedNames])
  return new UserError('usage', `Metric '${request}' is not found.${near} ${has} --list shows all.`)
}
