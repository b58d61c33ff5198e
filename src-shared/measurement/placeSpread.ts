/** How equal points differ over the GPUs that measured them: stragglers, their clocks, and choices that are not the same. */
import type { Place, Run, Step } from '../contract/run'
import { percent, signedPercent } from '../units'
import { compareMeasurements } from './verdict'

export interface Outlier {
  place: Place
  /** Median time over that of the middle place. */
  ratio: number
  /** 'its clock is 62 % of theirs' */
  why: string
}

export interface PointSpread {
  step: Step
  places: readonly Place[]
  fastestNs: number
  slowestNs: number
  /** Slowest over fastest, less one. */
  spread: number
  outliers: Outlier[]
  /** More than one source or way to compile it, as where a tuner chose. */
  choices: number
}

/** Beyond what machines of one kind differ by. */
const leastGap = 0.02

/** Every point that was measured in several places, widest spread first. */
export function spreadOfPlaces({ steps }: Pick<Run, 'steps'>): PointSpread[] {
  return steps
    .flatMap((step) => {
      const { places = [] } = step
      return places.length < 2 ? [] : spreadOf(step, places)
    })
    .sort((one, other) => other.spread - one.spread)
}

function spreadOf(step: Step, places: readonly Place[]): PointSpread {
  const sorted = [...places].sort((one, other) => one.timeNs.median - other.timeNs.median)
  const middle = sorted[(sorted.length - 1) >> 1]!
  const [fastestNs, slowestNs] = [sorted[0]!.timeNs.median, sorted.at(-1)!.timeNs.median]
  const choices = new Set(places.map((place) => `${place.sourceHash} ${place.compileOptions}`)).size
  return {
    ...{ step, places, fastestNs, slowestNs, choices },
    spread: slowestNs / fastestNs - 1,
    outliers: sorted.flatMap((place) => outlier(place, middle))
  }
}

/** A GPU whose clock is lower is an outlier too: that is why, and is said. */
function outlier(place: Place, middle: Place): Outlier[] {
  const { verdict, ratio } = compareMeasurements(
    { timeNs: middle.timeNs, meanMHz: 0 },
    { timeNs: place.timeNs, meanMHz: 0 }
  )
  if ((verdict !== 'slow' && verdict !== 'fast') || Math.abs(ratio - 1) < leastGap) return []
  const clock = place.meanMHz / middle.meanMHz
  const warmer = place.meanTemperatureC - middle.meanTemperatureC
  const why = [
    ...(Number.isFinite(clock) && clock > 0 && Math.abs(clock - 1) > leastGap / 2
      ? [`its clock is ${Math.round(clock * 100)} % of theirs`]
      : []),
    ...(Math.abs(warmer) >= 5
      ? [`it is ${Math.round(Math.abs(warmer))} K ${warmer > 0 ? 'warmer' : 'cooler'}`]
      : [])
  ]
  return [{ place, ratio, why: why.join(', ') || 'clock and temperature do not say why' }]
}

/** 'GPU-5f... of node-3: +38 % of time against the middle one; its clock is 63 % of theirs.' */
export function outlierSentence({ place, ratio, why }: Outlier): string {
  const gpu = `${place.uuid || place.deviceId} of ${place.host}`
  return `${gpu}: ${signedPercent(ratio)} of time against the middle one; ${why}.`
}

/** What a point of a collected run says of its places; undefined for a point of one. */
export function placesText(step: Step): string | undefined {
  const [point] = spreadOfPlaces({ steps: [step] })
  if (!point) return undefined
  const { places, spread, outliers, choices } = point
  return [
    `${places.length}, ${percent(spread)} from the fastest to the slowest.`,
    ...outliers.map(outlierSentence),
    ...(choices > 1 ? [`${choices} choices of source or tiles.`] : [])
  ].join(' ')
}
