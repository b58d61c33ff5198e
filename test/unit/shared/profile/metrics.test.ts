import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { peakBandwidth, peakFlops, peakTable } from '@shared/measurement/peaks'
import type { ProfileDevice } from '@shared/profile/tree/profileTree'
import { threeDecimals, fourFigures } from '@shared/profile/write/protonView'
import { readHatchet } from '@shared/profile/read/readHatchet'

const open = (name: string) => readHatchet(readFileSync(`test/fixtures/${name}`), name)

const device = (
  arch: string,
  multiprocessors: number,
  mhz: number,
  bus = 0,
  memoryMHz = 0
): ProfileDevice => ({
  type: arch.startsWith('gfx') ? 'HIP' : 'CUDA',
  id: '0',
  arch,
  busWidthBits: bus,
  clockRateKHz: mhz * 1000,
  memoryClockRateKHz: memoryMHz * 1000,
  multiprocessors
})

const teraflops = (of: ProfileDevice, width: 4 | 8 | 16, proton = false) => {
  const peak = peakFlops(of, width, proton)
  return 'value' in peak ? Math.round(peak.value / 1e11) / 10 : peak.reason
}

describe('peaks', () => {
  const h200 = device('90', 132, 1980, 6016, 3201)
  const b200 = device('100', 148, 1965)

  it('are those of proton-viewer under --proton', () => {
    expect(teraflops(h200, 8, true)).toBe(1976.5)
    expect(teraflops(h200, 16, true)).toBe(988.2)
    expect(teraflops(b200, 8, true)).toBe(4764.8)
    expect(teraflops(device('gfx90a', 104, 1700), 8, true)).toBe(181)
    expect(teraflops(device('gfx942', 304, 2100), 8, true)).toBe(2614.9)
    expect(teraflops(device('gfx950', 256, 2200), 8, true)).toBe(4613.7)
    expect(peakBandwidth(h200)).toMatchObject({ value: 4.814304e12 })
  })

  it('are those of the instruction, by the rate per multiprocessor and clock', () => {
    // 8192 FLOP x 132 x 1980 MHz; proton-viewer scales from the H100 PCIe and comes to less.
    expect(teraflops(h200, 8)).toBe(2141.1)
    expect(teraflops(h200, 16)).toBe(1070.5)
    expect(teraflops(device('110', 20, 1575), 4)).toBeCloseTo(1032.2, 0)
    expect(teraflops(device('121', 48, 2500), 4)).toBeCloseTo(491.5, 0)
    expect(teraflops(device('103', 160, 1920), 8)).toBeCloseTo(5033.2, 0)
  })

  it('reach architectures and widths that the viewer does not know, near their data sheets', () => {
    expect(teraflops(b200, 4)).toBeCloseTo(9529.6, 0)
    expect(teraflops(device('103', 160, 1920), 4)).toBeCloseTo(15_099, -1)
    expect(teraflops(device('120', 170, 2407), 4)).toBeCloseTo(1676, 0)
    expect(teraflops(device('86', 82, 1695), 16)).toBeCloseTo(142.3, 0)
    expect(teraflops(device('gfx950', 256, 2400), 4)).toBeCloseTo(10_066, -1)
  })

  it('say why there is none, and each where it comes from', () => {
    expect(teraflops(h200, 4)).toBe('sm_90 has no fp4 unit')
    expect(teraflops(device('75', 1, 1), 8)).toBe("no peak rates are known for architecture '75'")
    expect(teraflops(device('100', 0, 0), 8)).toMatch('no clock or unit count')
    for (const row of peakTable) expect(row.source.length).toBeGreaterThan(10)
  })
})

describe('deriveMetric', () => {
  it('gives the values of the upstream test of three GPUs', () => {
    const cuda = open('proton/upstream/cuda.json')
    const values = (name: string) => [...deriveMetric(cuda, name).values]
    expect(values('avg_time/us')).toEqual([51.2, 20.48, 204.8, 204.8])
    expect(values('time/us')[0]).toBe(614.4)
    const util = (proton: boolean) =>
      [...deriveMetric(cuda, 'util', { proton, metadata: false }).values]
        .slice(1)
        .map((value) => value.toFixed(6))
    expect(util(true)).toEqual(['0.247044', '0.147830', '0.118451'])
    // By the rates of the instruction: an H100 does 8192 FLOP per multiprocessor and clock, an RTX 4090 is GeForce.
    expect(util(false)).toEqual(['0.228056', '0.070958', '0.118451'])
    expect(values('gbyte/s').map((value) => value.toFixed(6))).toEqual([
      '195.312500',
      '488.281250',
      '48.828125',
      '48.828125'
    ])
    expect(values('tflop8/s').map((value) => value.toFixed(6))).toEqual([
      '341.796875',
      '488.281250',
      '48.828125',
      '488.281250'
    ])
  })

  it('gives shares of parent and total', () => {
    const tree = open('proton/synthetic/modern_a.hatchet')
    expect(deriveMetric(tree, 'time/%').values[2]).toBeCloseTo(41.667, 3)
    expect(deriveMetric(tree, 'time/parent%').values[2]).toBeCloseTo(83.333, 3)
  })

  it('gives tflop4/s and its utilisation on a B200', () => {
    const tree = open('proton/synthetic/flops4_b200.hatchet')
    expect(deriveMetric(tree, 'tflop4/s').values[0]).toBeCloseTo(4997.78, 1)
    expect(deriveMetric(tree, 'util').values[0]).toBeCloseTo(4997.78 / 9529.6, 3)
  })

  it('has a reason for every missing value', () => {
    const h200 = open('h200/triton_mxfp8_h200.hatchet')
    for (const name of ['tflop/s', 'util', 'tflop16/s', 'time/ms']) {
      const metric = deriveMetric(h200, name)
      metric.values.forEach((value, node) => {
        if (Number.isNaN(value)) expect(metric.reason(node)).toMatch(/^[a-z].{10,}/)
      })
    }
    const cublas = [...h200.name].findIndex((id) => h200.strings.text(id) === 'cublas_bf16')
    expect(deriveMetric(h200, 'tflop/s').reason(cublas)).toBe(
      'no flops recorded under this scope, flops16 is'
    )
    expect(() => deriveMetric(h200, 'gbyte/s')).toThrow(
      "Metric 'gbyte/s': no bytes recorded in this profile."
    )
  })
})

describe('numbers as Python writes them', () => {
  it('%.3f rounds ties to even', () => {
    expect([195.3125, 0.0625, 2.5, -0.0625, 1e22, NaN].map(threeDecimals)).toEqual([
      '195.312',
      '0.062',
      '2.500',
      '-0.062',
      '10000000000000000000000.000',
      'nan'
    ])
  })

  it('.4 has four figures', () => {
    expect(
      [102.3155, 99.34291, 6.306402, 1.04, 0, 1000, 123456, 0.00001234, 999.96, 10].map(fourFigures)
    ).toEqual([
      '102.3',
      '99.34',
      '6.306',
      '1.04',
      '0.0',
      '1e+03',
      '1.235e+05',
      '1.234e-05',
      '1e+03',
      '10.0'
    ])
  })
})
