/** A rectangle of C that holds one value throughout: a tile that no thread block wrote, or whose result was lost. */
import type { Product } from './sampledProduct'

export interface Rectangle {
  /** What stands in it: 0, NaN, or what the memory was filled with. */
  value: number
  rows: { start: number; end: number }
  columns: { start: number; end: number }
  /** False: the rectangle surrounds several such places and holds other values too. */
  full: boolean
}

/** Smaller rectangles happen by chance, and in products of small integers. */
const edge = 8

/** The largest such rectangle at least 8 x 8 (M x N: C row-major), if there is one. */
export function findUnwritten(product: Product, m: number, n: number): Rectangle | undefined {
  if (m < edge || n < edge) return undefined
  for (const value of candidates(product)) {
    const found = rectangleOf(product, m, n, value)
    if (found) return found
  }
  return undefined
}

/** NaN, 0, and the value that is met most often. */
function candidates(product: Product): number[] {
  const counts = new Map<number, number>()
  const step = Math.max(1, Math.floor(product.length / 65_536)) | 1
  for (let i = 0; i < product.length; i += step)
    counts.set(product[i]!, (counts.get(product[i]!) ?? 0) + 1)
  const most = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))
  return [...new Set([NaN, 0, most[0]])]
}

function rectangleOf(product: Product, m: number, n: number, value: number): Rectangle | undefined {
  const holds = (row: number, column: number) => Object.is(product[row * n + column]! + 0, value)
  const all = (rows: [number, number], columns: [number, number]) => {
    for (let row = rows[0]; row < rows[1]; row++)
      for (let column = columns[0]; column < columns[1]; column++)
        if (!holds(row, column)) return false
    return true
  }
  let [top, bottom, left, right] = [m, 0, n, 0]
  for (let row = 0; row + edge <= m; row += edge) {
    for (let column = 0; column + edge <= n; column += edge) {
      if (!all([row, row + edge], [column, column + edge])) continue
      top = Math.min(top, row)
      bottom = Math.max(bottom, row + edge)
      left = Math.min(left, column)
      right = Math.max(right, column + edge)
    }
  }
  if (bottom === 0) return undefined
  // From the grid of 8 to the element.
  while (top > 0 && all([top - 1, top], [left, right])) top--
  while (bottom < m && all([bottom, bottom + 1], [left, right])) bottom++
  while (left > 0 && all([top, bottom], [left - 1, left])) left--
  while (right < n && all([top, bottom], [right, right + 1])) right++
  return {
    value,
    rows: { start: top, end: bottom },
    columns: { start: left, end: right },
    full: all([top, bottom], [left, right])
  }
}
