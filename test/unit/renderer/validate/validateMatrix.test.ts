/** Cells of the Validate matrix, failed elements and their links. */
import { describe, expect, it } from 'vitest'
import { decodeBlock, layoutLink } from '../../../../src-renderer/views/validate/failedElement'
import { matrixRows, validateMatrix } from '../../../../src-renderer/views/validate/validateMatrix'
import {
  cpu,
  failingValidation,
  gpu,
  makeKernel,
  makeMeasurement,
  makeRun,
  makeStep,
  makeValidation
} from '../support/samples'

const idle = { running: false, activity: '' }

describe('the Validate matrix', () => {
  const steps = [
    makeStep(0, 'nvfp4', 'avx512vnni', { validation: makeValidation() }),
    makeStep(1, 'nvfp4', 'portable', {
      disposition: 'incorrect',
      reason: '12 elements are outside.',
      validation: failingValidation
    }),
    makeStep(2, 'mxfp4', 'portable', { disposition: 'cancelled', reason: 'Cancelled.' })
  ]

  it('shows each state of a cell with its reason', () => {
    const run = makeRun('r', { steps })
    const { cell } = validateMatrix(run, cpu, {
      running: true,
      activity: 'mxfp8 avx512vnni: scale of A'
    })
    const share = makeValidation().maxToleranceShare ?? Math.max(...makeValidation().errorMap)
    expect(cell('avx512vnni', 'nvfp4')).toMatchObject({ share, note: '', look: { tone: 'ok' } })
    expect(cell('portable', 'nvfp4')).toMatchObject({ note: '12 outside', look: { tone: 'bad' } })
    expect(cell('portable', 'mxfp4').look.text).toBe('Cancelled')
    expect(cell('avx512vnni', 'mxfp8')).toMatchObject({ note: 'scale of A', active: true })
    expect(cell('portable', 'mixed').look.text).toBe('Waiting')
  })

  it('has a row for an emulated instruction where a run names it', () => {
    const device = { ...gpu, kernels: [...gpu.kernels, makeKernel('emulation', () => 'emulated')] }
    const rowsOf = (kernels: string[]) => {
      const run = makeRun('r', { steps: [], spec: { ...makeRun('r').spec, kernels } })
      return validateMatrix(run, device, idle).rows.map(({ id }) => id)
    }
    expect(rowsOf([])).not.toContain('emulation')
    expect(rowsOf(['emulation'])).toEqual(['emulation'])
  })

  it('has the kernels that auto chose, and no others', () => {
    const choice = { kernel: 'portable', why: 'the fastest of 2 exact kernels', candidates: [] }
    const spec = { ...makeRun('r').spec, kernels: ['auto'] }
    const run = makeRun('r', { steps: [makeStep(0, 'nvfp4', 'portable', { choice })], spec })
    expect(validateMatrix(run, cpu, idle).rows.map(({ id }) => id)).toEqual(['portable'])
  })

  it('says why a kernel has no result: no code, baseline, not asked for', () => {
    const run = makeRun('r', { steps: [], spec: { ...makeRun('r').spec, kernels: ['mma_sync'] } })
    const { cell, rows } = validateMatrix(run, gpu, idle)
    expect(cell('triton_dot_scaled', 'nvfp4')).toMatchObject({
      look: { text: 'Not available' },
      reason: 'triton_dot_scaled has no path for nvfp4.'
    })
    expect(cell('cublas_bf16', 'mxfp4').look.text).toBe('Baseline')
    expect(cell('wgmma_bf16', 'mxfp4').look.text).toBe('Not asked for')
    expect(cell('mma_sync', 'mxfp4').look.text).toBe('Not validated')
    expect(rows.map(({ id }) => id)).toContain('mma_sync')
  })

  it('says of what passed beyond the tolerance why, and shows no share of none', () => {
    const shared = (index: number, kernel: string, maxToleranceShare: number) =>
      makeStep(index, 'nvfp4', kernel, { validation: { ...makeValidation(), maxToleranceShare } })
    const run = makeRun('r', { steps: [shared(0, 'a', 3), shared(1, 'b', Infinity)] })
    const { cell } = validateMatrix(run, undefined, idle)
    expect(cell('a', 'nvfp4')).toMatchObject({ share: 3, note: 'by an allowance' })
    expect(cell('b', 'nvfp4')).toMatchObject({ share: undefined, note: 'by an allowance' })
  })

  it('counts what became of the cells, has rates where there are any, references last and outside', () => {
    const timed = makeRun('t', {
      kind: 'sweep',
      device: undefined,
      steps: [
        makeStep(0, 'mxfp4', 'cublaslt-fp8', {
          provider: 'cuBLASLt',
          baseline: true,
          disposition: 'baseline',
          validation: failingValidation,
          measurement: makeMeasurement(1e6, 3e12)
        }),
        makeStep(1, 'mxfp4', 'wgmma', {
          provider: 'blockscope',
          k: 512,
          validation: makeValidation(),
          measurement: makeMeasurement(2e6, 2e12)
        }),
        makeStep(2, 'mxfp4', 'wgmma', {
          provider: 'blockscope',
          k: 1024,
          validation: makeValidation(),
          measurement: makeMeasurement(1e6, 2e12)
        })
      ]
    })
    const { rows, cell, mostTflops, counts } = validateMatrix(timed, undefined, idle)
    expect(rows.map(({ id, group }) => [id, group])).toEqual([
      ['wgmma', 'blockscope'],
      ['cublaslt-fp8', 'cuBLASLt']
    ])
    expect(rows[1]!.note).toBe('computes something else')
    expect(cell('cublaslt-fp8', 'mxfp4')).toMatchObject({ reference: true, family: 'cublaslt' })
    // Of two shapes the faster stands for the kernel.
    expect(cell('wgmma', 'mxfp4').step!.k).toBe(1024)
    expect(mostTflops).toBe(cell('cublaslt-fp8', 'mxfp4').tflops)
    expect(counts.map(({ look, count }) => [look.text, count])).toEqual([
      ['Passed', 1],
      ['Reference only', 1]
    ])
  })

  it('keeps rows and results of a run whose device is not here', () => {
    const matrix = validateMatrix(makeRun('r', { steps }), undefined, idle)
    expect(matrix.rows.map(({ id }) => id)).toEqual(['avx512vnni', 'portable'])
    expect(matrix.formats).toEqual(['nvfp4', 'mxfp4'])
  })

  it('copies as one line per cell with its reason', () => {
    const lines = matrixRows(validateMatrix(makeRun('r', { steps }), cpu, idle))
    expect(lines).toHaveLength(1 + 2 * 9)
    expect(lines[0]).toContain('normwise error')
    expect(lines.find(([kernel, format]) => kernel === 'portable' && format === 'nvfp4')).toEqual([
      'portable',
      'nvfp4',
      'Incorrect',
      failingValidation.normwise,
      12.5,
      12,
      '12 elements are outside.'
    ])
  })
})

describe('a failed element', () => {
  const failure = failingValidation.failures[0]!

  it('shows codes beside the values they stand for', () => {
    const block = decodeBlock('nvfp4', failure)
    expect(block.start).toBe(32)
    expect(block.aScale).toEqual({ code: '38', value: '1' })
    expect(block.bScale).toEqual({ code: '40', value: '2' })
    expect(block.a.slice(0, 4).map(({ value }) => value)).toEqual(['0', '0.5', '1', '1.5'])
    expect(block.b[0]).toEqual({ code: 'F', value: '-6' })
  })

  it('writes scales of powers of two as such, and NaN as NaN', () => {
    const block = decodeBlock('mxfp4', { ...failure, aScale: 0, bScale: 0xff })
    expect(block.aScale!.value).toBe('2^-127')
    expect(block.bScale.value).toBe('NaN')
  })

  it('links to its scale in the layout of the kernel, with K that fills no whole block', () => {
    const link = layoutLink('nvidia_32_4_4', 128, 100, 'nvfp4', 3, 2)
    const params = new URLSearchParams(link.slice(link.indexOf('?')))
    expect(Object.fromEntries(params)).toEqual({
      layout: 'nvidia_32_4_4',
      format: 'nvfp4',
      rows: '128',
      cols: '7',
      row: '3',
      col: '2'
    })
  })
})
