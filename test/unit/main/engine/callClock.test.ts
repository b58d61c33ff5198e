import { expect, it } from 'vitest'
import { CallClock } from '../../../../src-main/engine/callClock'

it('adds up what calls took, by method and by what they said they were doing', () => {
  let at = 0
  const clock = new CallClock(() => at)
  const passes = (seconds: number) => (at += seconds)
  const first = clock.begin('measure')
  passes(1)
  first.phase('warm-up')
  passes(2)
  first.phase('warm-up')
  passes(1)
  first.phase('sampling')
  passes(5)
  first.end()
  passes(100)
  const second = clock.begin('measure')
  second.phase('sampling')
  passes(0.5)
  second.end()
  const third = clock.begin('compile')
  third.phase('compiling 0 of 2')
  passes(0.25)
  third.phase('compiling 2 of 2')
  passes(0.125)
  third.end()
  expect(clock.all).toEqual([
    { method: 'measure', phase: 'sampling', seconds: 5.5, calls: 2 },
    { method: 'measure', phase: 'warm-up', seconds: 3, calls: 1 },
    { method: 'measure', phase: '', seconds: 1, calls: 2 },
    { method: 'compile', phase: 'compiling', seconds: 0.375, calls: 1 },
    { method: 'compile', phase: '', seconds: 0, calls: 1 }
  ])
})
