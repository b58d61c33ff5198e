import { describe, expect, it } from 'vitest'
import {
  normalQuantile,
  normalShare,
  signedRankInterval,
  twoSampleInterval
} from '@shared/measurement/rankInterval'

const differences = [3.1, -1.2, 0.7, 2.4, 5.9, -0.3, 1.8, 4.2, 0.2, 2.9]

const isClose = (values: number[], golden: number[]) => {
  for (const [at, value] of values.entries()) expect(value).toBeCloseTo(golden[at]!, 9)
}

describe('distribution-free intervals', () => {
  // The outermost values that scipy.stats.wilcoxon and mannwhitneyu, method='exact', do not reject.
  it('of pairs hold what the exact signed-rank test does not reject', () => {
    const usual = signedRankInterval(differences, 0.95)
    isClose([usual.estimate, usual.low, usual.high], [1.9, 0.3, 3.55])
    const wide = signedRankInterval(differences, 0.99)
    isClose([wide.low, wide.high], [-0.3, 4.4])
  })

  it('of two samples hold what the exact Mann-Whitney test does not reject', () => {
    const [x, y] = [
      [10.2, 11.7, 9.9, 12.4, 10.8, 11.1],
      [12.9, 13.4, 11.9, 14.2, 12.1]
    ]
    const { estimate, low, high } = twoSampleInterval(x, y, 0.95)
    isClose([estimate, low, high], [1.85, 0.4, 3.4])
  })

  it('are open where there are too few observations', () => {
    expect(signedRankInterval([1, 2, 3, 4, 5], 0.95)).toMatchObject({ estimate: 3, low: -Infinity })
    expect(signedRankInterval([1, 2, 3, 4, 5, 6], 0.95)).toMatchObject({ low: 1, high: 6 })
    expect(twoSampleInterval([1, 2, 3], [4, 5, 6], 0.95).high).toBe(Infinity)
    expect(signedRankInterval([], 0.95).estimate).toBeNaN()
  })

  it('of many observations agree with those of one less, whose statistic is exact', () => {
    const many = Array.from({ length: 101 }, (_, i) => Math.sin(i * 12.9898) * 4)
    const [exact, normal] = [many.slice(1), many].map((one) => signedRankInterval(one, 0.95))
    expect(normal!.low).toBeCloseTo(exact!.low, 1)
    expect(normal!.high).toBeCloseTo(exact!.high, 1)
    const [few, more] = [50, 51].map((n) =>
      twoSampleInterval(
        many.slice(0, n),
        many.slice(0, n).map((x) => x + 1),
        0.95
      )
    )
    expect(more!.low).toBeCloseTo(few!.low, 0)
    expect(more!.high).toBeCloseTo(few!.high, 0)
  })
})

describe('the normal distribution', () => {
  // scipy.stats.norm
  it('and its inverse', () => {
    const quantiles = [0.975, 0.001, 0.9999].map(normalQuantile)
    for (const [at, value] of [1.95996398, -3.09023231, 3.71901649].entries())
      expect(quantiles[at]).toBeCloseTo(value, 7)
    const shares = [-1.3, 0.4, 2.2].map(normalShare)
    for (const [at, value] of [0.09680048, 0.65542174, 0.98609655].entries())
      expect(shares[at]).toBeCloseTo(value, 6)
  })
})
