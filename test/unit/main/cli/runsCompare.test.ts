import { expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

const compare = async (baseline: string, tested: string) =>
  runInProcess(['runs', 'compare', `docs/results/${baseline}`, `docs/results/${tested}`])

it('says that two runs were timed by different methods, as the app does', async () => {
  const { stderr, code } = await compare('h200-8192', 'h200-k-sweep')
  expect(stderr).toContain('Different method: bs-1 quick, cold and bs-2 quick, cold.')
  expect(code).toBe(0)
})

it('says nothing of two runs of the same method', async () => {
  const { stderr, code } = await compare('h200-rows-list', 'h200-rows-list')
  expect(stderr).not.toContain('Different')
  expect(code).toBe(0)
})
