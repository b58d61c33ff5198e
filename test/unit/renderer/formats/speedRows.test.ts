/** Speeds of formats: what the saved H200 run says is the fastest of each. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRun } from '../../../../src-shared/contract/parseRun'
import { sweepLines } from '../../../../src-shared/charts/sweepSeries'
import { speedOf, speedRows } from '../../../../src-renderer/views/formats/speedRows'

const path = 'docs/results/h200-8192/run.json'
const run = parseRun(readFileSync(path, 'utf8'), path)

describe('the fastest of each format', () => {
  it('is a kernel that is judged, with the fastest reference at its shape beside it', () => {
    const rows = speedRows(run)
    expect(
      rows.map(({ step, reference }) => [step.format, step.kernel, reference?.kernel])
    ).toEqual([
      ['mxfp4', 'wgmma-fp8-p128', 'cublaslt-fp8'],
      ['mxfp8', 'wgmma', 'cublaslt-fp8'],
      ['mixed', 'wgmma', 'cublaslt-fp8'],
      ['nvfp4', 'wgmma', 'cublaslt-fp8']
    ])
    const [mxfp4] = rows
    expect(mxfp4!.share).toBeCloseTo(speedOf(mxfp4!.step) / speedOf(mxfp4!.reference!), 9)
    expect(mxfp4!.mark).toMatchObject({ symbol: 'circle', hollow: false })
    const lines = sweepLines([{ run, title: '', overlay: false }])
    for (const { step, mark } of rows)
      expect(
        lines.find(({ kernel, format }) => kernel === step.kernel && format === step.format)!.mark
      ).toEqual(mark)
  })

  it('has no row of what was not measured, and none of references alone', () => {
    expect(speedRows({ ...run, steps: run.steps.filter(({ baseline }) => baseline) })).toEqual([])
    const unmeasured = run.steps.map((step) => ({ ...step, measurement: undefined }))
    expect(speedRows({ ...run, steps: unmeasured })).toEqual([])
  })
})
