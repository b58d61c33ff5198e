/** What formulas of metrics are made of: times in seconds, quotients, totals, and why a value is not there. */
import { UserError } from '../../errors'
import { findMetric, secondsPer, unitOf } from './metricRequest'
import { operationProperty } from '../tree/operation'
import { nodeName, numberColumn, textColumn, type ProfileTree } from '../tree/profileTree'
import { isInclusive, metricValues, rollUp, skippedMask, type RollUpRules } from '../tree/rollUp'

/** The column of a time metric and its unit, read from the parentheses of its name. */
export function findTime(
  tree: ProfileTree,
  name: 'time' | 'cpu_time'
): { metric: string; seconds: number } | undefined {
  const metric = findMetric(tree, name)
  if (metric === undefined || !numberColumn(tree, metric)) return undefined
  const unit = unitOf(metric)
  return unit ? { metric, seconds: secondsPer[unit] } : undefined
}

/** Seconds of a node. */
export function seconds(
  tree: ProfileTree,
  rules: RollUpRules,
  request: string
): { metric: string; at: (node: number) => number } {
  const time = findTime(tree, 'time')
  if (!time) throw missing(tree, 'time (ns)', request)
  const values = metricValues(tree, time.metric, rules)
  return { metric: time.metric, at: (node) => values[node]! * time.seconds }
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

/** Says where a metric that a node lacks was recorded instead. */
export function notRecorded(tree: ProfileTree, metric: string, rules: RollUpRules) {
  const column = numberColumn(tree, metric)
  const marks = textColumn(tree, operationProperty)
  const isOperation = (node: number) => marks !== undefined && marks.values[node]! >= 0
  return (node: number): string => {
    if (skippedMask(tree, rules)[node]) return 'inside launch metadata, which is not counted'
    for (let above = tree.parent[node]!; above > 0; above = tree.parent[above]!) {
      if (column?.written[above]) {
        if (isOperation(above)) return `${metric} is the whole operation's`
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

export function missing(tree: ProfileTree, metric: string, request: string): UserError {
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
