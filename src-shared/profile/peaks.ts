/**
 * Peak rates of a device, from its own clock and unit counts. Rows marked proton are proton-viewer's formulas; the
 * others are from the sources named, dense rates without sparsity.
 */
import type { ProfileDevice } from './profileTree'

export interface Peak {
  /** FLOP/s or byte/s */
  value: number
  source: string
}

export type PeakOrReason = Peak | { reason: string }

type Width = 4 | 8 | 16 | 32 | 64

interface PeakRow {
  arch: string
  /** True: the formula of proton-viewer 3.8.0. */
  proton: boolean
  /** FLOP/s at 8-bit operands; other widths from 8 up scale as 8 / W. */
  at8: (device: ProfileDevice) => number
  /** FLOP/s at 4-bit operands; absent: the architecture has no fp4 unit. */
  at4?: (device: ProfileDevice) => number
  source: string
}

const perClock = (rate: number) => (device: ProfileDevice) =>
  device.multiprocessors * rate * device.clockRateKHz * 1000

const hopper = (device: ProfileDevice) =>
  (device.multiprocessors / 114) * (device.clockRateKHz / 1_755_000) * 1513e12

export const peakTable: readonly PeakRow[] = [
  { arch: '80', proton: true, at8: () => 624e12, source: 'proton-viewer: A100, dense int8 rate' },
  {
    arch: '86',
    proton: false,
    at8: perClock(2048),
    source:
      'NVIDIA GA102 whitepaper: 512 fp16 FMA per SM and clock (fp16 accumulate), int8 twice that'
  },
  {
    arch: '89',
    proton: true,
    at8: () => 330.3e12,
    source: 'proton-viewer: RTX 4090, fp8 with fp32 accumulate'
  },
  { arch: '90', proton: true, at8: hopper, source: 'proton-viewer: scaled from the H100 PCIe' },
  {
    arch: '100',
    proton: true,
    at8: perClock(16384),
    at4: perClock(32768),
    source: 'proton-viewer; fp4 twice fp8 (NVIDIA B200 datasheet, dense)'
  },
  {
    arch: '103',
    proton: false,
    at8: perClock(16384),
    at4: perClock(49152),
    source: 'NVIDIA Blackwell Ultra: 15 PFLOP/s dense NVFP4, 5 PFLOP/s dense fp8 on 160 SMs'
  },
  {
    arch: '120',
    proton: false,
    at8: perClock(1024),
    at4: perClock(4096),
    source:
      'NVIDIA RTX Blackwell whitepaper, RTX 5090: 1676 TFLOP/s fp4, 419 fp8 with fp32 accumulate'
  },
  {
    arch: 'gfx90a',
    proton: true,
    at8: perClock(1024),
    source: 'proton-viewer: int8 rate per CU'
  },
  { arch: 'gfx942', proton: true, at8: perClock(4096), source: 'proton-viewer: fp8 per CU' },
  {
    arch: 'gfx950',
    proton: true,
    at8: perClock(8192),
    at4: perClock(16384),
    source: 'proton-viewer; fp4 from the AMD CDNA 4 whitepaper (MXFP4 dense, twice fp8)'
  }
]

/** Peak of matrix units at an operand width in bits. */
export function peakFlops(device: ProfileDevice, width: Width): PeakOrReason {
  const row = peakTable.find((candidate) => candidate.arch === device.arch)
  if (!row) return { reason: `no peak rates are known for architecture '${device.arch}'` }
  if (width === 4) {
    if (!row.at4) return { reason: `${deviceName(device)} has no fp4 unit` }
    return positive(row.at4(device), device, row.source)
  }
  return positive((row.at8(device) * 8) / width, device, row.source)
}

const hipBandwidth: ReadonlyMap<string, number> = new Map([
  ['gfx90a', 3.2e12],
  ['gfx942', 5.3e12],
  ['gfx950', 8.0e12]
])

/** Peak of device memory. */
export function peakBandwidth(device: ProfileDevice): PeakOrReason {
  const constant = hipBandwidth.get(device.arch)
  if (constant) return { value: constant, source: 'proton-viewer: constant per architecture' }
  const value = (2 * device.busWidthBits * device.memoryClockRateKHz * 1000) / 8
  return positive(value, device, 'twice the memory clock times the bus width')
}

function positive(value: number, device: ProfileDevice, source: string): PeakOrReason {
  if (value > 0) return { value, source }
  return { reason: `the profile has no clock or unit count for device ${device.type} ${device.id}` }
}

function deviceName(device: ProfileDevice): string {
  return device.arch.startsWith('gfx') ? device.arch : `sm_${device.arch}`
}
