/** The steps of a swizzle in pixels: frames side by side, or one frame between two steps. Pure data. */
import { extentOf, placeIn, type Swizzle, type SwizzleStep, type TileCell } from './swizzle'

export interface Rect {
  x: number
  y: number
  width: number
  height: number
}

export interface Frame {
  area: Rect
  /** Which step; between two of them in a morph. */
  step: number
  titles: { title: string; about: string }
}

/** A title and two lines about the step. */
const headHeight = 54
const sideSpace = 50
const largestCell = { width: 34, height: 16 }
const gapPixels = 7
/** Between copies of tensor memory. */
const copyGap = 5

/** One frame a step, side by side; below one another where they would be narrower than they can be read. */
export function framesOf(swizzle: Swizzle, width: number, height: number): Frame[] {
  const perRow = Math.max(1, Math.min(swizzle.steps.length, Math.floor(width / 190)))
  const rows = Math.ceil(swizzle.steps.length / perRow)
  const weights = swizzle.steps.map((step) => 1 + Math.sqrt(extentOf(step).x.cells) / 4)
  return swizzle.steps.map(({ title, about }, at) => {
    const row = Math.floor(at / perRow)
    const inRow = weights.slice(row * perRow, (row + 1) * perRow)
    const total = inRow.reduce((sum, weight) => sum + weight, 0)
    const before = inRow.slice(0, at % perRow).reduce((sum, weight) => sum + weight, 0)
    const area = {
      x: (before / total) * width,
      y: (row / rows) * height,
      width: (weights[at]! / total) * width,
      height: height / rows
    }
    return { area, step: at, titles: { title: `${at + 1} ${title}`, about } }
  })
}

export function oneFrame(swizzle: Swizzle, step: number, width: number, height: number): Frame {
  const { title, about } = swizzle.steps[Math.round(step)]!
  const titles = { title: `${Math.round(step) + 1} ${title}`, about }
  return { area: { x: 0, y: 0, width, height }, step, titles }
}

function rectAt(step: SwizzleStep, cell: TileCell, { x, y, width, height }: Rect): Rect {
  const extent = extentOf(step)
  const inner = { width: width - sideSpace - 12, height: height - headHeight - 8 }
  const copiesHigh = (inner.height - (step.copies - 1) * copyGap) / step.copies
  const cellWidth = Math.min(
    largestCell.width,
    (inner.width - extent.x.gaps * gapPixels) / extent.x.cells
  )
  const cellHeight = Math.min(
    largestCell.height,
    (copiesHigh - extent.y.gaps * gapPixels) / extent.y.cells
  )
  const place = placeIn(step, cell)
  return {
    x: x + sideSpace + place.x.index * cellWidth + place.x.slab * gapPixels,
    y: y + headHeight + place.y.index * cellHeight + place.y.slab * gapPixels,
    width: cellWidth,
    height: cellHeight
  }
}

/** Where a cell is drawn; halfway through a morph between where it was and where it goes. */
export function cellRect(swizzle: Swizzle, frame: Frame, cell: TileCell): Rect {
  const from = Math.floor(frame.step)
  const part = frame.step - from
  const start = rectAt(swizzle.steps[from]!, cell, frame.area)
  if (part === 0) return start
  const end = rectAt(swizzle.steps[from + 1]!, cell, frame.area)
  const between = (a: number, b: number) => a + (b - a) * part
  return {
    x: between(start.x, end.x),
    y: between(start.y, end.y),
    width: between(start.width, end.width),
    height: between(start.height, end.height)
  }
}

/** Offsets of the copies below: 0, and three more in tensor memory. */
export function copyOffsets(swizzle: Swizzle, frame: Frame): number[] {
  const step = swizzle.steps[frame.step]
  if (!step || step.copies === 1) return [0]
  const { y } = extentOf(step)
  const { height } = cellRect(swizzle, frame, swizzle.cells[0]!)
  return Array.from({ length: step.copies }, (_, i) => i * (y.cells * height + copyGap))
}

/** The cell at a point, in any of the frames. */
export function cellAt(
  swizzle: Swizzle,
  frames: readonly Frame[],
  x: number,
  y: number
): TileCell | undefined {
  for (const frame of frames) {
    for (const offset of copyOffsets(swizzle, frame)) {
      for (const cell of swizzle.cells) {
        const rect = cellRect(swizzle, frame, cell)
        const top = rect.y + offset
        if (x >= rect.x && x < rect.x + rect.width && y >= top && y < top + rect.height) return cell
      }
    }
  }
  return undefined
}

export interface LineMark {
  text: string
  x: number
  y: number
}

const leastApart = { lines: 24, copies: 40 }

/** Names at the left of lines, every second, fourth, eighth and so on, as there is room: rows of the matrix at first, then bytes or lanes. */
export function lineMarks(
  swizzle: Swizzle,
  frame: Frame,
  nameOf: (cell: TileCell, step: SwizzleStep, copy: number) => string
): LineMark[] {
  const step = swizzle.steps[frame.step]
  if (!step) return []
  const first = swizzle.cells
    .filter((cell) => placeIn(step, cell).x.index === 0)
    .map((cell) => ({ cell, rect: cellRect(swizzle, frame, cell) }))
    .sort((one, other) => one.rect.y - other.rect.y)
  const apart = (step.copies > 1 ? leastApart.copies : leastApart.lines) / first[0]!.rect.height
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(apart)))
  return copyOffsets(swizzle, frame).flatMap((offset, copy) =>
    first
      .filter((_, line) => line % every === 0)
      .map(({ cell, rect }) => ({
        text: nameOf(cell, step, copy),
        x: rect.x - 6,
        y: rect.y + offset + Math.max(9, rect.height * 0.75)
      }))
  )
}

export interface HueName {
  text: string
  /** Whose hue it stands on. */
  cell: TileCell
  /** The lower left corner of its first slab. */
  x: number
  y: number
}

/** 'g0' to 'g3' in a frame that rests, each where its hue is one block of cells with room for it. */
export function hueNames(swizzle: Swizzle, frame: Frame): HueName[] {
  if (!swizzle.steps[frame.step]) return []
  return [0, 1, 2, 3].flatMap((hue) => {
    const cells = swizzle.cells.filter((cell) => cell.hue === hue)
    const rects = cells.map((cell) => cellRect(swizzle, frame, cell))
    const left = Math.min(...rects.map(({ x }) => x))
    const right = Math.max(...rects.map(({ x, width }) => x + width))
    const top = Math.min(...rects.map(({ y }) => y))
    const bottom = Math.max(...rects.map(({ y, height }) => y + height))
    const filled = rects.reduce((sum, { width, height }) => sum + width * height, 0)
    const isBlock = filled > 0.99 * (right - left) * (bottom - top)
    if (cells.length === 0 || !isBlock || right - left < 24 || bottom - top < 20) return []
    const at = rects.findIndex(({ x, y, height }) => x === left && y + height > bottom - 1)
    return [{ text: `${swizzle.hueLetter}${hue}`, cell: cells[at]!, x: left + 4, y: bottom - 6 }]
  })
}

export interface CellText {
  cell: TileCell
  text: string
  /** The middle of its cell. */
  x: number
  y: number
}

/** Of the monospaced 11 pixels that texts of cells have: a letter and a line. */
const letter = { width: 6.7, height: 12 }

/** What stands in the cells of a frame that rests: nothing where one of them has no room for its text. */
export function cellTexts(
  swizzle: Swizzle,
  frame: Frame,
  textOf: (cell: TileCell) => string
): CellText[] {
  if (!swizzle.steps[frame.step]) return []
  const { width, height } = cellRect(swizzle, frame, swizzle.cells[0]!)
  if (height < letter.height) return []
  const texts: CellText[] = []
  for (const cell of swizzle.cells) {
    const text = textOf(cell)
    if (text.length * letter.width > width) return []
    const rect = cellRect(swizzle, frame, cell)
    for (const offset of copyOffsets(swizzle, frame))
      texts.push({ cell, text, x: rect.x + width / 2, y: rect.y + offset + height / 2 })
  }
  return texts
}

/** The way of one scale through all frames: the middle of its cell in each. */
export function wayOf(
  swizzle: Swizzle,
  frames: readonly Frame[],
  cell: TileCell
): { x: number; y: number }[] {
  return frames.map((frame) => {
    const rect = cellRect(swizzle, frame, cell)
    return { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }
  })
}
