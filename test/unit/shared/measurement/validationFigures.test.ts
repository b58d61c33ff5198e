import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { ruleOf, statedTail, ulpsAboveRounding } from '@shared/measurement/validationFigures'

const path = 'docs/results/h200-8192/run.json'

it('tells how far an element of a kernel that states its error may be off, as the comparison has it', () => {
  const [, tail] = /kStatedTail = (\d+);/.exec(readFileSync('native/core/statedError.h', 'utf8'))!
  expect(statedTail).toBe(Number(tail))
  const rule = { atol: 1e-3, rtol: 1e-3, rule: 'allowances', statedError: 1.6e-4 } as const
  expect(ruleOf(rule)).toContain(`an element may be off by ${tail} times its rows' share of it`)
  expect(ruleOf(rule)).toContain('a norm-wise error of 1.6e-4')
})

it('of a baseline counts no units in the last place', () => {
  const { validation } = parseRun(readFileSync(path, 'utf8'), path).steps[0]!
  const found = { ...validation!, maxUlpsAboveRounding: 1.6e40 }
  expect(ulpsAboveRounding({ baseline: true, validation: found })).toBeUndefined()
  expect(ulpsAboveRounding({ baseline: false, validation: found })).toBe(1.6e40)
})
