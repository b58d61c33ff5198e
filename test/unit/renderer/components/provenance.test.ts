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

it('a point of a library says what the library chose, and one of another kernel nothing', () => {
  const run = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
  const step = run.steps.find(({ measurement }) => measurement)!
  const algorithm = {
    ...{ id: 4711, name: 'Cijk', tile: '', stages: '', cluster: '', reduction: '' },
    ...{ workspaceBytes: 0, waves: 1, rank: 1, proposed: 1 }
  }
  const said = (told: typeof step) =>
    provenance(run, told).find(({ title }) => title === 'Chosen by the library')?.text
  expect(said(step)).toBeUndefined()
  expect(said({ ...step, measurement: { ...step.measurement!, algorithm } })).toBe(
    'algorithm 4711, Cijk, workspace 0 B, waves 1; number 1 of 1 proposal'
  )
})
