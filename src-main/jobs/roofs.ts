import type { Device } from '@shared/contract/devices'
import type { Roof } from '@shared/contract/roofs'
import { EngineError, type Engine } from '../engine/engine'
import type { MachineMemory } from '../store/machineMemory'

/** Limits of the device, measured on it once per machine; empty where that fails, which is no reason to measure nothing. */
export async function roofsOfDevice(
  engine: Engine,
  memory: MachineMemory,
  device: Device,
  signal: AbortSignal
): Promise<Roof[]> {
  const { roofs } = await memory.of(device)
  if (roofs.length > 0) return roofs
  try {
    const measured = await engine.call('roofs', { device: device.id }, { signal })
    await memory.keepRoofs(device, measured)
    return measured
  } catch (error) {
    if (error instanceof EngineError) return []
    throw error
  }
}
