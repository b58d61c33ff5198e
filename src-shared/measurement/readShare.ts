/**
 * With few rows of A reading B is what takes the time (docs/decode.md): bandwidth, and the share that it is of a
 * plain read of the device's memory, then say more than FLOP/s.
 */
import type { Device } from '../contract/devices'
import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import { pointOf } from './ratios'
import { quantity, text } from '../units'
import { measuredMemory, type DeviceRoofs } from './roofs'

/** As many as the kernels for few rows take, of A or of each group. */
const fewRows = 64

export const hasFewRows = ({ m, groups }: Pick<Step, 'm' | 'groups'>): boolean =>
  (groups ? Math.max(...groups.rows) : m) <= fewRows

/** Whether bandwidth is what to show first: all that a GPU was measured at has few rows. */
export function isLedByRead(
  steps: readonly Pick<Step, 'm' | 'groups' | 'measurement'>[],
  device: Pick<Device, 'kind'> | undefined
): boolean {
  const measured = steps.filter(({ measurement }) => measurement)
  return (
    device !== undefined &&
    device.kind !== 'cpu' &&
    measured.length > 0 &&
    measured.every(hasFewRows)
  )
}

const readOf = ({ device, measured }: DeviceRoofs): Roof | undefined =>
  device?.kind === 'cpu' ? undefined : measuredMemory(measured, 'dram')

/** What it is compared with: undefined of operands that lie in a cache. */
const readBeside = (
  { measurement }: Pick<Step, 'measurement'>,
  roofs: DeviceRoofs
): Roof | undefined => (measurement?.cacheMode.startsWith('cold') ? readOf(roofs) : undefined)

/**
 * A plain read of as many bytes as a kernel moves (operands, scales and C, each once), in the kernel's time; undefined where
 * memory was not read on this device, and of operands that lie in a cache.
 */
export function shareOfRead(
  step: Pick<Step, 'measurement'>,
  roofs: DeviceRoofs
): number | undefined {
  const read = readBeside(step, roofs)
  return read && readNs(step.measurement!.bytes, read) / step.measurement!.timeNs.median
}

/** What no kernel that moves these bytes is below; undefined where plain reads were not timed in the run, and of a cache. */
export function leastNs(step: Pick<Step, 'measurement'>, roofs: DeviceRoofs): number | undefined {
  const read = readBeside(step, roofs)
  return read?.reads && readNs(step.measurement!.bytes, read)
}

/** Nanoseconds, between those of the next fewer and more bytes; by the rate alone where reads were not timed, and beyond the most. */
export function readNs(bytes: number, { rate, reads = [] }: Roof): number {
  const more = reads.findIndex((read) => read.bytes >= bytes)
  if (more < 0) return (bytes / rate) * 1e9
  const [low, high] = [reads[Math.max(0, more - 1)]!, reads[more]!]
  const part = low === high ? 0 : (bytes - low.bytes) / (high.bytes - low.bytes)
  return low.ns + part * (high.ns - low.ns)
}

/** What shares of a read are of: a sentence. '' where there are none. */
export function readText(roofs: DeviceRoofs): string {
  const read = readOf(roofs)
  if (!read) return ''
  const { reads } = read
  if (!reads) {
    const rate = text(quantity('bandwidth', read.rate / 1e9))
    return `Of read: the bytes at ${rate}, the rate at which memory was read here; what a read takes to start is not in it.`
  }
  const told = reads
    .filter((_, at) => at % 4 === 0)
    .map(({ bytes, ns }) => `${text(quantity('bytes', bytes))} ${text(quantity('time', ns))}`)
  return `Of read: what a plain read of as many bytes takes here, timed as kernels are: ${told.join(', ')}.`
}

/** From this ratio on, bandwidths of two kernels do not tell which of them is faster. */
const otherBytes = 1.1

/**
 * Kernels that move more bytes than another does for the same product, such as a baseline on dequantised operands: at one bandwidth
 * they take that much longer. '' where none does.
 */
export function moreBytesText(steps: readonly Step[]): string {
  const measured = steps.filter(({ measurement }) => measurement)
  const fewest = new Map<string, number>()
  for (const step of measured) {
    const point = pointOf(step)
    fewest.set(point, Math.min(fewest.get(point) ?? Infinity, step.measurement!.bytes))
  }
  const ratios = new Map<string, number[]>()
  for (const step of measured) {
    const ratio = step.measurement!.bytes / fewest.get(pointOf(step))!
    if (ratio >= otherBytes) ratios.set(step.kernel, [...(ratios.get(step.kernel) ?? []), ratio])
  }
  const told = [...ratios].map(([kernel, found]) => {
    const [low, high] = [Math.min(...found), Math.max(...found)].map((ratio) => ratio.toFixed(1))
    return `${kernel} moves ${low === high ? low : `${low} to ${high}`} times the bytes`
  })
  return told.length > 0 ? `For the same products ${told.join(', ')}: compare times.` : ''
}
