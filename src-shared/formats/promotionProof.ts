/**
 * What proves a Hopper fp8 product of MXFP4 exact at a promotion interval P (docs/kernels.md, "Proving longer intervals").
 *
 * The tensor core keeps 13 fractional bits of the largest addend and of each sum, so a partial sum over an interval loses nothing
 * while it stays within 2^14 times the smallest product that can occur. Products of blocks with scales sA + sB are multiples of
 * 2^(sA + sB - 2), so of 2^(min sA + min sB - 2) over an interval's blocks that are not zero; by Cauchy and Schwarz no partial sum
 * is larger than |A| |B| over the interval. With
 *   N = 4 |row over the interval|^2 / 4^(min s), a whole number,
 * that is N_A N_B <= 2^28. Equality is reached by the last addend alone, which is added to less. Elements that are subnormal in e5m2
 * count with an exponent up to one more than their block's smallest scale; each N below 2^24 keeps what they are multiplied with
 * small enough.
 *
 * A proof is kept for each stretch of 256 elements of K, the longest interval: one row that needs a shorter one somewhere does not
 * cost the rest of K.
 */
import { UserError } from '../errors'
import { decodeTable, numberFormats } from './numberFormat'

/** Intervals that a proof may allow, longest first; sums of `alwaysExact` products are exact without one. */
export const promotionIntervals = [256, 128, 64] as const
export type PromotionInterval = (typeof promotionIntervals)[number]
export const alwaysExact = 32
const [stretch] = promotionIntervals

const blockSize = 32
const mostOfBoth = 2 ** 28
const mostOfEach = 2 ** 24
const notANumber = 255

/** (2 x value)^2 of an e2m1 code: a whole number up to 144. */
const squares = decodeTable(numberFormats.e2m1).map((value) => (2 * value) ** 2)

/** Of each row and stretch, row-major, the largest N of its intervals; Infinity where a scale is NaN. */
export interface PromotionProof {
  rows: number
  stretches: number
  of: Record<PromotionInterval, Float64Array>
}

/**
 * `codes`: rows x K / 2, two e2m1 a byte; `scales`: rows x K / 32 of e8m0, linear. Throws a UserError where they do not fit
 * together.
 */
export function promotionProof(
  codes: Uint8Array,
  scales: Uint8Array,
  rows: number,
  k: number
): PromotionProof {
  const blocks = k / blockSize
  if (
    !Number.isInteger(blocks) ||
    codes.length !== (rows * k) / 2 ||
    scales.length !== rows * blocks
  )
    throw new UserError(
      'usage',
      `${codes.length} bytes of codes and ${scales.length} scales are not ${rows} rows of K=${k} in MXFP4.`
    )
  const ofBlock = Float64Array.from(scales, (_, block) => squaredNorm(codes, block))
  const stretches = Math.ceil(k / stretch)
  const of = {} as PromotionProof['of']
  for (const interval of promotionIntervals) {
    const own = (of[interval] = new Float64Array(rows * stretches))
    const span = interval / blockSize
    for (let row = 0; row < rows; row++)
      for (let from = 0; from < blocks; from += span) {
        const to = Math.min(blocks, from + span)
        const sum = sumOver(ofBlock, scales, row * blocks + from, row * blocks + to)
        const place = row * stretches + Math.floor((from * blockSize) / stretch)
        own[place] = Math.max(own[place]!, sum)
      }
  }
  return { rows, stretches, of }
}

/** 4 |block|^2 without its scale: at most 32 x 144. */
function squaredNorm(codes: Uint8Array, block: number): number {
  let sum = 0
  for (let at = (block * blockSize) / 2; at < ((block + 1) * blockSize) / 2; at++)
    sum += squares[codes[at]! & 15]! + squares[codes[at]! >> 4]!
  return sum
}

/** N over blocks `from` to `to`; those of zeros have any scale. Exact as far as it is small enough to matter. */
function sumOver(ofBlock: Float64Array, scales: Uint8Array, from: number, to: number): number {
  let smallest = notANumber
  for (let at = from; at < to; at++) {
    if (scales[at] === notANumber) return Infinity
    if (ofBlock[at]! > 0) smallest = Math.min(smallest, scales[at]!)
  }
  let sum = 0
  for (let at = from; at < to; at++)
    if (ofBlock[at]! > 0) sum += ofBlock[at]! * 4 ** (scales[at]! - smallest)
  return sum
}

/** Rows [first, first + count) of an operand. */
export interface RowRange {
  first: number
  count: number
}

/** The longest interval that is proved exact for every element of a tile of C in a stretch; `alwaysExact` where none is. */
export function provedInterval(
  a: PromotionProof,
  b: PromotionProof,
  rows: RowRange,
  columns: RowRange,
  at: number
): number {
  const proved = promotionIntervals.find((interval) => {
    const [ofA, ofB] = [largest(a, interval, rows, at), largest(b, interval, columns, at)]
    return ofA < mostOfEach && ofB < mostOfEach && ofA * ofB <= mostOfBoth
  })
  return proved ?? alwaysExact
}

function largest(
  { rows, stretches, of }: PromotionProof,
  interval: PromotionInterval,
  { first, count }: RowRange,
  at: number
): number {
  let most = 0
  for (let row = first; row < Math.min(rows, first + count); row++)
    most = Math.max(most, of[interval][row * stretches + at]!)
  return most
}

/** How many stretches of C's tiles are proved at each interval, longest first. */
export function provedCounts(
  a: PromotionProof,
  b: PromotionProof,
  tile: { rows: number; columns: number }
): Map<number, number> {
  const counts = new Map<number, number>(
    [...promotionIntervals, alwaysExact].map((one) => [one, 0])
  )
  for (let row = 0; row < a.rows; row += tile.rows)
    for (let column = 0; column < b.rows; column += tile.columns)
      for (let at = 0; at < a.stretches; at++) {
        const interval = provedInterval(
          a,
          b,
          { first: row, count: tile.rows },
          { first: column, count: tile.columns },
          at
        )
        counts.set(interval, counts.get(interval)! + 1)
      }
  return counts
}
