/**
 * Two or more profiles side by side. The change is last minus first; for sums a missing node counts as 0, so the change
 * of a scope is its own plus that of its children, down from a total that adds up.
 */
import { deriveMetric } from './deriveMetric'
import { parseMetricRequest } from './metricRequest'
import { normaliseName } from './normaliseName'
import { samplesOf, type ProfileTree } from '../tree/profileTree'
import { isInclusive, ourRules, type RollUpRules } from '../tree/rollUp'
import { unionTrees, type UnionTree } from './unionTree'

/** Of a node: in the first and last profile, only in the last, only in the first. */
export const inBoth = 0
export const isNew = 1
export const isGone = 2

/** What per-launch samples say about a change: nothing known, inside the noise, beyond it. */
export const noiseUnknown = 0
export const withinNoise = 1
export const beyondNoise = 2

export interface TreeDiff extends UnionTree {
  metric: string
  /** True: a sum, whose changes add up. False: a rate or ratio, which has no change where one side is missing. */
  isSum: boolean
  /** Per profile and node of the union; NaN where the profile has no value. */
  values: Float64Array[]
  /** Last minus first, in the metric's unit. */
  change: Float64Array
  /** Last over first; NaN where either is missing or the first is 0. */
  ratio: Float64Array
  /** inBoth, isNew or isGone per node. */
  state: Uint8Array
  /** noiseUnknown, withinNoise or beyondNoise per node. */
  noise: Uint8Array
}

export interface DiffOptions {
  /** Also match nodes whose names differ only in extents, tiles or mangling. */
  byNormalisedName?: boolean
  rules?: RollUpRules
}

/** The difference of one metric over the union of the profiles, the first being the base. */
export function diffTrees(
  trees: readonly ProfileTree[],
  metric: string,
  options: DiffOptions = {}
): TreeDiff {
  const rules = options.rules ?? ourRules
  const union = unionTrees(trees, {
    normalise: options.byNormalisedName ? normaliseName : undefined
  })
  const values = trees.map((tree, profile) =>
    spread(deriveMetric(tree, metric, rules).values, union.nodesOf[profile]!)
  )
  const first = values[0]!
  const last = values[values.length - 1]!
  const isSum = isSumMetric(trees[0]!, metric, rules)
  const firstNodes = union.nodesOf[0]!
  const lastNodes = union.nodesOf[trees.length - 1]!
  return {
    ...union,
    metric,
    isSum,
    values,
    change: last.map((value, node) => changeOf(first[node]!, value, isSum)),
    ratio: last.map((value, node) => (first[node] === 0 ? NaN : value / first[node]!)),
    state: Uint8Array.from(lastNodes, (at, node) => {
      if (at < 0) return firstNodes[node]! < 0 ? inBoth : isGone
      return firstNodes[node]! < 0 ? isNew : inBoth
    }),
    noise: noiseOf(trees[0]!, trees[trees.length - 1]!, firstNodes, lastNodes)
  }
}

function spread(values: Float64Array, nodes: Int32Array): Float64Array {
  const out = new Float64Array(nodes.length).fill(NaN)
  for (let node = 0; node < nodes.length; node++) {
    const from = nodes[node]!
    if (from >= 0) out[node] = values[from]!
  }
  return out
}

function changeOf(first: number, last: number, isSum: boolean): number {
  if (!isSum || (Number.isNaN(first) && Number.isNaN(last))) return last - first
  return (Number.isNaN(last) ? 0 : last) - (Number.isNaN(first) ? 0 : first)
}

function isSumMetric(tree: ProfileTree, metric: string, rules: RollUpRules): boolean {
  const request = parseMetricRequest(tree, metric)
  if (request.kind === 'time') return true
  return request.kind === 'raw' && isInclusive(tree, request.metric, rules)
}

const fewestSamples = 5
/** Two-sided 95 % of the normal distribution. */
const confidence = 1.96

/** Welch's test on the means of per-launch times, for nodes where both sides have enough launches. */
function noiseOf(
  first: ProfileTree,
  last: ProfileTree,
  firstNodes: Int32Array,
  lastNodes: Int32Array
): Uint8Array {
  const noise = new Uint8Array(firstNodes.length)
  if (!first.samples || !last.samples) return noise
  for (let node = 0; node < noise.length; node++) {
    if (firstNodes[node]! < 0 || lastNodes[node]! < 0) continue
    const a = moments(samplesOf(first, firstNodes[node]!))
    const b = moments(samplesOf(last, lastNodes[node]!))
    if (a.count < fewestSamples || b.count < fewestSamples) continue
    const standardError = Math.sqrt(a.variance / a.count + b.variance / b.count)
    const isInside = Math.abs(b.mean - a.mean) <= confidence * standardError
    noise[node] = isInside ? withinNoise : beyondNoise
  }
  return noise
}

function moments(samples: Float64Array): { count: number; mean: number; variance: number } {
  const count = samples.length
  const mean = samples.reduce((sum, value) => sum + value, 0) / count
  const squares = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { count, mean, variance: squares / Math.max(1, count - 1) }
}
