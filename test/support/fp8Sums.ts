/**
 * How Hopper's tensor cores sum fp8 products, by the model of arXiv 2511.10909 that test/gpu/accumulator holds an H200 to: 32
 * products and the sum so far are aligned to the largest exponent and truncated to 13 fractional bits, and so is their sum. A
 * product counts with the sum of its factors' exponents.
 */

/** Numbers of an fp8 type along K, and the exponent that each counts with: subnormal ones that of the smallest normal. */
export interface Fp8Row {
  values: Float64Array
  exponents: Int16Array
}

const fractionBits = 13
const perInstruction = 32

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
/** floor(log2 |value|) of a number that is not zero, nor subnormal as a double. */
function exponentOf(value: number): number {
  double[0] = value
  return ((halves[1]! >>> 20) & 2047) - 1023
}

export const fp8Row = (values: Float64Array, smallestNormal: number): Fp8Row => ({
  values,
  exponents: Int16Array.from(values, (value) =>
    value === 0 ? smallestNormal : Math.max(smallestNormal, exponentOf(value))
  )
})

function truncated(value: number, exponent: number): number {
  const unit = 2 ** (exponent - fractionBits)
  return Math.trunc(value / unit) * unit
}

/** The sum of each `interval` of one element of C, from zero on, as it is promoted. */
export function hopperSums(a: Fp8Row, b: Fp8Row, interval: number): number[] {
  const length = a.values.length
  const sums: number[] = []
  const products = new Float64Array(perInstruction)
  for (let from = 0; from < length; from += interval) {
    let sum = 0
    for (let step = from; step < Math.min(from + interval, length); step += perInstruction) {
      let most = sum === 0 ? -Infinity : exponentOf(sum)
      const count = Math.min(perInstruction, length - step)
      for (let at = 0; at < count; at++) {
        const product = a.values[step + at]! * b.values[step + at]!
        products[at] = product
        if (product !== 0) most = Math.max(most, a.exponents[step + at]! + b.exponents[step + at]!)
      }
      if (most === -Infinity) continue
      let wide = truncated(sum, most)
      for (let at = 0; at < count; at++) wide += truncated(products[at]!, most)
      sum = wide === 0 ? 0 : truncated(wide, exponentOf(wide))
    }
    sums.push(sum)
  }
  return sums
}
