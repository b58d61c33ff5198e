import { describe, expect, it } from 'vitest'
import { peakBandwidth, peakOfInstruction } from '@shared/measurement/peaks'

const device = (arch: string, multiprocessors: number, clockMHz: number) => ({
  ...{ type: arch.startsWith('gfx') ? 'HIP' : 'CUDA', id: '0', arch, multiprocessors },
  ...{ clockRateKHz: clockMHz * 1000, memoryClockRateKHz: 2_000_000, busWidthBits: 8192 }
})
const petaflops = (of: ReturnType<typeof device>, instruction: string) => {
  const peak = peakOfInstruction(of, instruction)
  return 'value' in peak ? Number((peak.value / 1e15).toFixed(2)) : peak.reason
}

describe('peaks of data sheets', () => {
  // AMD Instinct MI355X data sheet: 10.1 PFLOP/s MXFP4 and MXFP6, 5.0 fp8, 2.5 bf16, 8 TB/s.
  it('an MI355X multiplies 6 bits as fast as 4', () => {
    const mi355x = device('gfx950', 256, 2400)
    expect(petaflops(mi355x, 'fp4')).toBe(10.07)
    expect(petaflops(mi355x, 'fp6')).toBe(10.07)
    expect(petaflops(mi355x, 'fp8')).toBe(5.03)
    expect(petaflops(mi355x, 'bf16')).toBe(2.52)
    expect(peakBandwidth(mi355x)).toMatchObject({ value: 8e12 })
  })

  it.each([
    // NVIDIA RTX Blackwell, RTX PRO Blackwell whitepapers; Jetson AGX Thor data sheet; AMD Instinct MI350X data sheet. Dense.
    // mmapeak on an RTX 5090: mxfp6 369.7 TFLOP/s, mxfp8 737.1.
    ['RTX 5090', device('120', 170, 2407), { fp4: 1.68, fp8: 0.84, fp6: 0.42 }],
    ['RTX PRO 6000', device('120', 188, 2617), { fp4: 2.02, fp8: 1.01, bf16: 0.5 }],
    ['Jetson AGX Thor', device('110', 20, 1575), { fp4: 1.03 }],
    ['MI350X', device('gfx950', 256, 2200), { fp4: 9.23, fp6: 9.23, fp8: 4.61, bf16: 2.31 }]
  ])('those of a %s follow from its units and clock', (_name, gpu, expected) => {
    for (const [instruction, rate] of Object.entries(expected))
      expect(petaflops(gpu, instruction)).toBe(rate)
  })

  it('a GB300 has three times fp8 in fp4, a B200 twice, as their data sheets', () => {
    const times = (gpu: ReturnType<typeof device>) => {
      const [fp4, fp8] = [peakOfInstruction(gpu, 'fp4'), peakOfInstruction(gpu, 'fp8')]
      return 'value' in fp4 && 'value' in fp8 ? fp4.value / fp8.value : 0
    }
    expect([times(device('103', 160, 1900)), times(device('100', 148, 1965))]).toEqual([3, 2])
  })

  it('fp6 runs at the rate of fp8 on data-centre GPUs of NVIDIA that have it', () => {
    const b200 = device('100', 148, 1965)
    expect(petaflops(b200, 'fp6')).toBe(petaflops(b200, 'fp8'))
    expect(petaflops(device('80', 108, 1410), 'fp6')).toMatch(/has no fp6 unit/)
  })
})
