/** Which elements of a product are compared: every row while that is quick, and a few elements of each. */
import type { RowEquations, ScaleEquations } from './detectTerms'

/** Multiplications spent on the elements that every candidate is compared on. */
const work = 2 ** 27
const elementsPerRow = 8
/** Its multiples, modulo 1, spread evenly whatever their number. */
export const golden = (Math.sqrt(5) - 1) / 2

/**
 * `wanted` of `count` indices, ascending, spread evenly but without a period that the tiles of a layout could share:
 * multiples of the golden ratio.
 */
export function spread(count: number, wanted: number, start = 0): number[] {
  if (wanted >= count) return Array.from({ length: count }, (_, i) => i)
  const chosen = new Set<number>()
  for (let i = start; chosen.size < wanted; i++) chosen.add(Math.floor(((i * golden) % 1) * count))
  return [...chosen].sort((a, b) => a - b)
}

export function sampleEquations(equations: ScaleEquations, k: number): RowEquations[] {
  const { rows } = equations.shape
  const perRow = Math.min(elementsPerRow, equations.others)
  const wanted = Math.max(1, Math.floor(work / (perRow * k)))
  return spread(rows, wanted).map((row) =>
    equations.of(row, Int32Array.from(spread(equations.others, perRow, row * perRow)))
  )
}
