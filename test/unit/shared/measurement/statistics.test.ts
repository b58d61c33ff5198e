import { describe, expect, it } from 'vitest'
import { median, quantile, statisticsOf } from '@shared/measurement/statistics'

describe('statistics of samples', () => {
  it('quantiles interpolate as numpy.quantile does', () => {
    // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .75, .95, 1])
    const sorted = [1, 2, 4, 8]
    const shares = [0, 0.25, 0.5, 0.75, 0.95, 1]
    const rounded = shares.map((share) => Number(quantile(sorted, share).toFixed(12)))
    expect(rounded).toEqual([1, 1.75, 3, 5, 7.4, 8])
  })

  it('the standard deviation has Bessel correction', () => {
    const s = statisticsOf([2, 4, 4, 4, 5, 5, 7, 9], 3)
    expect(s.mean).toBe(5)
    expect(s.standardDeviation).toBeCloseTo(Math.sqrt(32 / 7), 12)
    expect(s).toMatchObject({ samples: 8, discarded: 3, min: 2, max: 9, median: 4.5 })
  })

  it('does not change its input, and one sample has no deviation', () => {
    const samples = [3, 1, 2]
    expect(median(samples)).toBe(2)
    expect(samples).toEqual([3, 1, 2])
    expect(statisticsOf([5], 0).standardDeviation).toBe(0)
  })
})
