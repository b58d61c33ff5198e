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

  it('fp6 runs at the rate of fp8 on NVIDIA GPUs that have it', () => {
    const b200 = device('100', 148, 1965)
    expect(petaflops(b200, 'fp6')).toBe(petaflops(b200, 'fp8'))
    expect(petaflops(device('80', 108, 1410), 'fp6')).toMatch(/has no fp6 unit/)
  })
})
