/**
 * The verdict of a gate on one point: from an interval on the ratio of times, never from the ratio alone, and never a pass by
 * default. The one statistic of every gate, whether its observations come as pairs or as two samples.
 */
import type { GateEstimate, GateVerdict } from '../contract/gate'
import { normalQuantile, normalShare, signedRankInterval, twoSampleInterval } from './rankInterval'
import type { ShiftInterval } from './rankInterval'
import { counted } from '../units'

/** A finding is sure when it would be made this often: "finds 2 % at 95 %". */
const usualPower = 0.95
/** Of these slow-downs it is said how many pairs would find them. */
const namedEffects = [0.01, 0.02, 0.05]

/** Times of one pair in nanoseconds. Which of the two was measured first is random, so that A/A differences are symmetric. */
export type TimePair = readonly [baselineNs: number, testedNs: number]

/** `confidence` is of this one interval: a gate of several points divides what may go wrong among them. */
export function estimateFromPairs(pairs: readonly TimePair[], confidence: number): GateEstimate {
  const shifts = pairs.map(([baseline, tested]) => Math.log(tested / baseline))
  return estimateOf(signedRankInterval(shifts, confidence), shifts.length, 'pairs', confidence)
}

/** Of observations that were not made beside one another; drift between them counts as a difference. */
export function estimateFromSamples(
  baselineNs: readonly number[],
  testedNs: readonly number[],
  confidence: number
): GateEstimate {
  const logarithms = (values: readonly number[]) => values.map(Math.log)
  const interval = twoSampleInterval(logarithms(baselineNs), logarithms(testedNs), confidence)
  const fewest = Math.min(baselineNs.length, testedNs.length)
  return estimateOf(interval, fewest, 'samples', confidence)
}

function estimateOf(
  { estimate, low, high }: ShiftInterval,
  observations: number,
  method: GateEstimate['method'],
  confidence: number
): GateEstimate {
  const base = { method, observations, confidence }
  if (!Number.isFinite(low) || !Number.isFinite(high))
    return { ...base, ratio: observations > 0 ? Math.exp(estimate) : undefined }
  const half = (high - low) / 2
  const critical = normalQuantile(1 - (1 - confidence) / 2)
  // Half the interval is so many standard errors; an effect of that and the power's own is found that often.
  const found = half * (1 + normalQuantile(usualPower) / critical)
  return {
    ...base,
    ratio: Math.exp(estimate),
    low: Math.exp(low),
    high: Math.exp(high),
    power: {
      at: usualPower,
      finds: Math.exp(found) - 1,
      needs: namedEffects.map((effect) => ({
        effect,
        observations: Math.max(1, Math.ceil(observations * (found / Math.log(1 + effect)) ** 2))
      }))
    }
  }
}

/** How often a slow-down of this size is found by such an interval: 0..1. */
export function powerFor(effect: number, { low, high, confidence }: GateEstimate): number {
  if (low === undefined || high === undefined) return 0
  const critical = normalQuantile(1 - (1 - confidence) / 2)
  const error = Math.log(high / low) / 2 / critical
  return normalShare(Math.log(1 + effect) / error - critical)
}

/**
 * SAME when the whole interval lies within the margin; else SLOWER or FASTER when it leaves equality out; INSUFFICIENT when it
 * does neither.
 */
export function verdictOn(
  { ratio, low, high, observations, method, power }: GateEstimate,
  margin: number
): { verdict: GateVerdict; reason: string } {
  if (ratio === undefined || low === undefined || high === undefined)
    return {
      verdict: 'insufficient',
      reason: `${observed(observations, method)}: no interval of this confidence.`
    }
  const where = `time ${changeOf(ratio)} (${changeOf(low)} to ${changeOf(high)})`
  if (low >= 1 / (1 + margin) && high <= 1 + margin)
    return { verdict: 'same', reason: `${where}, within the margin of ${percent(margin)}.` }
  if (low > 1) return { verdict: 'slower', reason: `${where}.` }
  if (high < 1) return { verdict: 'faster', reason: `${where}.` }
  const wanted = power?.needs.find(({ effect }) => effect >= margin)
  const more = wanted ? `; about ${wanted.observations} would find ${percent(wanted.effect)}` : ''
  return {
    verdict: 'insufficient',
    reason: `${where}: neither different nor within the margin of ${percent(margin)}${more}.`
  }
}

const observed = (observations: number, method: GateEstimate['method']) =>
  counted(observations, method === 'pairs' ? 'pair' : 'sample')

/** 'finds 2 % at 95 % with 40 pairs; would need 160 for 1 %'. */
export function powerText({ power, observations, method }: GateEstimate): string {
  if (!power) return `${observed(observations, method)}: nothing can be told at this confidence`
  const { finds, at, needs } = power
  const more = needs
    .filter(({ effect }) => effect < finds)
    .map(({ effect, observations: count }) => `${count} for ${percent(effect)}`)
  const beyond = more.length > 0 ? `; would need ${more.join(', ')}` : ''
  return `finds ${percent(finds)} at ${percent(at)} with ${observations} ${method}${beyond}`
}

/** '+1.2 %', '-0.3 %', '0.0 %' of a ratio. */
export function changeOf(ratio: number): string {
  const text = ((ratio - 1) * 100).toFixed(1)
  return `${Number(text) > 0 ? '+' : ''}${Number(text) === 0 ? '0.0' : text} %`
}

const percent = (share: number) => `${Number((share * 100).toPrecision(2))} %`
