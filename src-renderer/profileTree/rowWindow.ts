/**
 * Which rows of a table are drawn, and where. A browser places boxes up to some 33 million pixels from the top of what
 * scrolls, and from a few million on draws them beside their place (32-bit floats): a longer table scrolls a shorter box,
 * one to one while one turns the wheel, in proportion where the scroll bar is dragged.
 */

/** Height of the box that scrolls, px, at most: below it a place is exact to an eighth of a pixel. */
export const tallestBox = 2_000_000
/** So far from either end, px, box and table scroll one to one. */
const endZone = 200_000

export const boxHeight = (total: number): number => Math.min(total, tallestBox)

/** Pixels above the view in the table, for pixels above it in the box. */
export function tableTop(boxTop: number, total: number, view: number): number {
  const [box, table] = [boxHeight(total) - view, total - view]
  if (box === table || boxTop <= endZone) return boxTop
  if (boxTop >= box - endZone) return table - (box - boxTop)
  return endZone + ((boxTop - endZone) * (table - 2 * endZone)) / (box - 2 * endZone)
}

/** The inverse of tableTop. */
export function boxTop(tableTop: number, total: number, view: number): number {
  const [box, table] = [boxHeight(total) - view, total - view]
  if (box === table || tableTop <= endZone) return tableTop
  if (tableTop >= table - endZone) return box - (table - tableTop)
  return endZone + ((tableTop - endZone) * (box - 2 * endZone)) / (table - 2 * endZone)
}

export interface RowSpan {
  /** First row drawn, and the one after the last. */
  first: number
  end: number
}

/** Rows in sight and `spare` beside them at both ends. */
export function rowsAt(
  top: number,
  view: number,
  rowHeight: number,
  count: number,
  spare: number
): RowSpan {
  const first = Math.max(0, Math.floor(top / rowHeight) - spare)
  const end = Math.min(count, Math.ceil((top + view) / rowHeight) + spare)
  return { first: Math.min(first, end), end }
}

/** The elements that show a span of rows, from the first on. */
export interface Elements extends RowSpan {
  ids: readonly number[]
}

/** A row keeps its element while it is drawn; those of rows that are gone show the new ones: none is made while one scrolls. */
export function elementsFor(before: Elements, { first, end }: RowSpan): Elements {
  const kept = before.ids.filter((_, at) => isWithin(before.first + at, first, end))
  const free = before.ids.filter((_, at) => !isWithin(before.first + at, first, end))
  let next = Math.max(-1, ...before.ids) + 1
  const ids: number[] = []
  const keptFrom = Math.max(first, before.first)
  for (let row = first; row < end; row++) {
    const at = row - keptFrom
    ids.push(kept[at] ?? free.shift() ?? next++)
  }
  return { first, end, ids }
}

const isWithin = (row: number, first: number, end: number) => row >= first && row < end
