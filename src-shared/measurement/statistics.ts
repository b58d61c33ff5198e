import type { Statistics } from '../contract/run'

/** Linear interpolation between closest ranks (Hyndman and Fan's type 7, numpy's default). `sorted` ascending. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return NaN
  const position = (sorted.length - 1) * share
  const below = Math.floor(position)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (high - low) * (position - below)
}

export function median(values: ArrayLike<number>): number {
  return quantile(Float64Array.from(values).sort(), 0.5)
}

/** Summary of samples in nanoseconds; the standard deviation has Bessel's correction. */
export function statisticsOf(samplesNs: ArrayLike<number>, discarded: number): Statistics {
  const sorted = Float64Array.from(samplesNs).sort()
  const count = sorted.length
  const mean = sorted.reduce((sum, x) => sum + x, 0) / count
  const squares = sorted.reduce((sum, x) => sum + (x - mean) ** 2, 0)
  return {
    samples: count,
    discarded,
    min: quantile(sorted, 0),
    q1: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    q3: quantile(sorted, 0.75),
    p95: quantile(sorted, 0.95),
    max: quantile(sorted, 1),
    mean,
    standardDeviation: count > 1 ? Math.sqrt(squares / (count - 1)) : 0
  }
}
