/** Names of runs tell them apart: what was run, on which shape, with which options. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { runSchema, type Run } from '../../../../src-shared/contract/run'
import { optionsOf, runName, shapeOf } from '../../../../src-shared/measurement/runName'

const run = v.parse(
  runSchema,
  JSON.parse(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'))
)
const nameOf = (of: Run) =>
  runName({ ...of, formats: of.spec.formats, shape: shapeOf(of), options: optionsOf(of.spec) })
const withK = (...values: number[]): Run => ({
  ...run,
  steps: values.map((k) => ({ ...run.steps[0]!, k }))
})

describe('the name of a run', () => {
  it('has the shape, whichever way it was swept', () => {
    expect(nameOf(run)).toBe('Sweep 4 formats, M = N = K = 8,192')
    expect(nameOf(withK(512, 8192))).toBe('Sweep 4 formats, M = N = 8,192, K 512–8,192')
    const oblong = { ...run, steps: [{ ...run.steps[0]!, m: 1, n: 256, k: 64 }] }
    expect(nameOf(oblong)).toBe('Sweep 4 formats, M 1, N 256, K 64')
  })

  it('names the files that were given', () => {
    const spec = (files: object) =>
      ({ ...run.spec, kind: 'validate', formats: ['nvfp4'], ...files }) as Run['spec']
    const operandsFiles = ['/data/o.npz', '/data/s.npy']
    expect(nameOf({ ...run, kind: 'validate', spec: spec({ operandsFiles }) })).toBe(
      'Validate nvfp4, M = N = K = 8,192, operands of o.npz, s.npy'
    )
    const judged = spec({ operandsFiles, resultFile: 'C:\\out\\c.npy' })
    expect(nameOf({ ...run, kind: 'validate', spec: judged })).toBe(
      'Validate nvfp4, M = N = K = 8,192, C of c.npy'
    )
  })

  it('before the first step comes from what was asked', () => {
    expect(shapeOf({ ...run, steps: [] })).toBe('K 8,192')
  })

  it('says what is out of the ordinary, and gives way to a label', () => {
    const hot: Run = {
      ...run,
      spec: {
        ...run.spec,
        kind: 'sweep',
        mode: 'hot',
        mValues: [],
        nValues: [],
        kValues: [8192],
        output: 'bf16'
      } as Run['spec']
    }
    expect(nameOf(hot)).toBe('Sweep 4 formats, M = N = K = 8,192, hot L2, bf16 out')
    expect(nameOf({ ...run, label: 'before' })).toBe('before')
  })
})
