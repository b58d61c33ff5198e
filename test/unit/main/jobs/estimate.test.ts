import fc from 'fast-check'
import { expect, it } from 'vitest'
import { learnt, Meter } from '../../../../src-main/jobs/estimate'

it('goes by time: with half of what was expected done at its pace, half is done', () => {
  let now = 0
  const meter = new Meter(
    new Map([
      ['a', 2],
      ['b', 2]
    ]),
    () => now
  )
  meter.begin('a')
  now = 2
  meter.end()
  expect(meter.state()).toEqual({ fraction: 0.5, secondsLeft: 2 })
})

it('takes the pace seen for what is to come, and leaves out what is dropped', () => {
  let now = 0
  const meter = new Meter(
    new Map([
      ['a', 1],
      ['b', 1],
      ['c', 1]
    ]),
    () => now
  )
  meter.begin('a')
  now = 3
  meter.end()
  meter.drop('c')
  expect(meter.state().secondsLeft).toBeCloseTo(3)
})

it('never falls and is never all before the end', () => {
  const seconds = fc.double({ min: 0, max: 1e4, noNaN: true })
  fc.assert(
    fc.property(fc.array(fc.tuple(seconds, seconds), { minLength: 1, maxLength: 20 }), (units) => {
      let now = 0
      const meter = new Meter(new Map(units.map(([expected], i) => [`${i}`, expected])), () => now)
      const seen: number[] = []
      for (const [i, [, took]] of units.entries()) {
        meter.begin(`${i}`)
        now += took / 2
        meter.inside(0.5)
        seen.push(meter.state().fraction)
        now += took / 2
        meter.end()
        seen.push(meter.state().fraction)
      }
      expect(seen).toEqual([...seen].sort((a, b) => a - b))
      for (const fraction of seen) expect(fraction).toBeLessThan(1)
    })
  )
})

it('learns a rate: near what was seen, surer when jobs agree', () => {
  const steady = [1, 1, 1, 1].reduce<ReturnType<typeof learnt> | undefined>(learnt, undefined)!
  expect(Math.exp(steady.mean)).toBeCloseTo(1)
  const wild = [1, 9, 1, 9].reduce<ReturnType<typeof learnt> | undefined>(learnt, undefined)!
  expect(wild.spread).toBeGreaterThan(steady.spread)
})
