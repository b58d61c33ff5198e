import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Device } from '@shared/contract/devices'
import type { Launch, Run, Step } from '@shared/contract/run'
import { adviceOn } from '@shared/measurement/advice'
import { shortName } from '@shared/profile/ask/shortName'

const run = JSON.parse(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8')) as Run
const stepOf = (format: string, kernel: string) =>
  run.steps.find((step) => step.format === format && step.kernel === kernel)!
const said = (step: Step, device: Device | undefined = run.device) =>
  adviceOn(step, device, shortName).map(({ rule, text }) => `${rule}: ${text}`)

const launch = (some: Partial<Launch>): Launch => ({
  name: 'gemm',
  ...{ startNs: 0, endNs: 1000, stream: 0, grid: [132, 1, 1], block: [128, 1, 1] },
  ...{ registersPerThread: 64, sharedMemoryBytes: 200_000 },
  ...some
})
/** A measured point of the H200 run, with other launches. */
function withLaunches(launches: Launch[], measurement: Partial<Step['measurement']> = {}): Step {
  const step = stepOf('mxfp4', 'wgmma')
  const clock = { meanMHz: 1980, badges: [] }
  return { ...step, measurement: { ...step.measurement!, ...clock, launches, ...measurement } }
}

describe('advice on points measured on an H200', () => {
  it('names the prepass of wgmma with its share, and the clock', () => {
    expect(said(stepOf('mxfp4', 'wgmma'))).toEqual([
      'prepass: widen takes 5 % of the time; of an operand that stays the same, such as weights, it need run only once.',
      'clock: The clock was 1796 of 1980 MHz (91 %): compare rates only with runs at the same clock.'
    ])
  })

  it('says when the power limit held the clock', () => {
    expect(said(stepOf('mixed', 'cublaslt-fp8'))).toEqual([
      expect.stringMatching(
        /^clock: The clock was 1278 of 1980 MHz \(65 %\), held there by the power limit/
      )
    ])
  })

  it('says nothing of a point without launches and clock', () => {
    expect(said(stepOf('mxfp4', 'triton'))).toEqual([])
  })
})

describe('the rules', () => {
  it('fewer blocks than multiprocessors', () => {
    expect(said(withLaunches([launch({ grid: [33, 2, 1] })]))).toEqual([
      expect.stringMatching(/^few-blocks: gemm has 66 blocks for 132 multiprocessors: 50 % of them/)
    ])
  })

  it('a last wave that is not full, where one block fills a multiprocessor', () => {
    const tail = launch({ grid: [198, 1, 1] })
    expect(said(withLaunches([tail]))).toEqual([
      expect.stringMatching(
        /^wave-tail: gemm has 198 blocks, 1.50 waves of 132: 25 % of the time of 2 full waves/
      )
    ])
    expect(said(withLaunches([{ ...tail, sharedMemoryBytes: 1024 }]))).toEqual([])
    expect(said(withLaunches([launch({ grid: [264, 1, 1] })]))).toEqual([])
  })

  it('gaps between launches', () => {
    const two = [launch({}), launch({ startNs: 1250, endNs: 2250 })]
    expect(said(withLaunches(two))).toEqual([
      expect.stringMatching(/^gaps: 11 % of the time lies between the 2/)
    ])
  })

  it('nothing without a device, a measurement, or anything that stands out', () => {
    expect(said(withLaunches([launch({})]))).toEqual([])
    expect(adviceOn(withLaunches([launch({ grid: [2, 1, 1] })]), undefined, shortName)).toEqual([])
    expect(said({ ...stepOf('mxfp4', 'wgmma'), measurement: undefined })).toEqual([])
  })
})
