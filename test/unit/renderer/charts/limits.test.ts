/** What a measured rate is compared with: the limit that belongs to its kernel, and where it is from. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Roof } from '@shared/contract/roofs'
import { parseRun } from '@shared/contract/parseRun'
import { limitAt, roofsOfRun } from '@shared/measurement/roofs'
import { limitOf, noRoofs, roofsAt, shareOfStep, type Roofs } from '@shared/charts/limits'
import { enteredRoofs, roofProblem } from '../../../../src-renderer/views/sweep/enteredRoofs'
import { cpu, gpu, makeMeasurement, makeStep } from '../support/samples'

const step = (tflops: number, instruction: string, more = {}) =>
  makeStep(0, 'mxfp8', 'kernel', {
    k: 2048,
    instruction,
    measurement: makeMeasurement(1e6, 2e12, { tflops, bytes: 1, meanMHz: 0, ...more })
  })
const measured = (kind: Roof['kind'], of: string, rate: number): Roof => ({
  ...{ kind, of, rate, basis: 'measured' as const },
  source: `measured ${of}`
})

describe('the limit at an intensity', () => {
  const compute = measured('compute', 'bf16', 100)
  const memory = measured('memory', 'dram', 1)

  it('is the memory before the ridge, the compute limit from there on', () => {
    expect(limitAt(50, compute, memory)).toMatchObject({ rate: 50, by: 'memory' })
    expect(limitAt(100, compute, memory)).toMatchObject({ rate: 100, by: 'compute' })
    expect(limitAt(5000, compute, memory)!.by).toBe('compute')
  })

  it('is the one that is known, or none', () => {
    expect(limitAt(5000, undefined, memory)).toMatchObject({ rate: 5000 })
    expect(limitAt(1, compute, undefined)).toMatchObject({ rate: 100 })
    expect(limitAt(1, undefined, undefined)).toBeUndefined()
  })
})

describe('the limits of a GPU', () => {
  const roofs: Roofs = { ...noRoofs, device: gpu }

  it('are of the instruction that multiplies, at the clock that was measured', () => {
    const rate = (instruction: string, meanMHz = 0) =>
      roofsAt(step(1, instruction, { meanMHz }), roofs).compute!.rate / 1e12
    expect(rate('fp8')).toBeCloseTo(2141, 0)
    expect(rate('bf16')).toBeCloseTo(1070.5, 0)
    expect(rate('bf16', 990)).toBeCloseTo(535.3, 0)
    expect(roofsAt(step(1, 'fp8', { meanMHz: 990 }), roofs).compute!.source).toMatch(
      /^dense fp8 at 990 MHz; data sheet: /
    )
  })

  it('are not known for a kernel that does not say what multiplies', () => {
    const point = step(1, '')
    expect(roofsAt(point, roofs).compute).toBeUndefined()
    expect(roofsAt(point, roofs).memory!.rate / 1e12).toBeCloseTo(4.92)
  })

  it('show the measured memory rate beside the data sheet', () => {
    const with4 = { ...roofs, measured: [measured('memory', 'dram', 4.1e12)] }
    expect(roofsAt(step(1, 'fp8'), with4).memory!.source).toMatch(/; 4100 GB\/s measured here$/)
  })

  it('let no point of a real run above 100 %, the power-capped fp8 baseline included', () => {
    const run = parseRun(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'), 'run.json')
    const shares = run.steps.map((each) => {
      const found = shareOfStep(each, { ...roofsOfRun(run), entered: {} })
      return [`${each.format} ${each.kernel}`, 'share' in found ? found.share : found.reason]
    })
    for (const [name, share] of shares) {
      expect([name, typeof share]).toEqual([name, 'number'])
      expect(share).toBeGreaterThan(0.1)
      expect(share).toBeLessThan(1)
    }
    const of = (name: string) =>
      Math.round((shares.find(([key]) => key === name)![1] as number) * 100)
    // 1304 TFLOP/s at 1299 MHz; 577 bf16 TFLOP/s at 1796 MHz, not a quarter of the fp8 peak.
    expect(of('mxfp4 cublaslt-fp8')).toBe(93)
    expect(of('mxfp4 wgmma')).toBe(59)
  })
})

describe('the limits of a CPU', () => {
  const roofs: Roofs = {
    ...noRoofs,
    device: cpu,
    measured: [
      measured('compute', 'int8:avx512-vnni', 2e12),
      measured('compute', 'fp32:avx512', 0.5e12),
      measured('memory', 'dram', 50e9),
      measured('memory', 'l2', 500e9)
    ]
  }

  it("are those measured of the kernel's own instruction, never the best point", () => {
    expect(limitOf(step(1, 'int8:avx512-vnni'), roofs)).toMatchObject({ rate: 2e12 })
    expect(limitOf(step(0.1, 'fp32:avx512'), roofs)).toMatchObject({ rate: 0.5e12 })
    const found = shareOfStep(step(0.1, 'fp32:avx512'), roofs)
    expect('share' in found && found.share).toBeCloseTo(0.2)
    expect(
      limitOf(step(1, 'bf16:avx512-bf16', { bytes: 0 }), { ...roofs, measured: [] })
    ).toBeUndefined()
  })

  it('are the cache that holds the operands where they stay in it', () => {
    const level = (cacheMode: string, bytes: number) =>
      roofsAt(step(1, 'fp32:avx512', { cacheMode, bytes }), roofs).memory?.of
    expect(level('hot', 1_000_000)).toBe('l2')
    expect(level('cold: 3 operand sets', 1_000_000)).toBe('dram')
    expect(level('hot', 1e9)).toBe('dram')
  })

  it('are not exceeded: a share above 100 % is words, not a number', () => {
    const found = shareOfStep(step(0.6, 'fp32:avx512'), roofs)
    expect(found).toMatchObject({ reason: expect.stringMatching(/^120 % of the limit: /) })
    expect('share' in found).toBe(false)
  })
})

describe('entered limits', () => {
  it('stand in place of the known ones as soon as they are numbers above 0', () => {
    expect(enteredRoofs({ compute: ' 1979 ', memory: '4.8e3' })).toEqual({
      compute: 1979e12,
      memory: 4.8e12
    })
    const entered = { ...noRoofs, device: gpu, entered: { compute: 5e12, memory: 1e12 } }
    expect(roofsAt(step(1, 'fp8'), entered)).toMatchObject({
      compute: { rate: 5e12, source: 'entered' },
      memory: { rate: 1e12, source: 'entered' }
    })
    expect(enteredRoofs({ compute: '', memory: ' ' })).toEqual({})
    expect(roofProblem('')).toBeUndefined()
  })

  it.each(['0', '-1', 'fast', '1e999', 'Infinity', 'NaN', '1 979 TFLOP/s'])(
    '%s is answered in words and leaves the known limit',
    (typed) => {
      expect(roofProblem(typed)).toBe('Write a number above 0, such as 1979.')
      expect(enteredRoofs({ compute: typed, memory: '5' })).toEqual({ memory: 5e9 })
    }
  )
})
