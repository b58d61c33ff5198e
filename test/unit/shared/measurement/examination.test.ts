import { describe, expect, it } from 'vitest'
import type { Device, Kernel, Target } from '@shared/contract/devices'
import type { DeviceReport } from '@shared/contract/deviceReport'
import type { Run, Step } from '@shared/contract/run'
import { isSound, pairsOf, provenBy, twinLines, twinsOf } from '@shared/measurement/examination'

const kernel = (id: string, levels: Record<string, string>): Kernel => ({
  ...{ id, provider: 'blockscope', summary: '', scaleLayout: 'linear', baseline: false },
  ...{ operandBits: 0, outputs: ['f32'], sourceHash: '', compileOptions: '', features: [] },
  capabilities: Object.entries(levels).map(([format, level]) => ({
    ...{ format, reason: '', instruction: '' },
    level: level as Kernel['capabilities'][number]['level']
  }))
})
const device = (kernels: Kernel[]): Device => ({
  ...{
    id: 'cuda:0',
    kind: 'cuda',
    name: 'NVIDIA RTX 5090',
    architecture: 'sm_120',
    properties: {}
  },
  kernels
})
const own = kernel('mma-block-scale', {
  ...{ nvfp4: 'native', mxfp4: 'native', mxfp8: 'native', mxfp4_b16: 'unavailable' }
})
const twin = kernel('mma-block-scale-emulated', {
  ...{ nvfp4: 'emulated', mxfp4: 'emulated', mxfp8: 'emulated', mxfp4_b16: 'unavailable' }
})
const step = (id: string, format: string, digest?: string, more: Partial<Step> = {}) => ({
  ...{ kernel: id, format, disposition: 'passed', reason: '', m: 128, n: 128, k: 512 },
  ...(digest !== undefined && { validation: { outputDigest: digest, normwise: 1.25e-7 } }),
  ...more
})
const run = (steps: object[]) => ({ kind: 'validate', status: 'done', steps }) as unknown as Run

describe('kernels and their emulations', () => {
  it('are paired in the formats that are native', () => {
    expect(pairsOf(device([own, twin]))).toEqual([
      { kernel: own, emulation: twin, formats: ['nvfp4', 'mxfp4', 'mxfp8'] }
    ])
    // Where the instruction is no one's own, the emulation has nothing to be held against.
    const absent = kernel('mma-block-scale', { nvfp4: 'unavailable' })
    expect(pairsOf(device([absent, twin]))).toEqual([])
    expect(pairsOf(device([own]))).toEqual([])
  })

  it('agree where C is the same bit for bit, and nowhere else', () => {
    const [pair] = pairsOf(device([own, twin]))
    const twins = twinsOf(
      pair!,
      run([
        step(own.id, 'nvfp4', 'a'),
        step(twin.id, 'nvfp4', 'a'),
        step(own.id, 'mxfp4', 'a'),
        step(twin.id, 'mxfp4', 'b'),
        step(own.id, 'mxfp8', undefined, { disposition: 'error', reason: 'It hangs.' })
      ])
    )
    expect(twins.map(({ agrees }) => agrees)).toEqual([true, false, false])
    expect(twinLines(twins)).toEqual([
      'native mma-block-scale: 1 of 3 formats agree with the emulation, bit for bit',
      '  mxfp4: Both pass; C differs: normwise error 1.25e-7 against 1.25e-7.',
      '  mxfp8: mma-block-scale: It hangs.'
    ])
    expect(twinsOf(pair!, run([])).map(({ reason }) => reason)).toEqual(
      Array(3).fill('One of them was not run.')
    )
  })
})

const target: Target = {
  ...{
    architecture: 'sm_120, sm_121',
    instruction: 'mma.sync',
    state: 'emulated',
    note: 'not run'
  },
  ...{ devices: ['sm_120', 'sm_121'], kernels: ['mma-block-scale'] }
}
const report = (steps: object[], more: Partial<DeviceReport> = {}): DeviceReport => ({
  ...{ blockscopeDevice: 1, createdAt: '2026-12-01T10:00:00Z', appVersion: '0.1.0' },
  ...{ system: 'linux x64', device: device([own, twin]), libraries: [], twins: [] },
  validation: run(steps),
  ...more
})
const passing = report([step(own.id, 'nvfp4', 'a'), step(own.id, 'mxfp4', 'a')])
const kept = (of: DeviceReport, isHere: boolean) => ({ name: 'rtx5090.json', isHere, report: of })

describe('a target', () => {
  it('is run by someone whose report has passed steps of its kernels, and run here by one of this machine', () => {
    expect(provenBy(target, [kept(passing, false)])).toMatchObject({
      state: 'run',
      note: '2 formats passed on NVIDIA RTX 5090, 2026-12-01 (rtx5090.json).'
    })
    expect(provenBy(target, [kept(passing, false), kept(passing, true)])).toMatchObject({
      state: 'run-here'
    })
  })

  it('is not proven by other devices, other kernels, or steps that failed', () => {
    const elsewhere = { ...passing, device: { ...passing.device, architecture: 'sm_90' } }
    const others = report([step('mma', 'nvfp4', 'a'), step(twin.id, 'nvfp4', 'a')])
    const failed = report([step(own.id, 'nvfp4', 'a', { disposition: 'incorrect' })])
    const none = report([], { validation: undefined })
    for (const one of [elsewhere, others, failed, none])
      expect(provenBy(target, [kept(one, true)])).toBe(target)
  })
})

describe('a report', () => {
  it('is sound when every twin agrees and nothing failed', () => {
    const twinOf = (agrees: boolean) => ({
      ...{ kernel: own.id, emulation: twin.id, format: 'nvfp4', agrees, reason: '' }
    })
    expect(isSound(passing)).toBe(true)
    expect(isSound({ ...passing, twins: [twinOf(true)] })).toBe(true)
    expect(isSound({ ...passing, twins: [twinOf(true), twinOf(false)] })).toBe(false)
    const failed = step(own.id, 'nvfp4', 'a', { disposition: 'incorrect' })
    expect(isSound(report([step(own.id, 'mxfp4', 'a'), failed]))).toBe(false)
  })
})
