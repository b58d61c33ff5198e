/** The steps from before to after add up, whatever is left out by name. */
import { expect, it } from 'vitest'
import { waterfall } from '@shared/profile/ask/waterfall'

// root > a (> b, c), d; a has time of its own beside its children's.
const end = Int32Array.from([5, 4, 3, 4, 5])
const before = Float64Array.from([100, 70, 40, 10, 30])
const after = Float64Array.from([88, 50, 20, 12, 38])

it('takes each node by what its children leave, the largest first', () => {
  const { before: start, after: finish, steps } = waterfall({ end }, { before, after }, 0, 9)
  expect([start, finish]).toEqual([100, 88])
  expect(steps.map(({ node, change }) => [node, change])).toEqual([
    [2, -20],
    [4, 8],
    [1, -2],
    [3, 2]
  ])
  expect(steps[0]).toMatchObject({ from: 100, to: 80 })
  expect(steps.at(-1)!.to).toBe(88)
})

it('puts together what is left, and begins at any node', () => {
  const { steps } = waterfall({ end }, { before, after }, 0, 1)
  expect(steps).toEqual([
    { node: 2, count: 1, change: -20, from: 100, to: 80 },
    { node: -1, count: 3, change: 8, from: 80, to: 88 }
  ])
  expect(waterfall({ end }, { before, after }, 1, 9)).toMatchObject({ before: 70, after: 50 })
})

it('counts what is new or gone as 0 on the other side, and no change as no step', () => {
  const gone = Float64Array.from([88, 50, NaN, 12, 38])
  const { steps } = waterfall({ end }, { before, after: gone }, 1, 9)
  expect(steps.find(({ node }) => node === 2)!.change).toBe(-40)
  expect(waterfall({ end }, { before, after: before }, 0, 9).steps).toEqual([])
})
