/**
 * The stretch of an axis that a picture shows: zoomed, moved, brought to what is looked for. Plain numbers in the axis's own
 * unit (shares of a total, nanoseconds from the start of a trace), so a zoom from hours to a nanosecond keeps its precision.
 */
export interface Span {
  start: number
  end: number
}

export interface SpanLimits {
  /** All there is. */
  whole: Span
  /** The shortest stretch that can be shown. */
  least: number
}

export const lengthOf = ({ start, end }: Span): number => end - start

export const isSameSpan = (a: Span, b: Span): boolean => a.start === b.start && a.end === b.end

/** Inside all there is, neither longer than that nor shorter than the least; moved before it is cut. */
export function limited(span: Span, { whole, least }: SpanLimits): Span {
  const total = lengthOf(whole)
  const length = Math.min(total, Math.max(Math.min(least, total), lengthOf(span)))
  const middle = (span.start + span.end) / 2
  const wanted = lengthOf(span) === length ? span.start : middle - length / 2
  const start = Math.min(Math.max(wanted, whole.start), whole.end - length)
  return { start, end: start + length }
}

/** @param at where in the picture, 0 left to 1 right, stays where it is. @param factor above 1 shows more detail. */
export function zoomed(span: Span, at: number, factor: number, limits: SpanLimits): Span {
  const total = lengthOf(limits.whole)
  const least = Math.min(limits.least, total)
  const length = Math.min(total, Math.max(least, lengthOf(span) / factor))
  const fixed = span.start + lengthOf(span) * at
  return limited({ start: fixed - length * at, end: fixed + length * (1 - at) }, limits)
}

/** @param by shares of the stretch shown; above 0 goes to the right. */
export function moved(span: Span, by: number, limits: SpanLimits): Span {
  const step = lengthOf(span) * by
  return limited({ start: span.start + step, end: span.end + step }, limits)
}

/** `of` with a little room on both sides. */
export function fitted(of: Span, limits: SpanLimits, room = 0.02): Span {
  const margin = lengthOf(of) * room
  return limited({ start: of.start - margin, end: of.end + margin }, limits)
}

/**
 * The nearest stretch in which `of` is in sight: unchanged where it is already, moved where that is enough, zoomed where it
 * would be narrower than `leastShare` of the picture or wider than it.
 */
export function showing(span: Span, of: Span, limits: SpanLimits, leastShare = 0.01): Span {
  const length = lengthOf(span)
  const share = lengthOf(of) / length
  if (share < leastShare) {
    const wanted = lengthOf(of) / (10 * leastShare)
    const middle = (of.start + of.end) / 2
    return limited({ start: middle - wanted / 2, end: middle + wanted / 2 }, limits)
  }
  // What is wider than the picture is in sight as long as it fills a good part of it.
  const seen = Math.min(of.end, span.end) - Math.max(of.start, span.start)
  if (seen >= Math.min(lengthOf(of), length / 2)) return span
  if (share > 0.9) return fitted(of, limits)
  const start = of.start < span.start ? of.start - length * 0.05 : of.end - length * 0.95
  return limited({ start, end: start + length }, limits)
}

/** Where a value lies, in pixels of a picture `width` wide. */
export const pixelOf = (value: number, { start, end }: Span, width: number): number =>
  ((value - start) / (end - start)) * width

/** The value under a pixel. */
export const valueAt = (pixel: number, { start, end }: Span, width: number): number =>
  start + (pixel / width) * (end - start)
