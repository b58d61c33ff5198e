/** What is drawn of a counter in a window: the least and the largest value of each pixel. A value holds until the next. */
import type { Counter } from '../tree/timeline'
import type { Window } from './window'

export interface CounterScene extends Window {
  /** [2 x pixels]: least, largest; NaN before the first value. */
  bounds: Float32Array<ArrayBuffer>
}

/**
 * @param originNs of the first slice, in the time of the timeline
 * @param width pixels that the window is wide
 */
export function counterScene(
  { ns, value }: Counter,
  originNs: number,
  { startNs, endNs }: Window,
  width: number
): CounterScene {
  const pixels = Math.max(1, Math.round(width))
  const bounds = new Float32Array(2 * pixels).fill(NaN)
  let at = lastUntil(ns, startNs + originNs)
  const beginOf = (pixel: number) => originNs + startNs + ((endNs - startNs) * pixel) / pixels
  for (let pixel = 0; pixel < pixels; pixel++) {
    // What ends where a pixel begins is not in it.
    while (at + 1 < ns.length && ns[at + 1]! <= beginOf(pixel)) at++
    const until = beginOf(pixel + 1)
    let least = at < 0 ? NaN : value[at]!
    let most = least
    while (at + 1 < ns.length && ns[at + 1]! < until) {
      const next = value[++at]!
      // Written so that the first value takes the place of none.
      if (!(least <= next)) least = next
      if (!(most >= next)) most = next
    }
    bounds[2 * pixel] = least
    bounds[2 * pixel + 1] = most
  }
  return { startNs, endNs, bounds }
}

/** Least and largest value of the pixel at a time; undefined outside, or where there is none yet. */
export function boundsAt(
  { startNs, endNs, bounds }: CounterScene,
  ns: number
): [number, number] | undefined {
  const pixels = bounds.length / 2
  const pixel = Math.floor(((ns - startNs) / (endNs - startNs)) * pixels)
  const [low, high] = [bounds[2 * pixel], bounds[2 * pixel + 1]]
  return low === undefined || high === undefined || Number.isNaN(low) ? undefined : [low, high]
}

/**
 * The middle of the next pixel, forwards or backwards, where a counter has another value than in the pixel before it;
 * undefined where none has within the window.
 *
 * @param scenes of one window, as they are drawn
 * @param within what is looked at of it
 */
export function nextChange(
  scenes: readonly CounterScene[],
  within: Window,
  fromNs: number,
  direction: 1 | -1
): number | undefined {
  const [first] = scenes
  if (!first) return undefined
  const pixels = first.bounds.length / 2
  const length = (first.endNs - first.startNs) / pixels
  const isChange = (pixel: number) =>
    scenes.some(({ bounds }) =>
      [0, 1].some((side) => !Object.is(bounds[2 * pixel + side], bounds[2 * pixel - 2 + side]))
    )
  const from = Math.floor((fromNs - first.startNs) / length)
  for (let pixel = from + direction; pixel > 0 && pixel < pixels; pixel += direction) {
    const middle = first.startNs + (pixel + 0.5) * length
    if (middle < within.startNs || middle > within.endNs) return undefined
    if (isChange(pixel)) return middle
  }
  return undefined
}

export interface CounterRange {
  least: number
  most: number
}

/** Of all its values; from 0 where it has none below. */
export function counterRange({ value }: Counter): CounterRange {
  let [least, most] = [0, -Infinity]
  for (const one of value) {
    if (one < least) least = one
    if (one > most) most = one
  }
  return { least, most: most > least ? most : least + 1 }
}

/** The last place whose time is not after another; -1 where there is none. */
function lastUntil(ns: Float64Array, at: number): number {
  let low = 0
  let high = ns.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ns[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
