import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Disposition } from '@shared/contract/jobs'
import { parseRun } from '@shared/contract/parseRun'
import { dispositionOf, outcomeOf } from '@shared/measurement/outcome'
import { runToJunit } from '@shared/report/junit'
import { runToHtml } from '@shared/report/html'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const steps = (...of: [number, Disposition][]) =>
  of
    .flatMap(([count, disposition]) => Array<Disposition>(count).fill(disposition))
    .map((disposition, index) => sampleStep(index, { disposition }))
const validation = (change = {}) => sampleRun({ kind: 'validate', ...change })

describe('what became of a run', () => {
  it('is failed when half of its steps are, although the job is done', () => {
    const run = validation({ steps: steps([18, 'passed'], [18, 'incorrect']) })
    expect(outcomeOf(run)).toMatchObject({
      verdict: 'failed',
      sentence: '18 of 36 passed, 18 failed'
    })
  })

  it('stands beside what was planned when the run was cut off', () => {
    const cut = validation({ status: 'cancelled', stepsPlanned: 36, steps: steps([3, 'passed']) })
    expect(outcomeOf(cut)).toMatchObject({
      verdict: 'incomplete',
      sentence: '3 of 36 passed, 33 not done (cancelled)'
    })
    const sweep = sampleRun({
      status: 'cancelled',
      stepsPlanned: 128,
      steps: steps([128, 'cancelled'])
    })
    expect(outcomeOf(sweep).sentence).toBe('0 of 128 measured, 128 not done (cancelled)')
    expect(outcomeOf(sweep).verdict).toBe('incomplete')
  })

  it('leaves baselines outside pass and fail, whatever they compute', () => {
    expect(dispositionOf('incorrect', true)).toBe('baseline')
    expect(dispositionOf('passed', true)).toBe('baseline')
    const run = validation({ steps: steps([2, 'passed'], [2, 'baseline']) })
    expect(outcomeOf(run)).toMatchObject({
      verdict: 'passed',
      sentence: '2 of 2 passed, 2 reference only'
    })
  })

  it('is no pass when nothing was judged', () => {
    expect(outcomeOf(validation({ steps: [] })).verdict).toBe('nothing')
    expect(outcomeOf(validation({ steps: steps([2, 'baseline']) })).verdict).toBe('nothing')
    expect(outcomeOf(validation({ steps: steps([2, 'not-supported']) })).verdict).toBe(
      'unsupported'
    )
    expect(outcomeOf(validation({ steps: steps([1, 'not-verified']) })).verdict).toBe('unproven')
    expect(outcomeOf(sampleRun({ steps: steps([2, 'baseline']) })).verdict).toBe('reference')
  })

  it('is the same word in the HTML report and in JUnit', () => {
    const cut = validation({ status: 'cancelled', stepsPlanned: 36, steps: steps([3, 'passed']) })
    expect(runToHtml(cut)).toContain('<strong>Incomplete</strong>: 3 of 36 passed, 33 not done')
    const junit = runToJunit(cut)
    expect(junit).toContain(
      '<failure message="Incomplete: 3 of 36 passed, 33 not done (cancelled).'
    )
    const reference = runToJunit(validation({ steps: steps([1, 'passed'], [1, 'baseline']) }))
    expect(reference).toContain('<skipped message="reference only"/>')
    expect(reference).not.toContain('<failure')
  })
})

describe('a run of version 0.1.0', () => {
  const run = parseRun(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'), 'run.json')
  const find = (format: string, kernel: string) =>
    run.steps.find((step) => step.format === format && step.kernel === kernel)!

  it('has its baselines as reference only, and passes', () => {
    expect(find('mxfp4', 'cublaslt-fp8').disposition).toBe('baseline')
    expect(outcomeOf(run)).toMatchObject({ verdict: 'passed', failed: 0, references: 8 })
  })

  it('counts the work of a baseline as that baseline does it', () => {
    // bf16 reads 2 bytes of each element: 2 * 2 * 8192^2 + 2 * 8192^2 of C.
    expect(find('mxfp4', 'cublaslt-bf16').work!.bytes).toBe(6 * 8192 ** 2)
    expect(find('mxfp4', 'cublaslt-bf16').measurement!.bytes).toBe(6 * 8192 ** 2)
    expect(find('mxfp4', 'cublaslt-fp8').work!.bytes).toBe(4 * 8192 ** 2)
    const { timeNs, gbytesPerSecond } = find('mxfp4', 'cublaslt-bf16').measurement!
    expect(gbytesPerSecond).toBeCloseTo((6 * 8192 ** 2) / timeNs.median)
    // Packed fp4 with its scales.
    expect(find('mxfp4', 'wgmma').work!.bytes).toBe(205520896)
  })

  it('was asked for one M and one N, which are lists now', () => {
    const text = readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8')
    const asked = JSON.parse(text) as { spec: object }
    const before = { ...asked, spec: { ...asked.spec, m: 4096, n: 256 } }
    const { spec } = parseRun(JSON.stringify(before), 'run.json')
    expect(spec).toMatchObject({ mValues: [4096], nValues: [256], kValues: [8192] })
    expect(spec).not.toHaveProperty('m')
    expect(run.spec).toMatchObject({ mValues: [], nValues: [] })
    expect(parseRun(JSON.stringify(run), 'run.json').spec).toEqual(run.spec)
  })

  it('knows the instruction behind each kernel', () => {
    expect(find('mxfp4', 'wgmma').instruction).toBe('bf16')
    expect(find('mxfp4', 'wgmma-fp8-p256').instruction).toBe('fp8')
    expect(find('mxfp4', 'triton').instruction).toBe('bf16')
  })
})
