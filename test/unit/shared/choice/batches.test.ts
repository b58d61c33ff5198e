/** Which products the cost model takes a batch or groups for (src-shared/choice/cost.ts). */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { mostTogether, predictTime, refusalOf } from '@shared/choice/cost'
import { factsOf } from '@shared/choice/deviceFacts'
import { parseRun } from '@shared/contract/parseRun'
import { kernelsOf } from './kernelsOfManifest'

const text = (path: string) => readFileSync(resolve(path), 'utf8')
const run = parseRun(text('docs/results/h200-8192/run.json'), 'h200-8192')
const facts = factsOf(run.device!, run.roofs ?? [])
const kernels = kernelsOf('sm_90')

it('takes a batch that a kernel for groups does at once for one launch, and one with a shared matrix for many', () => {
  const wgmma = kernels.find(({ id }) => id === 'wgmma')!
  const timeOf = (problem: object) => {
    const found = predictTime(wgmma, 'bf16', facts, {
      ...{ format: 'mxfp4', m: 256, n: 256, k: 256, output: 'f16' },
      ...problem
    })
    return 'ns' in found ? found.ns : NaN
  }
  const alone = timeOf({})
  const fixed = wgmma.model!.cost!.fixedNs
  expect(timeOf({ batchA: [8], batchB: [8] })).toBeLessThan(3 * fixed)
  expect(timeOf({ batchA: [8], batchB: [] })).toBeCloseTo(8 * alone, 3)
  const large = { m: 8192, n: 8192, k: 8192 }
  expect(timeOf({ ...large, batchA: [2], batchB: [2] })).toBeCloseTo(2 * timeOf(large), 3)
})

it('takes a batch one by one where a kernel refuses it as groups, as the backend does', () => {
  const kernel = kernels.find(({ id }) => id === 'decode-fp8')!
  const problem = { format: 'nvfp4', m: 2, n: 512, k: 512, output: 'f16' }
  const batch = { ...problem, batchA: [3], batchB: [3] }
  const nsOf = (one: typeof problem) => {
    const found = predictTime(kernel, 'fp8', facts, one)
    return 'ns' in found ? found.ns : NaN
  }
  expect(refusalOf(kernel, batch, facts)).toBeUndefined()
  expect(nsOf(batch)).toBeCloseTo(3 * nsOf(problem), 3)
  expect(refusalOf(kernel, { ...batch, m: 5 }, facts)).toMatch(/at most 4 rows of A/)
})

it('counts in a stage that names the rows of a group each group that has some, in others the launch, and knows the rows of the largest', () => {
  const wgmma = kernels.find(({ id }) => id === 'wgmma')!
  const unitsOf = (units: string, accumulate = false) => {
    const stage = { ...wgmma.model!.cost!.stages[0]!, units, slots: '1', ns: '1000000' }
    const cost = { ...wgmma.model!.cost!, stages: [{ ...stage, bytes: '0', flop: '0' }] }
    const groups = { layout: 'offsets' as const, rows: [3, 0, 5], alignment: 1, maxRows: 0 }
    const problem = {
      ...{ format: 'mxfp4', m: 8, n: 64, k: 64, output: 'f16' },
      groups,
      accumulate
    }
    const found = predictTime(
      { ...wgmma, model: { ...wgmma.model!, cost } },
      'bf16',
      facts,
      problem
    )
    return 'stages' in found ? found.stages[0]!.waves : NaN
  }
  expect(unitsOf('GROUP_ROWS')).toBe(3 + 5)
  expect(unitsOf('GROUP_ROWS * 0 + MOST_ROWS')).toBe(5 + 5)
  expect(unitsOf('GROUP_ROWS * 0 + M * GROUPS')).toBe(2 * 8 * 3)
  expect(unitsOf('M * GROUPS')).toBe(8 * 3)
  expect(unitsOf('7 - ACCUMULATE')).toBe(7)
  expect(unitsOf('7 - ACCUMULATE', true)).toBe(6)
})

it('takes as large a batch for one launch as the backend does', () => {
  const [, power] = /kMostTogether = int64_t\{1\} << (\d+);/.exec(
    text('native/cuda/rowProblem.cpp')
  )!
  expect(mostTogether).toBe(2 ** Number(power))
})
