/**
 * Distribution-free intervals for a shift: Hodges and Lehmann's estimates with the limits that Wilcoxon's signed ranks (of
 * pairs) and the Mann-Whitney statistic (of two samples) leave (Hollander, Wolfe and Chicken, Nonparametric Statistical
 * Methods, 3.2 to 3.3 and 4.2 to 4.3). Outliers of a busy machine move them no further than their rank.
 */
import { median } from './statistics'

export interface ShiftInterval {
  /** The middle of all averages or differences. */
  estimate: number
  /** Infinite where there are too few observations for the confidence that was asked for. */
  low: number
  high: number
}

/** Beyond these numbers of observations the statistic's normal approximation is as good as its own distribution. */
const exactPairs = 100
const exactSamples = 50

/** The middle of `differences`, which are symmetric about it: those of pairs in random order are. */
export function signedRankInterval(
  differences: readonly number[],
  confidence: number
): ShiftInterval {
  const n = differences.length
  const walsh = new Float64Array((n * (n + 1)) / 2)
  let at = 0
  for (let i = 0; i < n; i++)
    for (let j = i; j < n; j++) walsh[at++] = (differences[i]! + differences[j]!) / 2
  const tail = (1 - confidence) / 2
  const left =
    n <= exactPairs
      ? countBelow(signedRankChances(n), tail)
      : normalCount((n * (n + 1)) / 4, Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24), tail)
  return limits(walsh, left)
}

/** By how much `tested` lies above `baseline`, two samples of their own. */
export function twoSampleInterval(
  baseline: readonly number[],
  tested: readonly number[],
  confidence: number
): ShiftInterval {
  const [m, n] = [baseline.length, tested.length]
  const differences = Float64Array.from({ length: m * n }, (_, i) => {
    return tested[i % n]! - baseline[Math.floor(i / n)]!
  })
  const tail = (1 - confidence) / 2
  const left =
    Math.max(m, n) <= exactSamples
      ? countBelow(mannWhitneyChances(m, n), tail)
      : normalCount((m * n) / 2, Math.sqrt((m * n * (m + n + 1)) / 12), tail)
  return limits(differences, left)
}

/** The limits leave `left` of the values out at either end, less the one they are. */
function limits(values: Float64Array, left: number): ShiftInterval {
  if (values.length === 0) return { estimate: NaN, low: -Infinity, high: Infinity }
  values.sort()
  const estimate = median(values)
  if (left < 1 || left > values.length / 2) return { estimate, low: -Infinity, high: Infinity }
  return { estimate, low: values[left - 1]!, high: values[values.length - left]! }
}

/** How many of the lowest values of the statistic come with a chance of at most `tail` together. */
function countBelow(chances: Float64Array, tail: number): number {
  let sum = 0
  let count = 0
  while (count < chances.length && (sum += chances[count]!) <= tail) count++
  return count
}

function normalCount(mean: number, deviation: number, tail: number): number {
  return Math.max(0, Math.floor(mean - normalQuantile(1 - tail) * deviation))
}

/** Chance of each rank sum 0..n(n+1)/2: every rank 1..n counts or does not, with even chances. */
function signedRankChances(n: number): Float64Array {
  const chances = new Float64Array((n * (n + 1)) / 2 + 1)
  chances[0] = 1
  let top = 0
  for (let rank = 1; rank <= n; rank++) {
    top += rank
    for (let sum = top; sum >= 0; sum--)
      chances[sum] = (chances[sum]! + (sum >= rank ? chances[sum - rank]! : 0)) / 2
  }
  return chances
}

/** Chance of each count 0..mn of pairs in which the one sample is above: the largest value of all is of either sample. */
function mannWhitneyChances(m: number, n: number): Float64Array {
  let row: Float64Array[] = Array.from({ length: n + 1 }, () => Float64Array.of(1))
  for (let i = 1; i <= m; i++) {
    const next: Float64Array[] = [Float64Array.of(1)]
    for (let j = 1; j <= n; j++) {
      const chances = new Float64Array(i * j + 1)
      // The largest is of the first sample, above all j of the other, or of the second.
      const [first, second] = [row[j]!, next[j - 1]!]
      for (let u = 0; u < first.length; u++) chances[u + j]! += (first[u]! * i) / (i + j)
      for (let u = 0; u < second.length; u++) chances[u]! += (second[u]! * j) / (i + j)
      next.push(chances)
    }
    row = next
  }
  return row[n]!
}

/** Inverse of the normal distribution: Acklam's rational approximation, right to 1.2e-9. */
export function normalQuantile(p: number): number {
  if (p <= 0 || p >= 1) return p <= 0 ? -Infinity : Infinity
  if (p > 0.5) return -normalQuantile(1 - p)
  const polynomial = (coefficients: readonly number[], x: number) =>
    coefficients.reduce((sum, each) => sum * x + each, 0)
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p))
    return (
      polynomial(
        [
          ...[-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838],
          ...[-2.549732539343734, 4.374664141464968, 2.938163982698783]
        ],
        q
      ) /
      polynomial(
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1],
        q
      )
    )
  }
  const q = p - 0.5
  const r = q * q
  return (
    (q *
      polynomial(
        [
          ...[-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2],
          ...[1.38357751867269e2, -3.066479806614716e1, 2.506628277459239]
        ],
        r
      )) /
    polynomial(
      [
        ...[-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2],
        ...[6.680131188771972e1, -1.328068155288572e1, 1]
      ],
      r
    )
  )
}

/** The normal distribution: Abramowitz and Stegun 7.1.26, right to 1.5e-7. */
export function normalShare(x: number): number {
  const t = 1 / (1 + 0.3275911 * (Math.abs(x) / Math.SQRT2))
  const erfc =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) *
    Math.exp((-x * x) / 2)
  return x < 0 ? erfc / 2 : 1 - erfc / 2
}
