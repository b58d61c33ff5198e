/** The point of a history, chosen by device, format, kernel, shape and cache, each on its own. */
import type { HistoryPoint } from '@shared/contract/history'
import type { Output } from '@shared/contract/methods'
import { shape } from '@shared/units'

/** Points with how many runs have each, those of the most runs first. */
type Points = Output<'runs.history'>['points']

/** In the order in which a later one depends on those before it. */
const parts = {
  device: ({ device }: HistoryPoint) => device,
  format: ({ format }: HistoryPoint) => format,
  kernel: ({ kernel }: HistoryPoint) => kernel,
  shape: ({ m, n, k, groups }: HistoryPoint) =>
    shape(m, n, k) + (groups ? `, ${groups.rows.length} groups` : ''),
  cache: ({ mode }: HistoryPoint) => mode
}
export type PointPart = keyof typeof parts
export const pointParts = Object.keys(parts) as PointPart[]

export interface PointFilter {
  part: PointPart
  value: string
  options: readonly string[]
}

/** Each with the values that go with those chosen before it. */
export function pointFilters(points: Points, shown: HistoryPoint): PointFilter[] {
  return pointParts.map((part, at) => {
    const before = pointParts.slice(0, at)
    const fitting = points.filter(({ point }) =>
      before.every((one) => parts[one](point) === parts[one](shown))
    )
    const options = new Set(fitting.map(({ point }) => parts[part](point)))
    return { part, value: parts[part](shown), options: [...options].sort(byNumbers) }
  })
}

/** Commas are digits' own. */
const byNumbers = (a: string, b: string) =>
  a.replaceAll(',', '').localeCompare(b.replaceAll(',', ''), 'en', { numeric: true })

/** The point with the new value that keeps most of what is chosen, the first parts before the later ones. */
export function pointWith(
  points: Points,
  shown: HistoryPoint,
  part: PointPart,
  value: string
): HistoryPoint {
  const kept = (point: HistoryPoint) =>
    pointParts.reduce((sum, one) => 2 * sum + Number(parts[one](point) === parts[one](shown)), 0)
  const fitting = points.flatMap(({ point }) => (parts[part](point) === value ? [point] : []))
  return fitting.reduce((best, point) => (kept(point) > kept(best) ? point : best), fitting[0]!)
}
