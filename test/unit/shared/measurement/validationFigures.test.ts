import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ruleOf, statedTail } from '@shared/measurement/validationFigures'

it('tells how far an element of a kernel that states its error may be off, as the comparison has it', () => {
  const [, tail] = /kStatedTail = (\d+);/.exec(readFileSync('native/core/statedError.h', 'utf8'))!
  expect(statedTail).toBe(Number(tail))
  const rule = { atol: 1e-3, rtol: 1e-3, rule: 'allowances', statedError: 1.6e-4 } as const
  expect(ruleOf(rule)).toContain(`an element may be off by ${tail} times its rows' share of it`)
  expect(ruleOf(rule)).toContain('a norm-wise error of 1.6e-4')
})
