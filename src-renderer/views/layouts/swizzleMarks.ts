/** What is marked on the picture of a swizzle: the scales that a load brings, and those that a lane reads as one word. */
import type { Swizzle, TileCell } from './swizzle'

/** Bytes of a lane's register, and of a column of tensor memory. */
const wordBytes = 4

/**
 * The cells whose scales lie in a range of bytes, both ends within.
 *
 * @param offsetOf the packed byte of a cell
 */
export const cellsIn = (
  { cells }: Swizzle,
  [first, last]: readonly [number, number],
  offsetOf: (cell: TileCell) => number
): ReadonlySet<TileCell> =>
  new Set(cells.filter((cell) => offsetOf(cell) >= first && offsetOf(cell) <= last))

/** The cells that come with one in the 32-bit word a lane reads: itself among them. */
export function wordOf(
  { cells }: Swizzle,
  cell: TileCell,
  offsetOf: (cell: TileCell) => number
): TileCell[] {
  const word = Math.floor(offsetOf(cell) / wordBytes)
  return cells.filter((other) => Math.floor(offsetOf(other) / wordBytes) === word)
}
