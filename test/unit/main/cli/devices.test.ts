import { describe, expect, it } from 'vitest'
import type { Detection, Kernel } from '@shared/contract/devices'
import { describe as linesOf } from '../../../../src-main/cli/devices'

const kernel = (id: string, level: string): Kernel => ({
  ...{ id, provider: 'blockscope', summary: `what ${id} is`, scaleLayout: 'linear' },
  ...{ baseline: false, operandBits: 4, outputs: ['f32'], sourceHash: '', compileOptions: '' },
  features: [],
  capabilities: [{ format: 'mxfp4', level, reason: '', instruction: '' }] as Kernel['capabilities']
})
const detection: Detection = {
  devices: [
    {
      ...{ id: 'cuda:0', kind: 'cuda', name: 'GPU', architecture: 'sm_90', properties: {} },
      kernels: [kernel('wgmma', 'native'), kernel('mma-emulated', 'emulated')]
    }
  ],
  libraries: [],
  warnings: []
}

describe('devices', () => {
  it('counts kernels of emulated instructions, and lists them where they are asked for', () => {
    const usual = linesOf(detection, {}).join('\n')
    expect(usual).toContain('  wgmma (blockscope): what wgmma is')
    expect(usual).not.toContain('mma-emulated')
    expect(usual).toContain('1 kernel with an emulated instruction: --emulated lists')
    const all = linesOf(detection, { emulated: true }).join('\n')
    expect(all).toContain('  mma-emulated (blockscope)')
    expect(all).not.toContain('--emulated')
  })

  it('says nothing of accumulators and batches where a kernel computes no format', () => {
    const features = [{ id: 'batch', level: 'fused', reason: '' }] as Kernel['features']
    const [device] = detection.devices
    const linesFor = (level: string) =>
      linesOf(
        {
          ...detection,
          devices: [{ ...device!, kernels: [{ ...kernel('wgmma', level), features }] }]
        },
        {}
      ).join('\n')
    expect(linesFor('exact')).toContain('batch')
    expect(linesFor('unavailable')).not.toContain('batch')
  })

  it('tells formats that are computed alike together', () => {
    const capabilities = ['mxfp4', 'mxfp8', 'e5m2xe2m1', 'e2m1xe5m2', 'e2m3xe4m3'].map(
      (format) => ({
        ...{ format, level: 'exact' as const, instruction: 'bf16' },
        reason: format === 'mxfp4' ? 'by tables' : 'in float32'
      })
    )
    const [device] = detection.devices
    const kernels = [{ ...kernel('own', 'exact'), capabilities }]
    const lines = linesOf({ ...detection, devices: [{ ...device!, kernels }] }, {})
    const first = lines.indexOf('    exact        mxfp4')
    expect(lines.slice(first, first + 4)).toEqual([
      '    exact        mxfp4',
      '                 by tables',
      '    exact        mxfp8, 3 other pairs',
      '                 in float32'
    ])
  })
})
