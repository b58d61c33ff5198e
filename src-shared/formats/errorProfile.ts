/**
 * How errors of quantised values spread, and over values of which size: one joint histogram, from which those of any range of
 * sizes follow. All in units of the root mean square of the values, so that tensors of any scale compare.
 */

/** Errors, stored less value: even bins; what lies beyond counts in the outer ones. */
export const errorAxis = { from: -0.6, to: 0.6, bins: 120 } as const
/** log2 of |value|: quarter octaves; the first and the last bin take what lies beyond, zeros too. */
export const sizeAxis = { from: -6, to: 5, bins: 44 } as const

export interface ErrorProfile {
  /** Root mean square of the finite values: what the rest is counted in. */
  unit: number
  /** Root mean square of the errors, in it. */
  rms: number
  /** Values by size, then by error: sizeAxis.bins x errorAxis.bins. */
  counts: number[]
  /** Sum of squared errors by size, in unit squared. */
  squares: number[]
}

/** Pairs that are not both finite are left out. */
export function errorProfile(values: ArrayLike<number>, stored: ArrayLike<number>): ErrorProfile {
  let signal = 0
  let counted = 0
  for (let i = 0; i < stored.length; i++) {
    if (!Number.isFinite(stored[i]!)) continue
    signal += values[i]! ** 2
    counted++
  }
  const unit = signal === 0 ? 1 : Math.sqrt(signal / counted)
  const counts = Array<number>(sizeAxis.bins * errorAxis.bins).fill(0)
  const squares = Array<number>(sizeAxis.bins).fill(0)
  let noise = 0
  for (let i = 0; i < stored.length; i++) {
    if (!Number.isFinite(stored[i]!)) continue
    const error = (stored[i]! - values[i]!) / unit
    const size = binOf(Math.log2(Math.abs(values[i]!) / unit), sizeAxis)
    counts[size * errorAxis.bins + binOf(error, errorAxis)]!++
    squares[size]! += error ** 2
    noise += error ** 2
  }
  return { unit, rms: counted === 0 ? 0 : Math.sqrt(noise / counted), counts, squares }
}

function binOf(
  value: number,
  { from, to, bins }: { from: number; to: number; bins: number }
): number {
  const bin = Math.floor(((value - from) / (to - from)) * bins)
  return Math.min(bins - 1, Math.max(0, bin))
}

/** How many values of each size there are. */
export function sizeCounts({ counts }: ErrorProfile): number[] {
  return Array.from({ length: sizeAxis.bins }, (_, size) => {
    const row = counts.slice(size * errorAxis.bins, (size + 1) * errorAxis.bins)
    return row.reduce((sum, count) => sum + count, 0)
  })
}

/** How many errors fall into each bin, of values in bins first..last of sizes. */
export function errorCounts(
  { counts }: ErrorProfile,
  first = 0,
  last = sizeAxis.bins - 1
): number[] {
  return Array.from({ length: errorAxis.bins }, (_, error) => {
    let sum = 0
    for (let size = first; size <= last; size++) sum += counts[size * errorAxis.bins + error]!
    return sum
  })
}
