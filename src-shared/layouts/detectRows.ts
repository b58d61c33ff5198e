/** Scale codes of one row: as a candidate layout reads them, and as the product asks for them. */
import { spread } from './detectSample'
import { solveLeastSquares } from './detectSolve'
import type { RowEquations, ScaleEquations } from './detectTerms'
import type { ScaleShape } from './layout'

/** The candidate does not say which code the scale has. */
export const unknownCode = -1
/** The candidate says two things about one scale, or looks past the end of the buffer. */
const contradiction = -2

/** Elements of the product beyond the number of unknowns, so that a solution can be wrong and be found so. */
const spareEquations = 4

/** Linear scale codes that the buffer holds if the map is right. */
export function codesOf(map: Int32Array, packed: Uint8Array, shape: ScaleShape): Int16Array {
  const codes = new Int16Array(shape.rows * shape.columns).fill(unknownCode)
  for (let position = 0; position < map.length; position++) {
    const index = map[position]!
    if (index < 0) continue
    const code = position < packed.length ? packed[position]! : contradiction
    codes[index] = codes[index] === unknownCode || codes[index] === code ? code : contradiction
  }
  return codes
}

/**
 * Solves for the scales that the codes leave open, into `values`, and returns equations that were used, of which there are
 * more than unknowns; undefined where the product has too few finite elements for that.
 */
export function fittedRow(
  equations: ScaleEquations,
  row: number,
  codes: Int16Array,
  values: Float64Array
): RowEquations | undefined {
  const open = [...codes.keys()].filter((block) => codes[block] === unknownCode)
  const wanted = 2 * open.length + spareEquations
  if (equations.others < open.length + spareEquations) return undefined
  const found = equations.of(row, Int32Array.from(spread(equations.others, wanted)))
  const { terms, targets } = found
  if (!terms.every(Number.isFinite) || !targets.every(Number.isFinite)) return undefined
  const blocks = values.length
  const matrix = new Float64Array(targets.length * open.length)
  const rest = targets.map((target, i) => {
    open.forEach((block, j) => (matrix[i * open.length + j] = terms[i * blocks + block]!))
    let known = 0
    for (let block = 0; block < blocks; block++)
      if (codes[block] !== unknownCode) known += terms[i * blocks + block]! * values[block]!
    return target - known
  })
  const solved = solveLeastSquares(matrix, rest, open.length)
  open.forEach((block, j) => (values[block] = Number.isNaN(solved[j]!) ? 0 : solved[j]!))
  return found
}

/**
 * The scale codes of a row that its products ask for, -1 where a block of zeros leaves the scale open. Undefined when the
 * products are too few, or when no scale codes explain them.
 */
export function recoverRow(equations: ScaleEquations, row: number): Int16Array | undefined {
  const { columns } = equations.shape
  const codes = new Int16Array(columns).fill(unknownCode)
  const values = new Float64Array(columns)
  const found = fittedRow(equations, row, codes, values)
  if (!found) return undefined
  const exact = new Float64Array(columns)
  for (let block = 0; block < columns; block++) {
    if (!termsOf(found, block, columns).some(Boolean)) continue
    const code = nearestCode(equations.scaleValues, values[block]!)
    codes[block] = code
    exact[block] = equations.scaleValues[code]!
  }
  return compareRow(equations, found, exact).agrees ? codes : undefined
}

const termsOf = ({ terms, targets }: RowEquations, block: number, columns: number) =>
  Array.from(targets, (_, i) => terms[i * columns + block]!)

function nearestCode(scaleValues: Float64Array, value: number): number {
  let best = 0
  scaleValues.forEach((candidate, code) => {
    if (Math.abs(candidate - value) < Math.abs(scaleValues[best]! - value)) best = code
  })
  return best
}

export interface RowComparison {
  agrees: boolean
  /** Sums of squares over the finite elements. */
  error: number
  product: number
}

/** The product of a row with these scales against the product given. */
export function compareRow(
  { rounding }: ScaleEquations,
  { terms, magnitudes, targets }: RowEquations,
  values: Float64Array
): RowComparison {
  const blocks = values.length
  const compared: RowComparison = { agrees: true, error: 0, product: 0 }
  for (let i = 0; i < targets.length; i++) {
    const target = targets[i]!
    let exact = 0
    let magnitude = 0
    for (let b = 0; b < blocks; b++) {
      exact += terms[i * blocks + b]! * values[b]!
      magnitude += magnitudes[i * blocks + b]! * Math.abs(values[b]!)
    }
    if (!rounding.agrees(target, exact, magnitude)) compared.agrees = false
    if (!Number.isFinite(target)) continue
    compared.error += (target - exact) * (target - exact)
    compared.product += target * target
  }
  return compared
}
