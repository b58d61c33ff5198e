/** The strip of errors over the tolerance, as plain data. */
import { expect, it } from 'vitest'
import { limitStrip } from '../../../../src-renderer/views/validate/limitStrip'
import { makeStep, makeValidation } from '../support/samples'

const at = (index: number, share: number, kernel: string, more = {}) =>
  makeStep(index, 'nvfp4', kernel, {
    validation: { ...makeValidation(), maxToleranceShare: share },
    ...more
  })

it('puts every cell at its error, and what is inside left of the tolerance', () => {
  const steps = [
    ...Array.from({ length: 40 }, (_, i) => at(i, 0.9, `kernel-${i}`)),
    at(40, 12, 'wrong', { disposition: 'incorrect' }),
    at(41, 12_000, 'reference', { disposition: 'baseline', baseline: true }),
    at(42, 0, 'exact'),
    at(43, Infinity, 'not finite')
  ]
  const { marks, ticks, limit, height } = limitStrip({ steps }, 760)
  expect(marks).toHaveLength(42)
  for (const { share, x, y } of marks) {
    expect(x < limit).toBe(share <= 1)
    expect(x).toBeGreaterThan(0)
    expect(x).toBeLessThan(760)
    expect(y).toBeGreaterThan(0)
    expect(y).toBeLessThan(height)
  }
  expect(new Set(marks.map(({ x, y }) => `${x} ${y}`)).size).toBe(marks.length)
  expect(ticks.map(({ value }) => value)).toEqual([0.1, 1, 10, 100, 1000, 10_000, 100_000])
  expect(marks.find(({ kernel }) => kernel === 'reference')!.mark.hollow).toBe(true)
  expect(marks.find(({ kernel }) => kernel === 'wrong')!.cell).toBe('wrong~nvfp4')
})

it('has nothing to show of a run in which nothing was compared', () => {
  expect(limitStrip({ steps: [makeStep(0, 'nvfp4', 'a')] }, 760).marks).toEqual([])
})
