/** The limits of a device that a measured rate is compared with: where each number is from, and which one binds. */
import type { Device } from '@shared/contract/devices'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { peakBandwidth, peakFlops } from '@shared/profile/peaks'
import type { ProfileDevice } from '@shared/profile/profileTree'
import type { SweepLine } from './sweepSeries'

export interface Roof {
  /** TFLOP/s or GB/s */
  value: number
  /** Where the number is from. */
  source: string
}

export interface Roofs {
  compute: Roof | undefined
  memory: Roof | undefined
}

/** What a point can reach at its arithmetic intensity. */
export interface Limit {
  /** TFLOP/s */
  value: number
  by: 'compute' | 'memory'
  source: string
}

/**
 * From the data sheets (src-shared/profile/peaks) where the architecture is known there. Else the best rate that was
 * measured stands for the compute limit, of a baseline if one was timed.
 */
export function knownRoofs(device: Device | undefined, lines: readonly SweepLine[]): Roofs {
  const known = device && device.kind !== 'cpu' ? profileDevice(device) : undefined
  return {
    compute: (known && dataSheetRate(known, lines)) ?? bestMeasured(lines),
    memory: known && dataSheetBandwidth(known)
  }
}

function profileDevice({ kind, architecture, properties }: Device): ProfileDevice {
  const number = (key: string) => {
    const value = properties[key]
    return typeof value === 'number' ? value : 0
  }
  return {
    type: kind.toUpperCase(),
    id: '0',
    arch: kind === 'cuda' ? (/\d+/.exec(architecture)?.[0] ?? '') : architecture,
    busWidthBits: number('memoryBusBits'),
    clockRateKHz: number('clockMHz') * 1000,
    memoryClockRateKHz: number('memoryClockMHz') * 1000,
    multiprocessors: number('smCount')
  }
}

/** The fp4 rate when every line multiplies fp4 by fp4 and there is a unit for it; else the fp8 rate. */
function dataSheetRate(device: ProfileDevice, lines: readonly SweepLine[]): Roof | undefined {
  const narrow = lines.length > 0 && lines.every(({ format }) => isFp4(format))
  const fp4 = narrow ? peakFlops(device, 4) : undefined
  const found = fp4 && 'value' in fp4 ? { fp4: true, peak: fp4 } : undefined
  const peak = found?.peak ?? peakFlops(device, 8)
  if (!('value' in peak)) return undefined
  const what = found ? 'fp4' : 'fp8'
  return { value: peak.value / 1e12, source: `data sheet, dense ${what}: ${peak.source}` }
}

const isFp4 = (format: string) => findBlockFormat(format).flopsMetric === 'flops4'

function dataSheetBandwidth(device: ProfileDevice): Roof | undefined {
  const peak = peakBandwidth(device)
  return 'value' in peak
    ? { value: peak.value / 1e9, source: `data sheet: ${peak.source}` }
    : undefined
}

function bestMeasured(lines: readonly SweepLine[]): Roof | undefined {
  const baselines = lines.filter(({ baseline }) => baseline)
  const among = baselines.length > 0 ? baselines : lines
  let best: Roof | undefined
  for (const line of among) {
    for (const { k, step } of line.points) {
      const value = step.measurement!.tflops
      if (Number.isFinite(value) && value > (best?.value ?? 0)) {
        const where = line.overlay ? ' in an overlaid run' : ''
        best = { value, source: `measured: ${line.kernel} ${line.format}, K = ${k}${where}` }
      }
    }
  }
  return best
}

/** FLOP per byte of the least traffic: operands, scales and C, each once. */
export const intensityOf = (measured: { flops: number; bytes: number }): number =>
  measured.flops / measured.bytes

/** The roofline model (Williams, Waterman, Patterson 2009): min(compute, memory x intensity). */
export function limitAt(intensity: number, { compute, memory }: Roofs): Limit | undefined {
  const byMemory = memory && (memory.value * intensity) / 1e3
  if (memory && byMemory !== undefined && !(compute && compute.value <= byMemory)) {
    return { value: byMemory, by: 'memory', source: memory.source }
  }
  return compute && { value: compute.value, by: 'compute', source: compute.source }
}
