/** How near a point is to each limit of its device, from what its run measured. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noRoofs, type Roofs } from '@shared/charts/limits'
import { nearestLimit, speedOfLight } from '@shared/charts/speedOfLight'
import { parseRun } from '@shared/contract/parseRun'
import { roofsOfRun } from '@shared/measurement/roofs'
import { makeStep } from '../support/samples'

const run = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
const roofs: Roofs = { ...roofsOfRun(run), entered: {} }
const stepOf = (kernel: string) =>
  run.steps.find((step) => step.kernel === kernel && step.format === 'mxfp4')!
const rowsOf = (kernel: string, of = roofs) => speedOfLight(stepOf(kernel), of)

describe('the speed of light of a point', () => {
  it('has its instruction, each memory level that was measured, and the power', () => {
    const step = stepOf('wgmma')
    const { tflops, timeNs, meanMHz, meanWatts } = step.measurement!
    const rows = rowsOf('wgmma')
    expect(rows.map(({ name }) => name)).toEqual(['Tensor core, bf16', 'L2', 'DRAM', 'Power'])
    const [compute, l2, dram, power] = rows
    // 4096 FLOP per SM and clock, 132 of them, 1980 MHz.
    expect(compute!.share).toBeCloseTo((tflops * 1e12) / (4096 * 132 * 1980e6), 6)
    expect(compute!.atClock).toBeCloseTo(meanMHz / 1980, 6)
    const level = (of: string) => roofs.measured.find((roof) => roof.of === of)!.rate
    expect(l2!.share).toBeCloseTo((step.work!.bytes / timeNs.median) * (1e9 / level('l2')), 6)
    expect(dram!.share).toBeCloseTo((step.work!.bytes / timeNs.median) * (1e9 / level('dram')), 6)
    expect(dram!.reached).toMatch(/^at least \d+ GB\/s$/)
    expect(power!.share).toBeCloseTo(meanWatts / 700, 6)
  })

  it('says what it is nearest to, and what its clock leaves', () => {
    const { meanMHz } = stepOf('wgmma').measurement!
    expect(nearestLimit(rowsOf('wgmma'), meanMHz)).toMatch(
      /^Nearest its limit: Tensor core, bf16, \d+ %; no memory is known to be above \d\.\d+ %\. At 1,751 MHz, its clock, 88 % of it can be reached\.$/
    )
    expect(nearestLimit([], 0)).toBe('')
  })

  it('takes the data sheet where nothing was measured, a limit that was entered above both, and leaves out what is not known', () => {
    const unmeasured = { ...roofs, measured: [] }
    expect(rowsOf('wgmma', unmeasured).find(({ name }) => name === 'DRAM')!.source).toMatch(
      /^data sheet/
    )
    const entered = rowsOf('wgmma', { ...roofs, entered: { compute: 1e15, memory: 2e12 } })
    expect(entered[0]).toMatchObject({ of: '1,000 TFLOP/s' })
    expect(entered[0]!.atClock).toBeUndefined()
    expect(entered.find(({ name }) => name === 'DRAM')!.of).toBe('2.00 TB/s')
    expect(rowsOf('wgmma', noRoofs)).toEqual([])
    expect(speedOfLight(makeStep(0, 'mxfp4', 'wgmma', {}), roofs)).toEqual([])
  })

  it('reads no memory behind the cache that holds the operands, and shows nothing beyond its limit', () => {
    const step = stepOf('wgmma')
    const hot = { ...step, measurement: { ...step.measurement!, cacheMode: 'hot: 1 operand set' } }
    expect(speedOfLight(hot, roofs).map(({ name }) => name)).not.toContain('DRAM')
    const wrong = { ...step, measurement: { ...step.measurement!, tflops: 5000 } }
    expect(speedOfLight(wrong, roofs).map(({ kind }) => kind)).not.toContain('compute')
  })
})
