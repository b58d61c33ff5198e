import { describe, expect, it } from 'vitest'
import { evaluate } from '@shared/choice/expression'

const names = { M: 100, K: 4096, ZERO: 0 }

/** The cases of native/test/cudaBackend.cpp, expressionsAreCsOverWholeNumbers, and what else a row may say. */
describe('expressions of a manifest', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 / 2', 3],
    ['-7 / 2', -4],
    ['-7 % 3', 2],
    ['10 - 3 - 2', 5],
    ['ceil_div(M, 64) * round_up(M, 64)', 256],
    ['min(M, K) + max(M, K)', 4196],
    ['M < 64 ? 1 : M <= 100 ? 2 : 3', 2],
    ['ZERO != 0 && K / ZERO > 1 || M == 100', 1],
    ['ZERO == 0 ? M : M / ZERO', 100],
    ['max(1, min(132 / ceil_div(M, 64), K / 1024))', 4]
  ])('%s is %d', (expression, value) => {
    expect(evaluate(expression, names)).toBe(value)
  })

  it.each([
    ['M / ZERO', 'division by zero'],
    ['WIDTH * 2', '"WIDTH" is not known'],
    ['constructor', '"constructor" is not known'],
    ['M +', 'it ends too early'],
    ['M * * 2', "a number or a name is missing before '*'"],
    ['(M', "')' is missing"],
    ['M 2', '"2" is too much'],
    ['log(M, 2)', 'log is no function'],
    ['M # 2', 'it has a character that is none of an expression'],
    ['K * K * K * K * K', 'its value is beyond 2^53']
  ])('%s is refused in a sentence', (expression, why) => {
    expect(() => evaluate(expression, names)).toThrow(`Expression "${expression}": ${why}.`)
  })
})
