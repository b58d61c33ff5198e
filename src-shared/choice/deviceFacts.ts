/** What the cost model takes from a device: how many work beside one another, and two rates. */
import type { Device } from '../contract/devices'
import type { Roof } from '../contract/roofs'
import { parseInstruction } from '../measurement/instructions'
import { measuredMemory, numberOf, ratedBandwidth, ratedPeak } from '../measurement/roofs'
import { cpuPeakOf } from './cpuCosts'

/** A rate of the device, or why none is known. */
export type Rate = { rate: number; source: string } | { reason: string }

export interface DeviceFacts {
  /** Multiprocessors, compute units or cores. */
  processors: number
  /** GB/s of a CUDA device by its memory's clock and bus; 0: not known. */
  memoryGbs: number
  /** FLOP/s of the whole device for a class of instruction. */
  peakOf(instruction: string): Rate
  /** Byte/s of a plain read of memory. */
  read: Rate
}

/** What expressions of a manifest may ask of a device. */
export type DeviceSize = Pick<DeviceFacts, 'processors' | 'memoryGbs'>

/** What a plain read reaches of the data sheet's rate: 4.56 of 4.81 TB/s on an H200 (docs/results/h200-decode-list). */
const shareOfSheet = 0.95

/** `measured`: roofs of the device where it was measured; else those of its data sheet are taken. */
export function factsOf(device: Device, measured: readonly Roof[]): DeviceFacts {
  const isCpu = device.kind === 'cpu'
  return {
    processors: numberOf(device, isCpu ? 'cores' : 'smCount') || 1,
    memoryGbs: memoryGbs(device),
    peakOf: (instruction) => (isCpu ? cpuPeak(device, instruction) : gpuPeak(device, instruction)),
    read: readRate(device, measured)
  }
}

/** As native/cuda/context.h has it, of a CUDA device: both evaluate a row's values. */
const memoryGbs = (device: Device): number =>
  device.kind === 'cuda' ? Math.floor((ratedBandwidth(device)?.value ?? 0) / 1e9) : 0

function readRate(device: Device, measured: readonly Roof[]): Rate {
  const found = measuredMemory(measured, 'dram')
  if (found) return { rate: found.rate, source: 'measured on this device' }
  if (device.kind === 'cpu') return { rate: 20e9, source: 'assumed: not measured here yet' }
  const sheet = ratedBandwidth(device)
  if (!sheet) return { reason: `no rate of memory is known of ${device.name}` }
  return {
    rate: sheet.value * shareOfSheet,
    source: `${shareOfSheet * 100} % of the data sheet: ${sheet.source}`
  }
}

function gpuPeak(device: Device, instruction: string): Rate {
  if (instruction === '') return { reason: 'which instruction multiplies is not known' }
  const roof = ratedPeak(device, instruction)
  return roof ?? { reason: `no ${instruction} peak is known of ${device.name}` }
}

function cpuPeak(device: Device, instruction: string): Rate {
  const perCore = cpuPeakOf(instruction)
  if (perCore === undefined) {
    const { set } = parseInstruction(instruction)
    return { reason: `no rate of ${set || 'its instruction'} is known` }
  }
  const cores = numberOf(device, 'cores') || 1
  return { rate: perCore * cores, source: 'docs/cpu-kernels.md' }
}
