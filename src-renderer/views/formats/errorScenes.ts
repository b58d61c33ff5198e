/** The charts of quantisation errors as data: spread, error by size, and what each scale rule gains. In pixels. */
import { spreadApart } from '@shared/charts/placeLabels'
import { blockFormats, type BlockFormat } from '@shared/formats/blockFormat'
import type { ComparisonRow } from '@shared/formats/compare'
import {
  errorAxis,
  errorCounts,
  sizeAxis,
  sizeCounts,
  type ErrorProfile
} from '@shared/formats/errorProfile'
import { nvfp4RuleFor, scaleRules, type ScaleRule } from '@shared/formats/quantize'

/** Formats whose A is their own: the others would repeat its curve. A hue and a dash each, the same in all charts. */
export const drawnFormats: readonly { format: BlockFormat; colour: string; dash: string }[] = [
  ['mxfp4', 'chart-1', ''],
  ['nvfp4', 'chart-2', '7 3'],
  ['mxfp4_b16', 'chart-7', '2 2'],
  ['mxfp6_e3m2', 'chart-6', '1.5 3'],
  ['mxfp6_e2m3', 'chart-4', '4 2'],
  ['mxfp8_e5m2', 'chart-5', '8 3 2 3'],
  ['mxfp8', 'chart-3', '']
].flatMap(([id, token, dash]) => {
  const format = blockFormats.find((one) => one.id === id)
  return format ? [{ format, colour: `var(--${token})`, dash: dash! }] : []
})

/** A bin with fewer values has no point on a curve. */
const leastValues = 12

/** Pixels need no more. */
const tenth = (pixels: number) => Math.round(pixels * 10) / 10

/** First and last bin of sizes. */
export type SizeRange = [number, number]

/** A histogram as the outline of its bars, root-scaled: `height` is the top of the highest bar of all. */
export function histogramPath(
  profile: ErrorProfile,
  range: SizeRange | undefined,
  width: number,
  height: number,
  most: number
): string {
  const counts = errorCounts(profile, range?.[0], range?.[1])
  const total = Math.max(1, sum(counts))
  const step = width / errorAxis.bins
  const points = counts.map((count, i) => {
    const y = height - Math.sqrt(count / total / most) * height
    return `H${tenth(i * step)}V${tenth(Math.max(0, y))}`
  })
  return `M0 ${height}${points.join('')}H${tenth(width)}V${height}`
}

/** The largest share of one bin among profiles. */
export function mostShare(profiles: readonly ErrorProfile[], range: SizeRange | undefined): number {
  const shares = profiles.map((profile) => {
    const counts = errorCounts(profile, range?.[0], range?.[1])
    return Math.max(...counts) / Math.max(1, sum(counts))
  })
  return Math.max(1e-9, ...shares)
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

export const errorX = (error: number, width: number) =>
  ((error - errorAxis.from) / (errorAxis.to - errorAxis.from)) * width

/** Root mean square error of the values of a range of sizes, in units of their rms. */
export function rmsOf(profile: ErrorProfile, range: SizeRange | undefined): number {
  const [first, last] = range ?? [0, sizeAxis.bins - 1]
  const inRange = (values: readonly number[]) => sum(values.slice(first, last + 1))
  const count = inRange(sizeCounts(profile))
  return count === 0 ? 0 : Math.sqrt(inRange(profile.squares) / count)
}

export interface Curve {
  id: string
  path: string
  /** Where its line ends, for the label. */
  endX: number
  endY: number
  labelY: number
}

export interface SizeScene {
  left: number
  right: number
  top: number
  bottom: number
  curves: Curve[]
  /** Rising grey area: how many values there are of each size. */
  amounts: string
  xTicks: { exponent: number; x: number }[]
  yTicks: { exponent: number; y: number }[]
  /** The line on which the error is the value itself: rounded to 0. */
  lost: { x1: number; y1: number; x2: number; y2: number }
  /** First bin drawn, and how wide one is. */
  firstBin: number
  lastBin: number
  binWidth: number
}

/** rms error over size of value, both in powers of two. Undefined when no size has enough values. */
export function sizeScene(
  rows: readonly { id: string; profile: ErrorProfile }[],
  width: number,
  height: number
): SizeScene | undefined {
  const first = rows[0]
  if (!first) return undefined
  const counts = sizeCounts(first.profile)
  // The outer bins also hold what lies beyond: they are of no one size.
  const isDrawn = (count: number, bin: number) =>
    count >= leastValues && bin > 0 && bin < sizeAxis.bins - 1
  const firstBin = counts.findIndex(isDrawn)
  const lastBin = counts.findLastIndex(isDrawn)
  if (firstBin === -1) return undefined
  const narrow = width < 480
  const [left, right, top, bottom] = [52, width - (narrow ? 12 : 110), 14, height - 44]
  const binWidth = (right - left) / (lastBin - firstBin + 1)
  const x = (bin: number) => left + (bin - firstBin + 0.5) * binWidth
  const errors = rows.map(({ id, profile }) => ({
    id,
    points: sizeCounts(profile).flatMap((count, bin) => {
      const rms = isDrawn(count, bin) ? Math.sqrt(profile.squares[bin]! / count) : 0
      return rms > 0 ? [{ bin, log: Math.log2(rms) }] : []
    })
  }))
  const logs = errors.flatMap(({ points }) => points.map(({ log }) => log))
  if (logs.length === 0) return undefined
  const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))]
  const y = (log: number) => bottom - ((log - low) / Math.max(1, high - low)) * (bottom - top)
  const logOfBin = (bin: number) =>
    sizeAxis.from + ((bin + 0.5) / sizeAxis.bins) * (sizeAxis.to - sizeAxis.from)
  const binOfLog = (log: number) =>
    ((log - sizeAxis.from) / (sizeAxis.to - sizeAxis.from)) * sizeAxis.bins - 0.5
  const curves = errors.flatMap(({ id, points }): Curve[] => {
    const last = points.at(-1)
    if (!last) return []
    const path = points.map(({ bin, log }) => `${tenth(x(bin))} ${tenth(y(log))}`).join('L')
    return [{ id, path: `M${path}`, endX: x(last.bin), endY: y(last.log), labelY: y(last.log) }]
  })
  const ends = curves.map(({ endY }) => endY)
  for (const [i, labelY] of spreadApart(ends, 14, top + 4, bottom).entries())
    curves[i]!.labelY = labelY
  const mostCount = Math.max(...counts)
  const amounts = counts
    .slice(firstBin, lastBin + 1)
    .map((count, i) => {
      const from = left + i * binWidth
      const at = bottom - (count / mostCount) * 46
      return `H${tenth(from)}V${tenth(at)}H${tenth(from + binWidth)}`
    })
    .join('')
  const whole = (from: number, to: number, step: number) =>
    Array.from(
      { length: Math.floor(to) - Math.ceil(from) + 1 },
      (_, i) => Math.ceil(from) + i
    ).filter((exponent) => exponent % step === 0)
  // From the left edge to where the line of lost values leaves the plot.
  const reach = Math.min(high, logOfBin(lastBin))
  return {
    left,
    right,
    top,
    bottom,
    curves,
    amounts: `M${left} ${bottom}${amounts}V${bottom}`,
    xTicks: whole(logOfBin(firstBin), logOfBin(lastBin), narrow ? 4 : 2).map((exponent) => ({
      exponent,
      x: x(binOfLog(exponent))
    })),
    yTicks: whole(low, high, 2).map((exponent) => ({ exponent, y: y(exponent) })),
    lost: {
      x1: x(binOfLog(Math.max(low, logOfBin(firstBin)))),
      y1: y(Math.max(low, logOfBin(firstBin))),
      x2: x(binOfLog(reach)),
      y2: y(reach)
    },
    firstBin,
    lastBin,
    binWidth
  }
}

/** The bin of sizes at x. */
export function binAt({ left, binWidth, firstBin, lastBin }: SizeScene, x: number): number {
  const bin = firstBin + Math.floor((x - left) / binWidth)
  return Math.min(lastBin, Math.max(firstBin, bin))
}

/** Size of value at which a bin begins, in rms of the values. */
export const sizeOfBin = (bin: number) =>
  2 ** (sizeAxis.from + (bin / sizeAxis.bins) * (sizeAxis.to - sizeAxis.from))

export interface RuleGain {
  id: string
  floor: number
  /** dB over floor, of the rules that the format has. */
  gains: { rule: ScaleRule; gain: number }[]
  best: number
  bestRules: string
}

/** SQNR of every rule over that of floor, from rows of all rules. */
export function ruleGains(
  rows: readonly Pick<ComparisonRow, 'format' | 'rule' | 'sqnr'>[]
): RuleGain[] {
  return drawnFormats.flatMap(({ format }) => {
    const sqnrOf = (rule: ScaleRule) =>
      rows.find(
        (row) => row.format === format.id && (row.rule === rule || row.rule === nvfp4RuleFor(rule))
      )?.sqnr
    const floor = sqnrOf('floor')
    if (floor === undefined || !Number.isFinite(floor)) return []
    const own = scaleRules.filter((rule) => !(format.tensorScale && rule === 'even'))
    const gains = own.map((rule) => ({ rule, gain: (sqnrOf(rule) ?? floor) - floor }))
    const most = Math.max(...gains.map(({ gain }) => gain))
    const best = gains.filter(({ gain }) => gain > most - 0.005).map(({ rule }) => rule)
    return [
      {
        id: format.id,
        floor,
        gains,
        best: floor + most,
        bestRules: best.length === own.length ? 'all alike' : best.join(', ')
      }
    ]
  })
}

/** x of each letter: near ties stand side by side. */
export function gainPlaces(
  gains: RuleGain['gains'],
  place: (gain: number) => number
): { rule: ScaleRule; x: number; gain: number }[] {
  let least = -Infinity
  return gains
    .map(({ rule, gain }) => ({ rule, gain, x: place(gain) }))
    .sort((one, other) => one.gain - other.gain)
    .map((one) => {
      const x = Math.max(least, one.x)
      least = x + 15
      return { ...one, x }
    })
}
