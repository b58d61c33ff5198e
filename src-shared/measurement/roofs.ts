/**
 * What a kernel's rate is compared with: the peak of the instruction that multiplies, on this device at the clock that was
 * measured, and the rate of the memory its operands come from. Data sheets where they are known, else what was measured on
 * the device (Run.roofs); never a kernel's own best point.
 */
import type { Device } from '../contract/devices'
import type { Roof } from '../contract/roofs'
import type { Run, Step } from '../contract/run'
import { instructionWords } from './instructions'
import { peakBandwidth, peakOfInstruction, type Peak, type PeakDevice } from './peaks'

/** The roofs of a run's device: what is on its data sheet, then what was measured. */
export interface DeviceRoofs {
  device: Device | undefined
  measured: readonly Roof[]
}

export const roofsOfRun = (run: Pick<Run, 'device' | 'roofs'> | undefined): DeviceRoofs => ({
  device: run?.device,
  measured: run?.roofs ?? []
})

/** What a point can reach at most. */
export interface Limit {
  /** FLOP/s */
  rate: number
  by: 'compute' | 'memory'
  /** 'dense fp8 at 1299 MHz; data sheet: NVIDIA ...' */
  source: string
}

type Placed = Pick<Step, 'instruction' | 'work' | 'measurement'>

/** Peak of the step's instruction; undefined where neither data sheet nor measurement has it. */
export function computeRoof(step: Placed, { device, measured }: DeviceRoofs): Roof | undefined {
  if (step.instruction === '') return undefined
  const found = measured.find(({ kind, of }) => kind === 'compute' && of === step.instruction)
  return ratedPeak(device, step.instruction, step.measurement?.meanMHz ?? 0) ?? found
}

/** What the data sheet of a GPU gives an instruction at `clockMHz`, or at the device's highest where that is 0. */
export function ratedPeak(
  device: Device | undefined,
  instruction: string,
  clockMHz = 0
): Roof | undefined {
  if (!device || device.kind === 'cpu') return undefined
  const sheet = peakOfInstruction(peakDevice(device, clockMHz), instruction)
  if (!('value' in sheet)) return undefined
  const clock = clockMHz || numberOf(device, 'clockMHz')
  return {
    kind: 'compute',
    of: instruction,
    rate: sheet.value,
    basis: 'data sheet',
    source: `dense ${instructionWords(instruction)} at ${Math.round(clock)} MHz; data sheet: ${sheet.source}`
  }
}

/** What reading that level of memory ('dram', 'l2') was measured at; undefined where it was not. */
export const measuredMemory = (measured: readonly Roof[], level: string): Roof | undefined =>
  measured.find(({ kind, of }) => kind === 'memory' && of === level)

/** Rate of the memory that a step's operands come from: of a hot CPU measurement the cache that holds them. */
export function memoryRoof(step: Placed, { device, measured }: DeviceRoofs): Roof | undefined {
  const found = measuredMemory(measured, levelOf(step, device))
  const sheet = device && ratedBandwidth(device)
  if (!sheet) return found
  const also = found ? `; ${Math.round(found.rate / 1e9)} GB/s measured here` : ''
  return {
    kind: 'memory',
    of: 'dram',
    rate: sheet.value,
    basis: 'data sheet',
    source: `data sheet: ${sheet.source}${also}`
  }
}

/** What the data sheet of a GPU gives its memory; undefined of a CPU, and where it is not known. */
export function ratedBandwidth(device: Device): Peak | undefined {
  const sheet = device.kind === 'cpu' ? undefined : peakBandwidth(peakDevice(device, 0))
  return sheet && 'value' in sheet ? sheet : undefined
}

const cacheLevels = ['l1', 'l2', 'l3'] as const

function levelOf({ work, measurement }: Placed, device: Device | undefined): string {
  if (device?.kind !== 'cpu' || measurement?.cacheMode !== 'hot') return 'dram'
  const cores = numberOf(device, 'cores') || 1
  const bytes = work?.bytes ?? measurement.bytes
  const held = cacheLevels.find((level) => {
    const size = numberOf(device, `${level}Bytes`)
    return bytes <= (level === 'l3' ? size : size * cores)
  })
  return held ?? 'dram'
}

/** FLOP per byte of the least traffic: operands, scales and C, each once. */
export const intensityOf = ({ flops, bytes }: { flops: number; bytes: number }): number =>
  flops / bytes

/** The roofline model (Williams, Waterman, Patterson 2009): min(compute, memory x intensity). */
export function limitAt(
  intensity: number,
  compute: Roof | undefined,
  memory: Roof | undefined
): Limit | undefined {
  const byMemory = memory && memory.rate * intensity
  if (memory && byMemory !== undefined && !(compute && compute.rate <= byMemory)) {
    return { rate: byMemory, by: 'memory', source: memory.source }
  }
  return compute && { rate: compute.rate, by: 'compute', source: compute.source }
}

/** A share of a limit, or why there is none. */
export type Share = { share: number; limit: Limit } | { reason: string; limit?: Limit }

/** More than a data sheet's limit is not shown: then the limit, or the time, is wrong. */
export function shareOf(step: Placed, compute: Roof | undefined, memory: Roof | undefined): Share {
  const { measurement } = step
  if (!measurement) return { reason: 'it was not measured' }
  const limit = limitAt(intensityOf(step.work ?? measurement), compute, memory)
  if (!limit) {
    const known =
      step.instruction === '' ? 'its kernel does not say which instruction multiplies' : ''
    return { reason: known || 'no limit of this device is known' }
  }
  const share = (measurement.tflops * 1e12) / limit.rate
  if (share <= 1) return { share, limit }
  return {
    limit,
    reason: `${(share * 100).toFixed(0)} % of the limit: the limit is too low, or the time wrong (${limit.source})`
  }
}

/** A property that is a number; 0 where there is none. */
export const numberOf = (device: Device, key: string): number => {
  const value = device.properties[key]
  return typeof value === 'number' ? value : 0
}

/** At `clockMHz`, or at the device's highest where that is 0. */
function peakDevice(device: Device, clockMHz: number): PeakDevice {
  return {
    type: device.kind.toUpperCase(),
    id: '0',
    arch: device.architecture.replace(/^sm_(\d+)[af]?$/, '$1'),
    busWidthBits: numberOf(device, 'memoryBusBits'),
    clockRateKHz: (clockMHz || numberOf(device, 'clockMHz')) * 1000,
    memoryClockRateKHz: numberOf(device, 'memoryClockMHz') * 1000,
    multiprocessors: numberOf(device, 'smCount')
  }
}
