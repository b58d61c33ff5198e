/**
 * With few rows of A reading B is what takes the time (docs/decode.md): bandwidth, and the share that it is of a
 * plain read of the device's memory, then say more than FLOP/s.
 */
import type { Device } from '../contract/devices'
import type { Step } from '../contract/run'
import { pointOf } from './ratios'
import type { DeviceRoofs } from './roofs'

/** As many as the kernels for few rows take, of A or of each group. */
const fewRows = 64

const hasFewRows = ({ m, groups }: Pick<Step, 'm' | 'groups'>): boolean =>
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

/** Of the rate at which memory was read on this device; undefined where that was not measured, and of operands that lie in a cache. */
export function shareOfRead(
  { measurement }: Pick<Step, 'measurement'>,
  { device, measured }: DeviceRoofs
): number | undefined {
  const read = measured.find(({ kind, of }) => kind === 'memory' && of === 'dram')
  if (!read || !measurement || device?.kind === 'cpu' || !measurement.cacheMode.startsWith('cold'))
    return undefined
  return (measurement.gbytesPerSecond * 1e9) / read.rate
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
