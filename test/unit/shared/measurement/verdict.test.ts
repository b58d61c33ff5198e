import { describe, expect, it } from 'vitest'
import { compareMeasurements } from '@shared/measurement/verdict'
import { statisticsOf } from '@shared/measurement/statistics'

const timed = (samples: number[], meanMHz = 0) => ({ timeNs: statisticsOf(samples, 0), meanMHz })
const around = (centre: number, spread = 0.1) =>
  Array.from({ length: 41 }, (_, i) => centre + ((i - 20) / 20) * spread)

describe('the verdict on two measurements', () => {
  it('is fast or slow when the intervals are apart by 0.5 % or more', () => {
    expect(compareMeasurements(timed(around(100)), timed(around(98))).verdict).toBe('fast')
    expect(compareMeasurements(timed(around(100)), timed(around(102))).verdict).toBe('slow')
    expect(compareMeasurements(timed(around(100)), timed(around(102))).ratio).toBeCloseTo(1.02)
  })

  it('is same when medians agree and the scatter is small', () => {
    expect(compareMeasurements(timed(around(100)), timed(around(100.02))).verdict).toBe('same')
  })

  it('is ambiguous when medians differ but intervals overlap', () => {
    const result = compareMeasurements(timed(around(100, 5)), timed(around(101, 5)))
    expect(result).toMatchObject({ verdict: 'ambiguous', reason: expect.stringMatching(/overlap/) })
  })

  it('is ambiguous when the difference is only one of clocks', () => {
    const result = compareMeasurements(timed(around(100), 2000), timed(around(110), 1818))
    expect(result).toMatchObject({ verdict: 'ambiguous', reason: expect.stringMatching(/clock/) })
  })

  it('is ambiguous when equal medians hide a wide scatter', () => {
    expect(compareMeasurements(timed(around(100, 8)), timed(around(100, 8))).verdict).toBe(
      'ambiguous'
    )
  })

  it('says so when a side has no samples', () => {
    expect(compareMeasurements(timed([]), timed(around(1))).reason).toMatch(/no samples/)
  })
})
