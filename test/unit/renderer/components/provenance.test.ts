import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { provenance } from '../../../../src-renderer/components/provenance'

it('a point says what its kernel counted, where it counted', () => {
  const run = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
  const step = run.steps.find(({ measurement, validation }) => measurement && validation)!
  const said = (counts?: number[]) => {
    const counted = counts && { of: 'intervals proved', labels: ['P = 128', 'P = 32'], counts }
    const told = { ...step, validation: { ...step.validation!, counted } }
    return provenance(run, told).find(({ title }) => title === 'Counted')?.text
  }
  expect(said([7, 1])).toBe('intervals proved: P = 128 87.5 %, P = 32 12.5 %')
  expect([said([0, 0]), said()]).toEqual([undefined, undefined])
})
