import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { evaluate } from '@shared/choice/expression'

const table = JSON.parse(readFileSync('test/fixtures/kernels/expressions.json', 'utf8')) as {
  names: Record<string, number>
  values: Record<string, number>
  refused: Record<string, string>
}

/** The table that native/cuda/expression.cpp is held against too (native/test/cudaBackend.cpp). */
describe('expressions of a manifest', () => {
  it.each(Object.entries(table.values))('%s is %d', (expression, value) => {
    expect(evaluate(expression, table.names)).toBe(value)
  })

  it.each([
    ...Object.entries(table.refused),
    // What is this side's alone: tokens come before the grammar, and a double holds 53 bits of a number.
    ['M # 2', 'it has a character that is none of an expression'],
    ['9007199254740992', 'its value does not fit 53 bits'],
    ['K * K * K * K * K / K', 'its value does not fit 53 bits']
  ])('%s is refused in a sentence', (expression, why) => {
    expect(() => evaluate(expression, table.names)).toThrow(`Expression "${expression}": ${why}`)
  })
})
