/** How far a product may lie from exact arithmetic, judged by how many significant bits its own values use. */

/** Significant bits of the types products come in: bfloat16, float16, float32, float64. */
const precisions = [8, 11, 24, 53] as const

export interface Rounding {
  /** Significant bits that hold every value of the product. */
  bits: (typeof precisions)[number]
  /** Whether `found` can be what `exact` became; `magnitude` is the sum of the |terms| of `exact`. */
  agrees(found: number, exact: number, magnitude: number): boolean
}

/**
 * Sums of K terms in float32 stray by about sqrt(K) 2^-24 of the sum of their magnitudes (Higham, "Accuracy and Stability
 * of Numerical Algorithms", section 4.2); four times that is allowed, and half a unit of the type C is kept in.
 */
export function roundingOf(product: Float64Array | Float32Array, k: number): Rounding {
  const bits =
    precisions.find((precision) => product.every((value) => fits(value, precision))) ?? 53
  const ofSum = bits === 53 ? 1e-9 : 4 * Math.sqrt(k) * 2 ** -24
  const ofValue = bits === 53 ? 0 : 2 ** -bits
  const largest = bits <= 11 ? 65504 : bits === 24 ? 3.4e38 : Infinity
  // Subnormals of float16 are 2^-24 apart; a product of small numbers only was not kept in float16.
  const halfSubnormal = bits <= 11 ? 2 ** -25 : 2 ** -150
  const small = Math.min(halfSubnormal, ofValue * largestOf(product))
  return {
    bits,
    agrees(found, exact, magnitude) {
      if (Number.isNaN(found)) return Number.isNaN(exact)
      if (!Number.isFinite(found)) return found === exact || exact * Math.sign(found) > largest
      return Math.abs(found - exact) <= ofSum * magnitude + ofValue * Math.abs(found) + small
    }
  }
}

/** Veltkamp's splitting: the upper `bits` of a value; a value that equals them needs no more. */
function fits(value: number, bits: number): boolean {
  if (!Number.isFinite(value) || bits === 53) return true
  const scaled = value * (2 ** (53 - bits) + 1)
  return scaled - (scaled - value) === value || !Number.isFinite(scaled)
}

function largestOf(product: Float64Array | Float32Array): number {
  let largest = 0
  for (const value of product) {
    if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value))
  }
  return largest
}
