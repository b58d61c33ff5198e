import { describe, expect, it } from 'vitest'
import { confidenceOfEach, gateOutcome, judgePoint } from '@shared/measurement/gateResult'
import {
  estimateFromPairs,
  estimateFromSamples,
  powerFor,
  powerText,
  verdictOn,
  type TimePair
} from '@shared/measurement/gateVerdict'

/** Uniform numbers, the seed's own (Park and Miller). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48271) % 2147483647) / 2147483647
}

/** Pairs of a machine that drifts over them, and now and then is busy with something else. */
function noisyPairs(random: () => number, count: number, effect: number): TimePair[] {
  const once = (at: number) =>
    1000 * (1 + 0.1 * Math.sin(at)) * (1 + 0.02 * random()) * (random() < 0.05 ? 3 : 1)
  return Array.from({ length: count }, (_, at) => [once(at), once(at) * (1 + effect)])
}

/** How many of so many gates find `effect`, and how many they said they would. */
function trials(effect: number, count = 400) {
  const random = randomOf(17)
  let slower = 0
  let faster = 0
  let promised = 0
  for (let trial = 0; trial < count; trial++) {
    const estimate = estimateFromPairs(noisyPairs(random, 40, effect), 0.95)
    if (estimate.low! > 1) slower++
    if (estimate.high! < 1) faster++
    promised += powerFor(effect, estimate)
  }
  return { slower: slower / count, faster: faster / count, promised: promised / count }
}

describe('an estimate', () => {
  it('raises no more false alarms than it says, with drift and outliers', () => {
    const { slower, faster } = trials(0)
    expect(slower + faster).toBeLessThan(0.075)
    expect(slower).toBeLessThan(0.045)
  })

  it.each([0.003, 0.005, 0.01])('finds %f as often as it says', (effect) => {
    const { slower, faster, promised } = trials(effect)
    expect(Math.abs(slower - promised)).toBeLessThan(0.08)
    expect(faster).toBeLessThan(0.01)
  })

  it('says what it finds with how many pairs, and how many it would need', () => {
    const estimate = estimateFromPairs(noisyPairs(randomOf(3), 40, 0), 0.95)
    const { finds, needs } = estimate.power!
    expect(powerFor(finds, estimate)).toBeCloseTo(0.95, 3)
    const [one, two] = needs
    // Half the effect takes four times as many.
    expect(one!.observations / two!.observations).toBeGreaterThan(3.5)
    expect(powerText(estimate)).toMatch(/^finds [\d.]+ % at 95 % with 40 pairs/)
    const noisy = noisyPairs(randomOf(5), 10, 0).map(([a, b], i): TimePair => [a, b * (1 + i / 10)])
    expect(powerText(estimateFromPairs(noisy, 0.95))).toMatch(
      /with 10 pairs; would need \d+ for 1 %, \d+ for 2 %, \d+ for 5 %$/
    )
  })

  it('of too few says nothing', () => {
    const estimate = estimateFromPairs([[100, 300]], 0.95)
    expect(estimate.ratio).toBeCloseTo(3, 12)
    expect(estimate.low).toBeUndefined()
    expect(verdictOn(estimate, 0.01).verdict).toBe('insufficient')
    expect(verdictOn(estimateFromSamples([], [], 0.95), 0.01).verdict).toBe('insufficient')
    expect(powerFor(0.5, estimate)).toBe(0)
  })
})

describe('a verdict', () => {
  const of = (low: number, high: number, margin = 0.01) =>
    verdictOn(
      {
        method: 'pairs',
        observations: 40,
        confidence: 0.95,
        ratio: Math.sqrt(low * high),
        low,
        high
      },
      margin
    )

  it('comes from the interval, on both sides of each border', () => {
    expect(of(0.9901, 1.01).verdict).toBe('same')
    expect(of(0.99, 1.01).verdict).toBe('insufficient')
    expect(of(1.0001, 1.0101).verdict).toBe('slower')
    expect(of(1.0001, 1.0099).verdict).toBe('same')
    expect(of(1, 1.02).verdict).toBe('insufficient')
    expect(of(0.9, 0.9999).verdict).toBe('faster')
    expect(of(0.9, 1).verdict).toBe('insufficient')
    expect(of(0.5, 2).reason).toBe(
      'time 0.0 % (-50.0 % to +100.0 %): neither different nor within the margin of 1 %.'
    )
  })

  it('of a gate passes only when every point does, and not for want of one', () => {
    const side = (ns: number) => ({
      ...{ kernel: 'k', sourceHash: '', meanMHz: 1000, badges: [] },
      samplesNs: Array.from({ length: 12 }, (_, i) => [ns * (1 + i / 1e4)])
    })
    const problem = { format: 'mxfp4', m: 1, n: 1, k: 32 }
    const same = judgePoint(problem, side(100), side(100.1), true, 0.95, 0.01)
    const slower = judgePoint(problem, side(100), side(102), true, 0.95, 0.01)
    expect([same.verdict, slower.verdict]).toEqual(['same', 'slower'])
    expect(gateOutcome([same])).toEqual({ passed: true, sentence: '1 of 1 passed: 1 same' })
    expect(gateOutcome([same, slower]).passed).toBe(false)
    expect(gateOutcome([])).toEqual({ passed: false, sentence: 'nothing was compared' })
    // Times that were not taken beside one another, at another clock.
    const apart = judgePoint(problem, side(100), { ...side(100), meanMHz: 970 }, false, 0.95, 0.01)
    expect(apart).toMatchObject({ verdict: 'insufficient', estimate: { method: 'samples' } })
    expect(apart.reason).toContain('1000 MHz then and 970 MHz now')
    expect(confidenceOfEach(0.95, 10)).toBeCloseTo(0.995, 12)
  })
})
