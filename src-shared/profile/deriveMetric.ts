/** Metrics of every node from the columns of a profile, by Proton's formulas, with the reason where there is none. */
import { UserError } from '../errors'
import { launchExtremes } from './launchExtremes'
import {
  findMetric,
  metricNames,
  parseMetricRequest,
  secondsPer,
  type MetricRequest,
  type TimeUnit
} from './metricRequest'
import { nodeName, numberColumn, ownText, textColumn, type ProfileTree } from './profileTree'
import {
  isInclusive,
  metricValues,
  ourRules,
  rollUp,
  skippedMask,
  type RollUpRules
} from './rollUp'
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

/**
 * Values of one metric for every node.
 * @param request Proton's name (time/ms, avg_time/us, tflop8/s, gbyte/s, util, time/%, a raw name), or ours: tflop4/s,
 *   min_time/us, max_time/us, time/parent%.
 * @throws UserError when the profile cannot give the metric anywhere.
 */
export function deriveMetric(
  tree: ProfileTree,
  request: string,
  rules: RollUpRules = ourRules
): DerivedMetric {
  const label = request.trim()
  const parsed = parseMetricRequest(tree, label)
  switch (parsed.kind) {
    case 'raw':
      return rawMetric(tree, label, parsed.metric, rules)
    case 'percent':
      return percent(tree, label, parsed, rules)
    case 'util':
      return {
        ...utilisation(tree, rules),
        label,
        column: 'util',
        inclusive: !rules.proton,
        text: null
      }
    case 'flops': {
      const metric = parsed.width === null ? 'flops' : `flops${parsed.width}`
      return rate(tree, label, metric, parsed.factor, rules)
    }
    case 'bandwidth':
      return rate(tree, label, 'bytes', parsed.factor, rules)
    case 'min_time':
    case 'max_time': {
      const extremes = launchExtremes(tree, parsed.kind, rules)
      const values = extremes.values.map((ns) =>
        converted(ns, secondsPer.ns, secondsPer[parsed.unit])
      )
      return { ...extremes, values, label, column: `${label} (inc)`, inclusive: true, text: null }
    }
    default:
      return timeMetricOf(tree, label, parsed, rules)
  }
}

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
  if (tree.samples) available.push('min_time/us', 'max_time/us')
  if (findTime(tree, 'cpu_time')) available.push('cpu_time/us')
  return [...available, ...metricNames(tree)]
}

/** The column of a time metric and its unit, read from the parentheses of its name. */
export function findTime(
  tree: ProfileTree,
  name: 'time' | 'cpu_time'
): { metric: string; seconds: number } | undefined {
  const metric = findMetric(tree, name)
  if (metric === undefined || !numberColumn(tree, metric)) return undefined
  const unit = /\((s|ms|us|ns)\)/.exec(metric)?.[1] as TimeUnit | undefined
  return unit ? { metric, seconds: secondsPer[unit] } : undefined
}

/** Seconds per node. */
export function seconds(
  tree: ProfileTree,
  rules: RollUpRules,
  request: string
): { metric: string; values: Float64Array } {
  const time = findTime(tree, 'time')
  if (!time) throw missing(tree, 'time (ns)', request)
  const values = metricValues(tree, time.metric, rules).map((value) => value * time.seconds)
  return { metric: time.metric, values }
}

/** From one unit of time to another, both in seconds; by a whole number, so that 4000 ns are 4 us exactly. */
function converted(value: number, from: number, to: number): number {
  return to >= from ? value / Math.round(to / from) : value * Math.round(from / to)
}

function rawMetric(
  tree: ProfileTree,
  label: string,
  metric: string,
  rules: RollUpRules
): DerivedMetric {
  const inclusive = numberColumn(tree, metric) !== undefined && isInclusive(tree, metric, rules)
  const column = inclusive ? `${metric} (inc)` : metric
  const reason = notRecorded(tree, metric, rules)
  if (numberColumn(tree, metric)) {
    const values = metricValues(tree, metric, rules)
    return { label, column, inclusive, values, text: null, reason }
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
    values: new Float64Array(tree.count).fill(NaN),
    text: (node) => (texts ? ownText(tree, texts, node) : (vectors.get(node) ?? '')),
    reason
  }
}

function timeMetricOf(
  tree: ProfileTree,
  label: string,
  parsed: Extract<MetricRequest, { unit: TimeUnit }>,
  rules: RollUpRules
): DerivedMetric {
  const isCpu = parsed.kind.endsWith('cpu_time')
  const time = findTime(tree, isCpu ? 'cpu_time' : 'time')
  if (!time) throw missing(tree, isCpu ? 'cpu_time (ns)' : 'time (ns)', label)
  const factor = secondsPer[parsed.unit]
  const sums = metricValues(tree, time.metric, rules)
  const reason = notRecorded(tree, time.metric, rules)
  const column = `${label} (inc)`
  const inclusive = !isCpu
  if (!parsed.kind.startsWith('avg_')) {
    const values = sums.map((value) => converted(value, time.seconds, factor))
    return { label, column, inclusive, values, text: null, reason }
  }
  if (!numberColumn(tree, 'count')) throw missing(tree, 'count', label)
  const counts = metricValues(tree, 'count', rules)
  const noCount = notRecorded(tree, 'count', rules)
  const values = sums.map((value, node) =>
    converted(quotient(value, counts[node]!), time.seconds, factor)
  )
  const eitherReason = (node: number) =>
    Number.isNaN(sums[node]) ? reason(node) : counts[node] === 0 ? 'count is 0' : noCount(node)
  return { label, column, inclusive, values, text: null, reason: eitherReason }
}

/** metric per second, divided by factor. */
function rate(
  tree: ProfileTree,
  label: string,
  metric: string,
  factor: number,
  rules: RollUpRules
): DerivedMetric {
  if (!numberColumn(tree, metric)) throw missing(tree, metric, label)
  const amounts = metricValues(tree, metric, rules)
  const time = seconds(tree, rules, label)
  const values = amounts.map((amount, node) => quotient(amount, time.values[node]!) / factor)
  const noAmount = notRecorded(tree, metric, rules)
  const noTime = notRecorded(tree, time.metric, rules)
  const reason = (node: number) => {
    if (Number.isNaN(amounts[node])) return noAmount(node)
    return time.values[node] === 0 ? 'its time is 0' : noTime(node)
  }
  return { label, column: `${label} (inc)`, inclusive: true, values, text: null, reason }
}

function percent(
  tree: ProfileTree,
  label: string,
  parsed: Extract<MetricRequest, { kind: 'percent' }>,
  rules: RollUpRules
): DerivedMetric {
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
  const values = amounts.map((amount, node) => quotient(amount, wholeOf(node)) * 100)
  const reason = (node: number) =>
    Number.isNaN(amounts[node])
      ? none(node)
      : `the ${ofParent ? 'parent' : 'total'} has no ${metric} or 0`
  const column = inclusive ? `${label} (inc)` : label
  return { label, column, inclusive, values, text: null, reason }
}

/** A division by zero gives no value rather than an infinity. */
export function quotient(amount: number, by: number): number {
  return by === 0 ? NaN : amount / by
}

/** The value of the whole profile: its root, or the sum where a literal has several. */
export function rootSum(tree: ProfileTree, values: Float64Array): number {
  let total = NaN
  for (let root = 0; root < tree.count; root = tree.end[root]!) {
    const value = values[root]!
    if (!Number.isNaN(value)) total = Number.isNaN(total) ? value : total + value
  }
  return total
}

function sum(values: Float64Array): number {
  let total = 0
  for (const value of values) if (!Number.isNaN(value)) total += value
  return total
}

/** Says where a metric that a node lacks was recorded instead. */
export function notRecorded(tree: ProfileTree, metric: string, rules: RollUpRules) {
  const column = numberColumn(tree, metric)
  return (node: number): string => {
    if (skippedMask(tree, rules)[node]) return 'inside launch metadata, which is not counted'
    for (let above = tree.parent[node]!; above > 0; above = tree.parent[above]!) {
      if (column?.written[above]) {
        return `${metric} is recorded on the enclosing scope '${nodeName(tree, above)}'`
      }
    }
    const isLeaf = tree.end[node] === node + 1
    if (column?.written[node] && Number.isNaN(column.values[node]))
      return `${metric} is not a number`
    if (!isInclusive(tree, metric, rules) && hasBelow(tree, metric, rules, node)) {
      return `${metric} is exclusive: it belongs to the node it is recorded on`
    }
    const others = metric === 'flops' ? widthsUnder(tree, rules, node) : []
    const hint = others.length > 0 ? `, ${others.join(' and ')} is` : ''
    return `no ${metric} recorded ${isLeaf ? 'on this node' : 'under this scope'}${hint}`
  }
}

function widthsUnder(tree: ProfileTree, rules: RollUpRules, node: number): string[] {
  return ['flops4', 'flops8', 'flops16', 'flops32', 'flops64'].filter(
    (name) => numberColumn(tree, name) && hasBelow(tree, name, rules, node)
  )
}

function hasBelow(tree: ProfileTree, metric: string, rules: RollUpRules, node: number): boolean {
  return !Number.isNaN(rollUp(tree, metric, rules)[node])
}

function missing(tree: ProfileTree, metric: string, request: string): UserError {
  const widths = tree.numbers.map((column) => column.name).filter((name) => /^flops\d*$/.test(name))
  let hint = ''
  if (metric.startsWith('flops') && widths.length > 0) {
    hint = ` It has ${widths.join(', ')}: ask for ${widths.map((name) => `t${name.replace('flops', 'flop')}/s`).join(', ')}.`
  } else if (metric === 'time (ns)' && numberColumn(tree, 'cycles')) {
    hint = ' It has cycles and normalized_cycles.'
  }
  return new UserError(
    'usage',
    `Metric '${request}': no ${metric} recorded in this profile.${hint}`
  )
}
