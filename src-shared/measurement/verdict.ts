import type { Measurement, Statistics } from '../contract/run'

export type Verdict = 'fast' | 'slow' | 'same' | 'ambiguous'

export interface Comparison {
  verdict: Verdict
  /** Median time of the tested over the baseline's: below 1 is faster. */
  ratio: number
  /** One sentence. */
  reason: string
}

/** Constants of nvbench-compare-robust. */
const minGap = 0.005
const minOverlap = 0.5
const maxDispersion = 0.02

type Timed = Pick<Measurement, 'timeNs' | 'meanMHz'>

/**
 * Judges two measurements of the same problem by nvbench-compare-robust's rule: FAST or SLOW only if the intervals
 * [min, q3] do not overlap, the gap is at least 0.5 %, and both hold in clock cycles too (where clocks are known);
 * SAME if the medians are within 0.5 %, the intervals overlap by half of the narrower, and both are steady to 2 %.
 */
export function compareMeasurements(baseline: Timed, tested: Timed): Comparison {
  const ratio = tested.timeNs.median / baseline.timeNs.median
  const inTime = separation(baseline.timeNs, 1, tested.timeNs, 1)
  const clocked = baseline.meanMHz > 0 && tested.meanMHz > 0
  const inCycles = clocked
    ? separation(baseline.timeNs, baseline.meanMHz, tested.timeNs, tested.meanMHz)
    : inTime
  const done = (verdict: Verdict, reason: string): Comparison => ({ verdict, ratio, reason })

  if (!Number.isFinite(ratio)) return done('ambiguous', 'One side has no samples.')
  if (![baseline, tested].every(({ timeNs: { min, q1, q3 } }) => Number.isFinite(min + q1 + q3)))
    return done('ambiguous', 'One side does not say how its times are spread.')
  if (inTime !== 0 && inTime === inCycles) {
    const percent = (Math.abs(1 - ratio) * 100).toFixed(1)
    return inTime < 0
      ? done('fast', `${percent} % less time; the intervals from min to q3 are apart.`)
      : done('slow', `${percent} % more time; the intervals from min to q3 are apart.`)
  }
  if (inTime !== 0) {
    return done(
      'ambiguous',
      'The times differ, but not in clock cycles: the clocks were not the same.'
    )
  }
  if (Math.abs(1 - ratio) > minGap) {
    return done('ambiguous', 'The medians differ by more than 0.5 %, but the intervals overlap.')
  }
  if (overlap(baseline.timeNs, tested.timeNs) < minOverlap) {
    return done('ambiguous', 'The medians agree, but the intervals overlap by less than half.')
  }
  if (Math.max(dispersion(baseline.timeNs), dispersion(tested.timeNs)) > maxDispersion) {
    return done('ambiguous', 'The medians agree, but the samples scatter by more than 2 %.')
  }
  return done('same', 'The medians agree within 0.5 % and the intervals overlap.')
}

/** -1: tested is clearly below baseline, 1: clearly above, 0: neither. Times are multiplied by a frequency. */
function separation(baseline: Statistics, f0: number, tested: Statistics, f1: number): number {
  const gap = Math.abs(1 - (tested.median * f1) / (baseline.median * f0))
  if (gap < minGap) return 0
  if (tested.q3 * f1 < baseline.min * f0) return -1
  if (tested.min * f1 > baseline.q3 * f0) return 1
  return 0
}

/** Share of the narrower [min, q3] that the two have in common, 0..1. */
function overlap(a: Statistics, b: Statistics): number {
  const common = Math.min(a.q3, b.q3) - Math.max(a.min, b.min)
  const narrower = Math.min(a.q3 - a.min, b.q3 - b.min)
  if (narrower === 0) return common >= 0 ? 1 : 0
  return Math.max(0, common) / narrower
}

function dispersion(x: Statistics): number {
  return (x.q3 - x.q1) / x.median
}
