/** How far a product may lie from exact arithmetic, judged by its type, or by how many significant bits its own values use. */

/** Where a type of C ends and how fine it is. */
interface TypeOfC {
  /** Significant bits. */
  bits: number
  largest: number
  /** Exponent of the smallest normal number. */
  smallestNormal: number
}

/** Told by their values. bfloat16's own end lies beyond what matters here. */
const byValues: readonly TypeOfC[] = [
  { bits: 8, largest: 65504, smallestNormal: -126 },
  { bits: 11, largest: 65504, smallestNormal: -14 },
  { bits: 24, largest: 3.4e38, smallestNormal: -126 },
  { bits: 53, largest: Infinity, smallestNormal: -1022 }
]

/** Types of 8 bits, which saturate (OCP OFP8 v1.0, section 5): their values are bfloat16's and float16's too. */
const ofEightBits: Record<string, TypeOfC> = {
  e4m3: { bits: 4, largest: 448, smallestNormal: -6 },
  e5m2: { bits: 3, largest: 57344, smallestNormal: -14 }
}

export interface Rounding extends TypeOfC {
  /** Whether `found` can be what `exact` became; `magnitude` is the sum of the |terms| of `exact`. */
  agrees(found: number, exact: number, magnitude: number): boolean
}

/**
 * Sums of K terms in float32 stray by about sqrt(K) 2^-24 of the sum of their magnitudes (Higham, "Accuracy and Stability
 * of Numerical Algorithms", section 4.2); four times that is allowed, and half a unit of the type C is kept in. `output`: the
 * type that C is known to be of; only one of 8 bits says more than the values do.
 */
export function roundingOf(product: Float64Array | Float32Array, k: number, output = ''): Rounding {
  const type =
    ofEightBits[output] ??
    byValues.find(({ bits }) => product.every((value) => fits(value, bits))) ??
    byValues.at(-1)!
  const { bits, largest, smallestNormal } = type
  const ofSum = bits === 53 ? 1e-9 : 4 * Math.sqrt(k) * 2 ** -24
  const ofValue = bits === 53 ? 0 : 2 ** -bits
  // Half the distance of subnormals; a product of small numbers only was not kept in float16, whose subnormals bfloat16 is given too.
  const halfSubnormal =
    bits === 8 ? 2 ** -25 : bits >= 24 ? 2 ** -150 : 2 ** (smallestNormal - bits)
  const small =
    output in ofEightBits ? halfSubnormal : Math.min(halfSubnormal, ofValue * largestOf(product))
  return {
    ...type,
    agrees(found, exact, magnitude) {
      if (Number.isNaN(found)) return Number.isNaN(exact)
      if (!Number.isFinite(found)) return found === exact || exact * Math.sign(found) > largest
      const isSaturated = output in ofEightBits && Math.abs(found) === largest
      if (isSaturated && exact * Math.sign(found) >= largest) return true
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
