/**
 * Least squares by modified Gram-Schmidt over the matrix with the right-hand side as its last column, which is as
 * stable as Householder's method (Björck, "Numerical Methods for Least Squares Problems", section 2.4).
 */

/** A column of which less than this share is its own, not explained by the columns before it, counts as dependent. */
const dependent = 1e-10

/**
 * The x that makes |matrix x - target| smallest; matrix is (equations, unknowns), row-major. An unknown whose column is 0
 * or depends on the columns before it is NaN: the equations do not say what it is.
 */
export function solveLeastSquares(
  matrix: Float64Array,
  target: Float64Array,
  unknowns: number
): Float64Array {
  const equations = target.length
  const columns = Array.from({ length: unknowns }, (_, column) =>
    Float64Array.from({ length: equations }, (_, row) => matrix[row * unknowns + column]!)
  )
  columns.push(target.slice())
  const upper = columns.map(() => new Float64Array(unknowns + 1))
  const known = columns.map((column) => Math.sqrt(dot(column, column)))
  for (let j = 0; j < unknowns; j++) {
    const direction = columns[j]!
    const length = Math.sqrt(dot(direction, direction))
    if (length <= dependent * known[j]!) {
      known[j] = 0
      continue
    }
    upper[j]![j] = length
    for (let row = 0; row < equations; row++) direction[row]! /= length
    for (let right = j + 1; right <= unknowns; right++) {
      const column = columns[right]!
      const share = dot(direction, column)
      upper[j]![right] = share
      for (let row = 0; row < equations; row++) column[row]! -= share * direction[row]!
    }
  }
  return substitute(upper, known, unknowns)
}

function substitute(
  upper: readonly Float64Array[],
  known: readonly number[],
  unknowns: number
): Float64Array {
  const x = new Float64Array(unknowns)
  for (let j = unknowns - 1; j >= 0; j--) {
    if (known[j] === 0) continue
    let rest = upper[j]![unknowns]!
    for (let right = j + 1; right < unknowns; right++) rest -= upper[j]![right]! * x[right]!
    x[j] = rest / upper[j]![j]!
  }
  return x.map((value, j) => (known[j] === 0 ? NaN : value))
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
