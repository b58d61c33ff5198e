import { describe, expect, it } from 'vitest'
import { extentList } from '../../../../src-renderer/ground/fields'

describe('extents of a sweep', () => {
  it.each([
    ['16, 64, 4096', 'M', [16, 64, 4096]],
    ['512..2048', 'K', [512, 1024, 1536, 2048]],
    ['16..64 step 16, 16', 'M', [16, 32, 48, 64]],
    ['128-384:128', 'N', [128, 256, 384]]
  ] as const)('%j of %s', (typed, name, values) =>
    expect(extentList(typed, name).value).toEqual(values)
  )

  it.each([
    ['16..64', 'M', 'the step must be at least 1, as in 16..64 step 16.'],
    ['64..16 step 16', 'M', 'ends before it begins'],
    ['1..2000000 step 1', 'K', 'K must be from 1 to'],
    ['1..1000000 step 1', 'N', 'More than 10,000 values of N'],
    ['many', 'M', 'Write values of M as'],
    ['', 'K', 'Name at least one K.']
  ] as const)('%j of %s is told what is wrong', (typed, name, problem) =>
    expect(extentList(typed, name).problem).toContain(problem)
  )

  it('may be left out where a usual one stands in', () => {
    expect(extentList(' ', 'M', true)).toEqual({})
  })
})
