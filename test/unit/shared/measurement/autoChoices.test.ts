import { expect, it } from 'vitest'
import type { Measurement, Step } from '@shared/contract/run'
import { judgeAuto } from '@shared/measurement/autoChoices'
import { sampleStep } from '../../../support/sampleRun'

const choice = { kernel: '', why: '', candidates: [] }
let index = 0
function step(kernel: string, median: number | undefined, change: Partial<Step> = {}): Step {
  const measurement = median === undefined ? {} : { measurement: measured(median) }
  return sampleStep(index++, { kernel, level: 'exact', ...measurement, ...change })
}
const measured = (median: number) => ({ timeNs: { median } }) as Measurement
const judge = (...steps: Step[]) => judgeAuto({ steps }, 0.05)

it('compares the choice with the best exact kernel and the best of all, problem by problem', () => {
  const { choices, problems } = judge(
    step('a', 104, { choice }),
    step('b', 100),
    step('quick', 50, { level: 'approximate' }),
    step('bf16', 20, { baseline: true }),
    step('checks', 10, { level: 'emulated' }),
    step('c', 1, { k: 1024 })
  )
  expect(choices).toHaveLength(1)
  const { bestExact, best, overExact, overBest } = choices[0]!
  expect([bestExact?.kernel, best?.kernel]).toEqual(['b', 'quick'])
  expect([overExact, overBest]).toEqual([1.04, 2.08])
  expect(problems).toEqual([])
})

it.each<[string, Step[], RegExp]>([
  [
    'is further behind',
    [step('a', 106, { choice }), step('b', 100)],
    /: a takes 6\.0 % more than b\.$/
  ],
  [
    'is approximate beside an exact one',
    [step('a', 50, { choice, level: 'approximate' }), step('b', 100)],
    /: a is approximate, and b is exact\.$/
  ],
  [
    'is behind another approximate one, where none is exact',
    [step('a', 106, { choice, level: 'approximate' }), step('b', 100, { level: 'approximate' })],
    /: a takes 6\.0 % more than b\.$/
  ],
  [
    'has no time',
    [step('a', undefined, { choice, disposition: 'error', reason: 'It was lost.' }), step('b', 1)],
    /: a was chosen and has no time: It was lost\.$/
  ],
  [
    'has nothing beside it',
    [step('a', 1, { choice }), step('b', 1, { baseline: true })],
    /^No kernel was timed beside/
  ],
  ['is none', [step('a', 1)], /^The run has no choice of auto/]
])('a choice that %s is said', (_what, steps, sentence) => {
  const { problems } = judge(...steps)
  expect(problems[0]).toMatch(sentence)
})

it('a native kernel is exact, chosen or beside; what is behind by just as much as it may be is no problem', () => {
  const native = { level: 'native' } as const
  const beside = judge(step('a', 106, { choice }), step('tensor', 100, native))
  expect(beside.problems).toEqual([expect.stringMatching(/: a takes 6\.0 % more than tensor\.$/)])
  const chosen = judge(step('tensor', 100, { choice, ...native }), step('b', 100))
  expect(chosen.problems).toEqual([])
  const { problems } = judgeAuto({ steps: [step('a', 125, { choice }), step('b', 100)] }, 0.25)
  expect(problems).toEqual([])
})
