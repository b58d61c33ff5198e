/** Axes of a chart over K, M or N: where they begin and end, and where their ticks stand. */
import type { Step } from '../contract/run'
import { drawn, type Dimension, type Figure, type SweepLine } from './sweepSeries'
import { roundStep } from './ticks'

export type FigureOfStep = (step: Step) => Figure | undefined

export const placesOf = (lines: readonly SweepLine[]): number[] =>
  [...new Set(lines.flatMap(({ points }) => points.map(({ at }) => at)))].sort((a, b) => a - b)

/** All lines of a chart run over the same. */
export const dimensionOf = (lines: readonly SweepLine[]): Dimension => lines[0]?.over ?? 'k'

/** Whether most values would be pressed together at the low end of a linear axis, as powers of two are. */
export function isGeometric(lines: readonly SweepLine[]): boolean {
  const places = placesOf(lines)
  const [first, middle, last] = [places[0], places[places.length >> 1], places.at(-1)]
  if (first === undefined || middle === undefined || last === undefined) return false
  return places.length > 2 && (middle - first) / (last - first) < 0.3
}

/** A single value stands in the middle of its axis. */
export function placeRange(places: readonly number[]): { min: number; max: number } {
  const [first, last] = [places[0], places.at(-1)]
  if (first === undefined || last === undefined) return { min: 0, max: 1024 }
  return first === last ? { min: first / 2, max: first * 1.5 } : { min: first, max: last }
}

export interface ValueAxis {
  min: number
  max: number
  interval?: number
}

/** The same for all panels, with round steps; from 0, or from a power of ten on a logarithmic axis. */
export function valueAxis(
  lines: readonly SweepLine[],
  figure: FigureOfStep,
  factor: number,
  logarithmic: boolean
): ValueAxis {
  let [least, most] = [Infinity, 0]
  for (const line of lines) {
    for (const { step } of line.points) {
      const value = drawn(figure(step)?.value, factor)
      if (value === null || value <= 0) continue
      least = Math.min(least, value)
      most = Math.max(most, value)
    }
  }
  if (most === 0) return { min: logarithmic ? 1 : 0, max: logarithmic ? 10 : 1 }
  if (logarithmic)
    return { min: 10 ** Math.floor(Math.log10(least)), max: 10 ** Math.ceil(Math.log10(most)) }
  const interval = roundStep((most * 1.1) / 4)
  return { min: 0, max: interval * Math.ceil((most * 1.08) / interval), interval }
}

/** How far along its axis a place stands, 0..1. */
export function shareOfPlaces(
  at: number,
  { min, max }: { min: number; max: number },
  logarithmic: boolean
): number {
  const place = (value: number) => (logarithmic ? Math.log(value) : value)
  return (place(at) - place(min)) / (place(max) - place(min))
}

/** Pixels a label takes with the gap after it. */
const labelWidth = 46

/** Ticks stand at values that were measured, as many as there is room for; first and last always. */
export function placeTicks(lines: readonly SweepLine[], logX: boolean, width = 900): number[] {
  const places = placesOf(lines)
  if (places.length < 2) return places
  const distance = labelWidth / Math.max(width, labelWidth * 2)
  const place = (at: number) => (logX ? Math.log2(at) : at)
  const [start, end] = [place(places[0]!), place(places.at(-1)!)]
  const share = (at: number) => (place(at) - start) / (end - start)
  const ticks: number[] = []
  // Round values first: 2K, 4K, 6K read better than 1536, 3584.
  const isRound = (at: number) => at % 1024 === 0
  const candidates = places.slice(0, -1).filter((at, index) => index === 0 || isRound(at))
  for (const at of candidates.length > 2 ? candidates : places.slice(0, -1)) {
    const before = ticks.at(-1)
    const roomBefore = before === undefined || share(at) - share(before) >= distance
    const roomAfter = before === undefined || 1 - share(at) >= distance
    if (roomBefore && roomAfter) ticks.push(at)
  }
  return [...ticks, places.at(-1)!]
}

/** How far up its axis a value stands, 0..1. */
export function shareOfAxis(value: number, { min, max }: ValueAxis, logarithmic: boolean): number {
  if (!logarithmic) return (value - min) / (max - min)
  return (Math.log(value) - Math.log(min)) / (Math.log(max) - Math.log(min))
}
