/** Where names stand in a chart: beside their points, never on one another, off the lines where there is room. Pixels, y down. */

export interface Box {
  left: number
  top: number
  width: number
  height: number
}

export interface LabelWish {
  /** Of the point that is named. */
  x: number
  y: number
  text: string
  /** From the point to the corner of the label, best first; its size is known to who asks. */
  places: readonly { left: number; top: number }[]
}

/** From one end to the other. */
export type Segment = readonly [x1: number, y1: number, x2: number, y2: number]

/** A generous width of a letter at 11 pixels, as bold figures have it; and of a line. */
const letterWidth = 6.6
export const labelHeight = 14
export const labelWidth = (text: string): number => Math.ceil(text.length * letterWidth)

export const intersects = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + b.height &&
  b.top < a.top + a.height

/** Above, below, left and right of a point and between, `gap` pixels from it: the right first, since text is read from its point. */
export function placesAround(width: number, gap: number) {
  const [middle, centre] = [-labelHeight / 2, -width / 2]
  const [right, left] = [gap, -gap - width]
  const [above, below] = [-gap - labelHeight + 3, gap - 3]
  return [
    { left: right, top: middle },
    { left, top: middle },
    { left: centre, top: above },
    { left: centre, top: below },
    { left: right, top: above },
    { left: right, top: below },
    { left, top: above },
    { left, top: below }
  ]
}

/** Beside a line that goes down from here, in `rows` of text: left of it in any row before right of it. */
export function placesAtLine(width: number, rows: number) {
  const tops = Array.from({ length: rows }, (_, row) => row * labelHeight)
  return [-width, 0].flatMap((left) => tops.map((top) => ({ left, top })))
}

/**
 * The box of each label, undefined where there is no room: the first that is asked for chooses first. A label keeps within
 * `bounds` and off other labels and `taken`; of the places that remain it takes the one that the fewest lines run through, and
 * none where more than `mostCrossed` do.
 */
export function placeLabels(
  wishes: readonly LabelWish[],
  bounds: Box,
  {
    taken = [],
    lines = [],
    mostCrossed = Infinity
  }: { taken?: readonly Box[]; lines?: readonly Segment[]; mostCrossed?: number } = {}
): (Box | undefined)[] {
  const placed = [...taken]
  return wishes.map(({ x, y, text, places }) => {
    let best: Box | undefined
    let least = Infinity
    for (const { left, top } of places) {
      const box = { left: x + left, top: y + top, width: labelWidth(text), height: labelHeight }
      if (!isWithin(box, bounds) || placed.some((other) => intersects(box, other))) continue
      const crossed = lines.filter((line) => crosses(line, box)).length
      if (crossed >= least || crossed > mostCrossed) continue
      best = box
      least = crossed
    }
    if (best) placed.push(best)
    return best
  })
}

/** Heights in the order of `wanted`, at least `apart` from one another: moved downwards first, then up from the bottom. */
export function spreadApart(
  wanted: readonly number[],
  apart: number,
  top: number,
  bottom: number
): number[] {
  const heights = [...wanted]
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!)
  let least = top
  for (const index of order) {
    heights[index] = Math.max(least, heights[index]!)
    least = heights[index] + apart
  }
  let most = bottom
  for (const index of order.reverse()) {
    heights[index] = Math.min(most, heights[index]!)
    most = heights[index] - apart
  }
  return heights
}

const isWithin = (box: Box, bounds: Box): boolean =>
  box.left >= bounds.left &&
  box.top >= bounds.top &&
  box.left + box.width <= bounds.left + bounds.width &&
  box.top + box.height <= bounds.top + bounds.height

/** Liang and Barsky's clipping: whether a part of the line is in the box. */
export function crosses([x1, y1, x2, y2]: Segment, { left, top, width, height }: Box): boolean {
  // Nearly all lines of a chart are nowhere near the box.
  if ((x1 < left && x2 < left) || (x1 > left + width && x2 > left + width)) return false
  if ((y1 < top && y2 < top) || (y1 > top + height && y2 > top + height)) return false
  let [from, to] = [0, 1]
  for (const [step, low, high] of [
    [x2 - x1, left - x1, left + width - x1],
    [y2 - y1, top - y1, top + height - y1]
  ] as const) {
    if (step === 0) {
      if (low > 0 || high < 0) return false
      continue
    }
    const [near, far] = step > 0 ? [low / step, high / step] : [high / step, low / step]
    from = Math.max(from, near)
    to = Math.min(to, far)
  }
  return from < to
}

/** Of evenly spaced labels centred on their ticks over `room` pixels: every how manieth is written, so that none meets the next. */
export function everyNth(texts: readonly string[], room: number): number {
  const step = room / Math.max(1, texts.length - 1)
  const widest = Math.max(0, ...texts.map(labelWidth))
  return room > 0 ? Math.max(1, Math.ceil((widest + 4) / step)) : 1
}
