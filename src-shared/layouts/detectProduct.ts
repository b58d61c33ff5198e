/**
 * Which layout a buffer of packed scales is in when the linear scales are not known, but the operands and their product
 * are: each candidate says which scales the buffer holds, these give a product, and the product given says who is right.
 */
import { differenceOf, type Difference } from './detect'
import {
  candidatesOf,
  nameOf,
  sayingMost,
  type Candidate,
  type NamedCandidate
} from './detectCandidates'
import { codesOf, compareRow, fittedRow, recoverRow, unknownCode } from './detectRows'
import { sampleEquations, spread } from './detectSample'
import {
  scaleEquations,
  type ProductOperands,
  type RowEquations,
  type ScaleEquations
} from './detectTerms'
import { packedMap, type ScaleLayout } from './layout'
import { layouts as knownLayouts } from './registry'

export interface ProductDetection extends NamedCandidate {
  /** layout: all rows agree. defect: all rows agree with one mistake made. nearest: no candidate agrees in full. */
  verdict: 'layout' | 'defect' | 'nearest'
  /** Other candidates that explain the product just as well. */
  alike: NamedCandidate[]
  /** Rows of the operand that were compared, and those whose product agrees. */
  testedRows: number
  agreeingRows: number
  /** |C - product with these scales| / |C| over the elements compared; Infinity where a scale is no number. */
  relativeError: number
  /** Bytes that the candidate named takes for this matrix. */
  expectedBytes: number
  /** First row, of those compared, whose product does not agree. */
  firstRow?: number
  /** Where the buffer first differs from the layout named, by the scales that the product asks for. */
  firstDifference?: Difference
  /** Candidates of this size that leave scales open, with too few elements in a row of the product to find them. */
  untested: NamedCandidate[]
}

/** One candidate against the product. */
interface Score {
  candidate: Candidate
  codes: Int16Array
  testedRows: number
  agreeingRows: number
  relativeError: number
  firstRow?: number
}

/** Rows on which scales that a candidate leaves open are solved for. */
const fittedRows = 16

/** Throws a UserError when the operands do not fit together. `onProgress` gets 0 to 1, once for each layout tried. */
export function detectFromProduct(
  operands: ProductOperands,
  packed: Uint8Array,
  layouts: readonly ScaleLayout[] = knownLayouts,
  onProgress?: (fraction: number) => void
): ProductDetection {
  const equations = scaleEquations(operands)
  const sample = sampleEquations(equations, operands.k)
  const untested: NamedCandidate[] = []

  let tried = 0
  const fitting = ({ size }: Candidate) => size === packed.length
  const other = (candidate: Candidate) => !fitting(candidate)
  function scored(withDefects: boolean, wanted: (candidate: Candidate) => boolean): Score[] {
    return layouts.flatMap((layout) => {
      const candidates = candidatesOf(layout, equations.shape, withDefects).filter(wanted)
      const scores = candidates.flatMap((candidate) => {
        const score = scoreOf(candidate, packed, equations, sample)
        if (score) return [score]
        if (fitting(candidate)) untested.push(nameOf(candidate))
        return []
      })
      onProgress?.(++tried / (4 * layouts.length))
      return scores
    })
  }
  const agrees = ({ agreeingRows, testedRows }: Score) => agreeingRows === testedRows

  // Those of another size can be the nearest at most: they are looked at when nothing else explains the bytes.
  const plain = scored(false, fitting)
  const exact = plain.filter(agrees)
  if (exact.length > 0) return named('layout', exact, packed, equations, untested)
  const mistaken = scored(true, fitting)
  const explained = sayingMost(mistaken.filter(agrees), ({ candidate }) => candidate)
  if (explained.length > 0) return named('defect', explained, packed, equations, untested)
  const all = [...plain, ...mistaken, ...scored(false, other), ...scored(true, other)]
  return named('nearest', nearest(all, packed), packed, equations, untested)
}

/** Undefined when the product cannot say: the candidate leaves scales open and there is too little to find them by. */
function scoreOf(
  candidate: Candidate,
  packed: Uint8Array,
  equations: ScaleEquations,
  sample: readonly RowEquations[]
): Score | undefined {
  const { columns } = equations.shape
  const codes = codesOf(candidate.map, packed, equations.shape)
  const rowOf = (row: number) => codes.subarray(row * columns, (row + 1) * columns)
  const values = new Float64Array(columns)
  const score: Score = { candidate, codes, testedRows: 0, agreeingRows: 0, relativeError: 0 }
  let error = 0
  let product = 0
  const open = codes.includes(unknownCode)
  const rows = open ? spread(sample.length, fittedRows).map((i) => sample[i]!) : sample
  for (const direct of rows) {
    for (let column = 0; column < columns; column++) {
      const code = codes[direct.row * columns + column]!
      values[column] = code < 0 ? NaN : equations.scaleValues[code]!
    }
    const row = open ? fittedRow(equations, direct.row, rowOf(direct.row), values) : direct
    if (!row) continue
    const compared = compareRow(equations, row, values)
    error += compared.error
    product += compared.product
    score.testedRows++
    if (compared.agrees) score.agreeingRows++
    else score.firstRow ??= row.row
  }
  if (score.testedRows === 0) return undefined
  const relative = Math.sqrt(error / product)
  score.relativeError = error === 0 ? 0 : Number.isNaN(relative) ? Infinity : relative
  return score
}

/** Those with the largest share of agreeing rows; among them, those with the smallest error. */
function nearest(scores: readonly Score[], packed: Uint8Array): Score[] {
  const shareOf = ({ candidate: { map }, agreeingRows, testedRows }: Score) => {
    const sizes = Math.min(map.length, packed.length) / Math.max(map.length, packed.length)
    return (agreeingRows / testedRows) * sizes
  }
  const most = Math.max(...scores.map(shareOf))
  const best = scores.filter((score) => shareOf(score) === most)
  const least = Math.min(...best.map(({ relativeError }) => relativeError))
  return best.filter(({ relativeError }) => relativeError === least)
}

function named(
  verdict: ProductDetection['verdict'],
  [first, ...rest]: Score[],
  packed: Uint8Array,
  equations: ScaleEquations,
  untested: NamedCandidate[]
): ProductDetection {
  const { candidate, codes, testedRows, agreeingRows, relativeError, firstRow } = first!
  const plain = verdict === 'nearest' ? candidate.map : packedMap(candidate.placed, equations.shape)
  const linear = verdict === 'nearest' ? recovered(equations, firstRow) : codes
  const firstDifference = linear && differenceOf(plain, packed, linear, equations.shape)
  return {
    verdict,
    ...nameOf(candidate),
    alike: rest.map(({ candidate: other }) => nameOf(other)),
    testedRows,
    agreeingRows,
    relativeError,
    expectedBytes: candidate.size,
    ...(firstRow === undefined ? {} : { firstRow }),
    ...(firstDifference ? { firstDifference } : {}),
    untested
  }
}

/** The linear scales as far as one row of the product gives them; all others unknown. */
function recovered(equations: ScaleEquations, row: number | undefined): Int16Array | undefined {
  const codes = row === undefined ? undefined : recoverRow(equations, row)
  if (!codes) return undefined
  const { rows, columns } = equations.shape
  const linear = new Int16Array(rows * columns).fill(unknownCode)
  linear.set(codes, row! * columns)
  return linear
}
