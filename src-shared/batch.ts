/** Batch dimensions as matmul broadcasts them. */

/** Most matrices of a batch. */
const mostMatrices = 2 ** 20

/**
 * The batch dimensions of C, as numpy.matmul broadcasts those of A and B: compared from the last, two are equal, or one of
 * them is 1 or missing. undefined where they do not fit, or are too many matrices.
 */
export function broadcastBatch(a: readonly number[], b: readonly number[]): number[] | undefined {
  const rank = Math.max(a.length, b.length)
  const dims: number[] = []
  for (let at = 1; at <= rank; at++) {
    const [ofA, ofB] = [a.at(-at) ?? 1, b.at(-at) ?? 1]
    if (ofA !== ofB && ofA !== 1 && ofB !== 1) return undefined
    dims.unshift(Math.max(ofA, ofB))
  }
  return matricesOf(dims) <= mostMatrices ? dims : undefined
}

/** How many matrices dimensions are; none: 1. */
export const matricesOf = (dims: readonly number[]): number =>
  dims.reduce((count, extent) => count * extent, 1)

/** Which matrix of an operand with batch `own` a matrix of the batch `of` that it broadcasts to is made of. */
export function matrixOfBatch(
  own: readonly number[],
  of: readonly number[],
  matrix: number
): number {
  let rest = matrix
  let found = 0
  let weight = 1
  for (let at = 1; at <= of.length; at++) {
    const index = rest % of.at(-at)!
    rest = Math.floor(rest / of.at(-at)!)
    const extent = own.at(-at) ?? 1
    if (extent !== 1) found += index * weight
    weight *= extent
  }
  return found
}
