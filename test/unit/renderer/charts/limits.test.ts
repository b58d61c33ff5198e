/** What a measured rate is compared with: which limit binds, and where it is from. */
import { describe, expect, it } from 'vitest'
import type { Step } from '@shared/contract/run'
import { knownRoofs, limitAt, type Roofs } from '../../../../src-renderer/charts/limits'
import { sweepLines } from '../../../../src-renderer/charts/sweepSeries'
import { enteredRoofs, roofProblem } from '../../../../src-renderer/views/sweep/enteredRoofs'
import {
  cpu,
  gpu,
  makeMeasurement,
  makeRun,
  makeStep,
  sweepSpec,
  sweepSteps
} from '../support/samples'

const linesOf = (steps: Step[], overlay = false) =>
  sweepLines([
    { run: makeRun('r', { kind: 'sweep', spec: sweepSpec, steps }), title: 'r', overlay }
  ])
const step = (tflops: number, more: Partial<Step> = {}) =>
  makeStep(0, 'mxfp8', 'mma_sync', {
    k: 2048,
    measurement: makeMeasurement(1e6, 2e12, { tflops }),
    ...more
  })

describe('the limit at an intensity', () => {
  const roofs: Roofs = {
    compute: { value: 100, source: 'c' },
    memory: { value: 1000, source: 'm' }
  }

  it('is the memory before the ridge, the compute limit from there on', () => {
    expect(limitAt(50, roofs)).toEqual({ value: 50, by: 'memory', source: 'm' })
    expect(limitAt(100, roofs)).toEqual({ value: 100, by: 'compute', source: 'c' })
    expect(limitAt(5000, roofs)!.by).toBe('compute')
  })

  it('is the one that is known, or none', () => {
    expect(limitAt(5000, { ...roofs, compute: undefined })).toMatchObject({ value: 5000 })
    expect(limitAt(1, { ...roofs, memory: undefined })).toMatchObject({ value: 100 })
    expect(limitAt(1, { compute: undefined, memory: undefined })).toBeUndefined()
  })
})

describe('known limits', () => {
  it('of an H200 are those of its data sheet, with the source', () => {
    const { compute, memory } = knownRoofs(gpu, linesOf(sweepSteps()))
    expect(compute!.source).toMatch(/^data sheet, dense fp8: /)
    expect(compute!.value).toBeGreaterThan(1900)
    expect(compute!.value).toBeLessThan(2000)
    expect(memory!.value).toBeGreaterThan(4500)
    expect(memory!.value).toBeLessThan(5000)
  })

  it('of a CPU are the best rate measured, of a baseline if there is one', () => {
    const fast = step(3, { kernel: 'fast' })
    expect(knownRoofs(cpu, linesOf([step(1), fast]))).toEqual({
      compute: { value: 3, source: 'measured: fast mxfp8, K = 2048' },
      memory: undefined
    })
    const baseline = step(2, { kernel: 'blas', baseline: true })
    expect(knownRoofs(cpu, linesOf([fast, baseline])).compute!.value).toBe(2)
    expect(knownRoofs(cpu, linesOf([fast], true)).compute!.source).toContain('in an overlaid run')
  })

  it('are none without a device, points or numbers', () => {
    expect(knownRoofs(undefined, [])).toEqual({ compute: undefined, memory: undefined })
    expect(knownRoofs(cpu, linesOf([step(NaN), step(0)])).compute).toBeUndefined()
  })
})

describe('entered limits', () => {
  it('stand in place of the known ones as soon as they are numbers above 0', () => {
    expect(enteredRoofs({ compute: ' 1979 ', memory: '4.8e3' })).toEqual({
      compute: { value: 1979, source: 'entered' },
      memory: { value: 4800, source: 'entered' }
    })
    expect(enteredRoofs({ compute: '', memory: ' ' })).toEqual({})
    expect(roofProblem('')).toBeUndefined()
  })

  it.each(['0', '-1', 'fast', '1e999', 'Infinity', 'NaN', '1 979 TFLOP/s'])(
    '%s is answered in words and leaves the known limit',
    (typed) => {
      expect(roofProblem(typed)).toBe('Write a number above 0, such as 1979.')
      expect(enteredRoofs({ compute: typed, memory: '5' })).toEqual({
        memory: { value: 5, source: 'entered' }
      })
    }
  )
})
