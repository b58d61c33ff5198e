import type { Device } from '@shared/contract/devices'
import type { Step } from '@shared/contract/run'
import type { Roof } from '@shared/contract/roofs'
import { hasFewRows } from '@shared/measurement/readShare'
import { EngineError, type Engine } from '../engine/engine'
import type { MachineMemory } from '../store/machineMemory'

/**
 * Whether a sweep measures the limits of its device first: once per machine, but in every run on a GPU that has products with
 * few rows, whose figures are shares of a plain read.
 */
export const measuresRoofs = (
  isCpu: boolean,
  known: readonly Roof[],
  steps: readonly Pick<Step, 'm' | 'groups'>[]
): boolean => known.length === 0 || (!isCpu && steps.some(hasFewRows))

/**
 * Limits of the device. Where measuring them fails, which is no reason to measure nothing, those that are known of before, without
 * reads: these are of the run itself.
 */
export async function roofsOfDevice(
  engine: Engine,
  memory: MachineMemory,
  { device, steps }: { device: Device; steps: readonly Pick<Step, 'm' | 'groups'>[] },
  signal: AbortSignal
): Promise<Roof[]> {
  const { roofs } = await memory.of(device)
  if (!measuresRoofs(device.kind === 'cpu', roofs, steps)) return roofs
  try {
    const measured = await engine.call('roofs', { device: device.id }, { signal })
    await memory.keepRoofs(device, measured)
    return measured
  } catch (error) {
    if (error instanceof EngineError) return roofs.map(({ reads: _, ...roof }) => roof)
    throw error
  }
}
