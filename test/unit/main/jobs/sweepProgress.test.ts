import fc from 'fast-check'
import { expect, it } from 'vitest'
import { presets } from '@shared/measurement/presets'
import { expectedSeconds, SweepProgress } from '../../../../src-main/jobs/sweepProgress'

it('goes by time: after validations as long as the measurements, half is done', () => {
  const progress = new SweepProgress(10, 10, 2)
  for (let step = 0; step < 10; step++) {
    progress.whileValidating(0)
    progress.validated(2)
  }
  expect(progress.whileMeasuring(10, 0)).toBeCloseTo(0.5)
})

it('takes the measurements seen for those to come', () => {
  const progress = new SweepProgress(4, 8, 100)
  for (let step = 0; step < 4; step++) progress.validated(1)
  for (let point = 0; point < 4; point++) progress.measured(1)
  expect(progress.whileMeasuring(8, 0)).toBeCloseTo(8 / 12)
  expect(progress.whileMeasuring(8, 0.5)).toBeCloseTo(8.5 / 12)
})

it('never falls, stays within 0 and 1, and ends at 1', () => {
  const seconds = fc.double({ min: 0, max: 1e4, noNaN: true })
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1, maxLength: 20 }), seconds, (times, expected) => {
      const progress = new SweepProgress(times.length, times.length, expected)
      const seen = [0]
      for (const time of times) {
        seen.push(progress.whileValidating(0.5))
        progress.validated(time)
      }
      for (const time of times) {
        seen.push(progress.whileMeasuring(times.length, 0.5))
        progress.measured(time + 0.001)
      }
      seen.push(progress.whileMeasuring(times.length, 0))
      expect(seen).toEqual([...seen].sort((a, b) => a - b))
      expect(seen.at(-1)).toBe(1)
    })
  )
})

it('expects of a measurement at least its warm-up and its samples', () => {
  expect(expectedSeconds(presets.standard)).toBeGreaterThan(0.3)
  expect(expectedSeconds(presets.thorough)).toBeGreaterThan(expectedSeconds(presets.quick))
})
