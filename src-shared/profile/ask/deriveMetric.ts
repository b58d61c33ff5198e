/** Metrics of every node from the columns of a profile, by Proton's formulas, with the reason where there is none. */
import { UserError } from '../../errors'
import { launchExtremes } from './launchExtremes'
import { findTime, missing, notRecorded, quotient, rootSum, seconds } from './amounts'
import { metricNames, parseMetricRequest, secondsPer, type MetricRequest } from './metricRequest'
import { numberColumn, ownText, textColumn, type ProfileTree } from '../tree/profileTree'
import { totalSampledMetric } from '../tree/operation'
import { isInclusive, metricValues, ourRules, type RollUpRules } from '../tree/rollUp'
import { utilisation } from './utilisation'

export interface DerivedMetric {
  /** As asked for: 'tflop8/s'. The unit is part of it. */
  label: string
  /** Proton's name of the column: 'tflop8/s (inc)'. */
  column: string
  inclusive: boolean
  /** Per node; NaN where the value is not available. Shared between callers: do not write into it. */
  values: Float64Array
  /** For text properties such as device_id; '' where absent. */
  text: ((node: number) => string) | null
  /** Why values[node] is NaN, as part of a sentence: 'no bytes recorded under this scope'. */
  reason: (node: number) => string
}

/** A metric by its formula: what a view of one node needs of it. */
export interface MetricFormula extends Omit<DerivedMetric, 'values'> {
  valueAt: (node: number) => number
  /** Where the values of all nodes stand in memory already. */
  values?: Float64Array
}

/**
 * Values of one metric for every node.
 * @throws UserError when the profile cannot give the metric anywhere.
 */
export function deriveMetric(
  tree: ProfileTree,
  request: string,
  rules: RollUpRules = ourRules
): DerivedMetric {
  const { valueAt, values, ...metric } = metricFormula(tree, request, rules)
  if (values) return { ...metric, values }
  const all = new Float64Array(tree.count)
  for (let node = 0; node < tree.count; node++) all[node] = valueAt(node)
  return { ...metric, values: all }
}

/**
 * One metric, worked out for a node when it is asked for.
 * @param request Proton's name (time/ms, avg_time/us, tflop8/s, gbyte/s, util, time/%, a raw name), or ours: tflop4/s,
 *   min_time/us, max_time/us, time/parent%.
 * @throws UserError when the profile cannot give the metric anywhere.
 */
export function metricFormula(
  tree: ProfileTree,
  request: string,
  rules: RollUpRules = ourRules
): MetricFormula {
  const label = request.trim()
  const parsed = parseMetricRequest(tree, label)
  switch (parsed.kind) {
    case 'raw':
      return rawMetric(tree, label, parsed.metric, rules)
    case 'percent':
      return percent(tree, label, parsed, rules)
    case 'util': {
      const { values, reason } = utilisation(tree, rules)
      const inclusive = !rules.proton
      return { label, column: 'util', inclusive, text: null, ...stored(values), reason }
    }
    case 'in_unit': {
      const { metric, from, unit } = parsed
      const { values: _raw, ...raw } = rawMetric(tree, label, metric, rules)
      const [given, asked] = [secondsPer[from], secondsPer[unit]]
      const valueAt = (node: number) => converted(raw.valueAt(node), given, asked, rules)
      return { ...raw, valueAt, column: raw.inclusive ? `${label} (inc)` : label }
    }
    case 'flops': {
      const metric = parsed.width === null ? 'flops' : `flops${parsed.width}`
      return rate(tree, label, metric, parsed.factor, rules)
    }
    case 'bandwidth':
      return rate(tree, label, 'bytes', parsed.factor, rules)
    case 'min_time':
    case 'max_time': {
      const { values, reason } = launchExtremes(tree, parsed.kind, rules)
      const asked = secondsPer[parsed.unit]
      const valueAt = (node: number) => converted(values[node]!, secondsPer.ns, asked, rules)
      return { label, column: `${label} (inc)`, inclusive: true, text: null, valueAt, reason }
    }
    default:
      return timeMetricOf(tree, label, parsed, rules)
  }
}

const stored = (values: Float64Array) => ({ values, valueAt: (node: number) => values[node]! })

/** Requests that deriveMetric can answer for this profile, most asked for first. */
export function availableMetrics(tree: ProfileTree): string[] {
  const has = (name: string) => numberColumn(tree, name) !== undefined
  const time = findTime(tree, 'time') !== undefined
  const available: string[] = []
  if (time) available.push('time/ms', 'time/us', 'time/%', 'time/parent%')
  if (time && has('flops')) available.push('tflop/s')
  for (const width of [4, 8, 16, 32, 64]) {
    if (time && has(`flops${width}`)) available.push(`tflop${width}/s`)
  }
  if (time && has('bytes')) available.push('gbyte/s')
  if (time && tree.devices.length > 0) available.push('util')
  if (time && has('count')) available.push('avg_time/us')
  if (has(totalSampledMetric)) available.push('total sampled/ms')
  if (tree.samples) available.push('min_time/us', 'max_time/us')
  if (findTime(tree, 'cpu_time')) available.push('cpu_time/us')
  return [...available, ...metricNames(tree)]
}

/**
 * From one unit of time to another, both in seconds, over a count; by a whole number, so that 4000 ns are 4 us exactly.
 * Under Proton's rules in proton-viewer's order, on which the last digit printed depends.
 */
function converted(
  value: number,
  from: number,
  to: number,
  rules: RollUpRules,
  count?: number
): number {
  if (rules.proton) return over(value * from, count) / to
  return inWholes(over(value, count), from, to)
}

const over = (value: number, count: number | undefined) =>
  count === undefined ? value : quotient(value, count)

function inWholes(value: number, from: number, to: number): number {
  return to >= from ? value / Math.round(to / from) : value * Math.round(from / to)
}

function rawMetric(
  tree: ProfileTree,
  label: string,
  metric: string,
  rules: RollUpRules
): MetricFormula {
  const inclusive = numberColumn(tree, metric) !== undefined && isInclusive(tree, metric, rules)
  const column = inclusive ? `${metric} (inc)` : metric
  const reason = notRecorded(tree, metric, rules)
  if (numberColumn(tree, metric)) {
    const values = metricValues(tree, metric, rules)
    return { label, column, inclusive, ...stored(values), text: null, reason }
  }
  const texts = textColumn(tree, metric)
  const vectors = new Map(
    tree.vectors
      .filter((vector) => vector.name === metric)
      .map((vector) => [vector.node, `[${[...vector.values].join(', ')}]`])
  )
  return {
    label,
    column,
    inclusive: false,
    valueAt: () => NaN,
    text: (node) => (texts ? ownText(tree, texts, node) : (vectors.get(node) ?? '')),
    reason
  }
}

function timeMetricOf(
  tree: ProfileTree,
  label: string,
  parsed: Extract<MetricRequest, { unit: unknown }>,
  rules: RollUpRules
): MetricFormula {
  const isCpu = parsed.kind.endsWith('cpu_time')
  const time = findTime(tree, isCpu ? 'cpu_time' : 'time')
  if (!time) throw missing(tree, isCpu ? 'cpu_time (ns)' : 'time (ns)', label)
  const factor = secondsPer[parsed.unit]
  const sums = metricValues(tree, time.metric, rules)
  const reason = notRecorded(tree, time.metric, rules)
  const column = `${label} (inc)`
  const inclusive = !isCpu
  if (!parsed.kind.startsWith('avg_')) {
    const valueAt = (node: number) => converted(sums[node]!, time.seconds, factor, rules)
    return { label, column, inclusive, valueAt, text: null, reason }
  }
  if (!numberColumn(tree, 'count')) throw missing(tree, 'count', label)
  const counts = metricValues(tree, 'count', rules)
  const noCount = notRecorded(tree, 'count', rules)
  const valueAt = (node: number) =>
    converted(sums[node]!, time.seconds, factor, rules, counts[node]!)
  const eitherReason = (node: number) =>
    Number.isNaN(sums[node]) ? reason(node) : counts[node] === 0 ? 'count is 0' : noCount(node)
  return { label, column, inclusive, valueAt, text: null, reason: eitherReason }
}

/** metric per second, divided by factor. */
function rate(
  tree: ProfileTree,
  label: string,
  metric: string,
  factor: number,
  rules: RollUpRules
): MetricFormula {
  if (!numberColumn(tree, metric)) throw missing(tree, metric, label)
  const amounts = metricValues(tree, metric, rules)
  const time = seconds(tree, rules, label)
  const valueAt = (node: number) => quotient(amounts[node]!, time.at(node)) / factor
  const noAmount = notRecorded(tree, metric, rules)
  const noTime = notRecorded(tree, time.metric, rules)
  const reason = (node: number) => {
    if (Number.isNaN(amounts[node])) return noAmount(node)
    return time.at(node) === 0 ? 'its time is 0' : noTime(node)
  }
  return { label, column: `${label} (inc)`, inclusive: true, valueAt, text: null, reason }
}

function percent(
  tree: ProfileTree,
  label: string,
  parsed: Extract<MetricRequest, { kind: 'percent' }>,
  rules: RollUpRules
): MetricFormula {
  const { metric } = parsed
  if (!numberColumn(tree, metric)) {
    throw new UserError(
      'usage',
      `Metric '${label}': '${metric}' holds text, which has no percentage.`
    )
  }
  const inclusive = isInclusive(tree, metric, rules)
  const amounts = metricValues(tree, metric, rules)
  const whole = inclusive ? rootSum(tree, amounts) : sum(amounts)
  const none = notRecorded(tree, metric, rules)
  const ofParent = parsed.of === 'parent'
  const wholeOf = (node: number) => {
    const above = tree.parent[node]!
    return ofParent && above >= 0 ? amounts[above]! : ofParent ? amounts[node]! : whole
  }
  const valueAt = (node: number) => quotient(amounts[node]!, wholeOf(node)) * 100
  const reason = (node: number) =>
    Number.isNaN(amounts[node])
      ? none(node)
      : `the ${ofParent ? 'parent' : 'total'} has no ${metric} or 0`
  const column = inclusive ? `${label} (inc)` : label
  return { label, column, inclusive, valueAt, text: null, reason }
}

function sum(values: Float64Array): number {
  let total = 0
  for (const value of values) if (!Number.isNaN(value)) total += value
  return total
}
