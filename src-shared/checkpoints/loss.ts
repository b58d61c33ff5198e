/** What a weight lost on its way into another format, and how that is said. */
import type { WeightSource } from './weightSource'

/** Sums over a weight, or a part of it (native/quantize/weightWork.h). */
export interface ComparedValues {
  /** Sums of x^2 and (x - y)^2 over the pairs of finite values, and the largest |x - y| among them. */
  signal: number
  noise: number
  largestError: number
  /** Pairs that hold a NaN or an infinity and are not the same; `lost`: of those, finite in the original. */
  different: number
  lost: number
  /** Of the original. `first` is an index through all matrices, -1 for none. */
  bad: { nan: number; infinite: number; first: number }
}

export interface WeightLoss {
  /** Every value is the same; NaN stands for NaN. */
  exact: boolean
  /**
   * 10 log10(sum x^2 / sum (x - y)^2) in dB over the finite values; Infinity when they are exact, undefined when the
   * original holds nothing but zeros and bad values, to which no error can be related.
   */
  sqnr: number | undefined
  /** Largest |x - y| among finite values. */
  maxError: number
  /** Values of the original that are NaN or infinite. */
  nan: number
  infinite: number
  /** Finite values of the original that are none any more: they shared a block with a bad one. */
  lost: number
  /** Where the first bad value of the original lies. */
  firstBad?: { matrix: number; row: number; column: number }
}

/** The parts in the order of their rows: sums depend on it. */
export function addCompared(parts: readonly ComparedValues[]): ComparedValues {
  const all: ComparedValues = {
    signal: 0,
    noise: 0,
    largestError: 0,
    different: 0,
    lost: 0,
    bad: { nan: 0, infinite: 0, first: -1 }
  }
  for (const { signal, noise, largestError, different, lost, bad } of parts) {
    all.signal += signal
    all.noise += noise
    all.largestError = Math.max(all.largestError, largestError)
    all.different += different
    all.lost += lost
    all.bad.nan += bad.nan
    all.bad.infinite += bad.infinite
    if (all.bad.first < 0) all.bad.first = bad.first
  }
  return all
}

export function lossOf(compared: ComparedValues, { rows, k }: WeightSource): WeightLoss {
  const { signal, noise, largestError, different, lost, bad } = compared
  const { nan, infinite, first } = bad
  const row = Math.floor(first / k)
  return {
    exact: largestError === 0 && different === 0,
    sqnr: sqnrOf(signal, noise, largestError),
    maxError: largestError,
    nan,
    infinite,
    lost,
    ...(first < 0
      ? {}
      : { firstBad: { matrix: Math.floor(row / rows), row: row % rows, column: first % k } })
  }
}

function sqnrOf(signal: number, noise: number, largestError: number): number | undefined {
  if (largestError === 0) return Infinity
  const sqnr = 10 * Math.log10(signal / noise)
  return Number.isFinite(sqnr) ? sqnr : undefined
}

/** Whether the original held values that no block-scaled format keeps, or the result lost some for another reason. */
export const isDamaged = ({ nan, infinite, lost }: WeightLoss) => nan + infinite + lost > 0

export function lossText(loss: WeightLoss): string {
  const { exact, sqnr, maxError } = loss
  const how = exact
    ? 'exact: every value compared equal'
    : `${sqnr === undefined ? 'no SQNR: the original has no finite value but zeros' : sqnrText(sqnr)}, max error ${maxError.toPrecision(4)}`
  return isDamaged(loss) ? `${how}; ${damageText(loss)}` : how
}

const sqnrText = (sqnr: number) =>
  sqnr === Infinity ? 'finite values exact' : `SQNR ${sqnr.toFixed(2)} dB`

function damageText({ nan, infinite, lost, firstBad }: WeightLoss): string {
  const where = firstBad
    ? ` (first in matrix ${firstBad.matrix}, row ${firstBad.row}, column ${firstBad.column})`
    : ''
  return `${nan} NaN and ${infinite} infinite in the original${where}, ${lost} finite values lost beside them`
}

/** JSON has no infinities: they are texts; what there is not is null. */
export function lossJson({ exact, sqnr, maxError, nan, infinite, lost, firstBad }: WeightLoss) {
  const shown = (value: number) => (Number.isFinite(value) ? value : `${value}`)
  return {
    exact,
    sqnr: sqnr === undefined ? null : shown(sqnr),
    maxError: shown(maxError),
    nan,
    infinite,
    lost,
    ...(firstBad ? { firstBad } : {})
  }
}
