/** What all steps of a validation say together: of a run measured on an H200, and of the units behind its figures. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { decodeTable, numberFormats } from '@shared/formats/numberFormat'
import { roundingShareOf } from '@shared/measurement/validationFigures'
import {
  headroomText,
  judgedSteps,
  largestErrorText,
  scaleCheckText,
  standingStep
} from '@shared/measurement/validationSummary'

const run = parseRun(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'), 'run.json')

it('leaves references out, and says what was not checked', () => {
  expect(judgedSteps(run).some(({ kernel }) => kernel.startsWith('cublaslt'))).toBe(false)
  expect(largestErrorText(run)).toBe('Largest error 0.486 of the tolerance.')
  expect(headroomText(run)).toBe('51 % of the tolerance to spare')
  expect(scaleCheckText(run)).toMatch(/^Scale check: \d+ of \d+ passed, not run for \d+\.$/)
  const nothing = { steps: [] }
  expect([largestErrorText(nothing), headroomText(nothing), scaleCheckText(nothing)]).toEqual([
    '',
    '',
    ''
  ])
})

it('lets what failed stand for a kernel, else the fastest', () => {
  const [first] = judgedSteps(run)
  const rate = (tflops: number) => ({
    ...first!,
    measurement: { ...first!.measurement!, tflops }
  })
  const failed = { ...rate(1), disposition: 'incorrect' as const }
  expect(standingStep([rate(1), rate(3), rate(2)])!.measurement!.tflops).toBe(3)
  expect(standingStep([rate(3), failed])).toBe(failed)
  expect(standingStep([])).toBeUndefined()
})

it('knows what rounding to a type may cost: half the distance of neighbours over the value', () => {
  for (const output of ['e4m3', 'e5m2'] as const) {
    const { bias } = numberFormats[output]
    const normal = [...decodeTable(numberFormats[output])]
      .filter((value) => Number.isFinite(value) && value >= 2 ** (1 - bias))
      .sort((a, b) => a - b)
    const worst = Math.max(
      ...normal.slice(1).map((value, i) => (value - normal[i]!) / 2 / normal[i]!)
    )
    expect(roundingShareOf(output, 1)).toBe(worst)
  }
  expect(roundingShareOf('f16', 1e-3)).toBeCloseTo(0.488, 3)
  expect(roundingShareOf('f16', 0)).toBeUndefined()
})
