/**
 * What earlier jobs found out about this machine, in one file of the cache folder: the roofs of its devices, and how long
 * the parts of jobs took on them. A file that is missing or damaged only means that it is found out again.
 */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'
import type { Device } from '@shared/contract/devices'
import { roofSchema, type Roof } from '@shared/contract/roofs'
import { makeFolder, writeFileAtomic } from '../ground/files'
import { turns } from '../ground/turns'

const changesInTurn = turns()

const rateSchema = v.object({
  /** Logarithm of seconds per unit of work, and its spread. */
  mean: v.number(),
  spread: v.number(),
  count: v.number()
})
export type Rate = v.InferOutput<typeof rateSchema>

const deviceMemorySchema = v.object({
  roofs: v.optional(v.array(roofSchema), []),
  rates: v.optional(v.record(v.string(), rateSchema), {})
})
export type DeviceMemory = v.InferOutput<typeof deviceMemorySchema>

const fileSchema = v.object({
  version: v.literal(1),
  devices: v.record(v.string(), deviceMemorySchema)
})

/** A GPU is known by its UUID, a CPU by its name, instruction sets and cores. */
const keyOf = ({ name, architecture, properties }: Device): string =>
  [name, architecture, properties['uuid'] ?? `${properties['cores']} cores`].join(', ')

export class MachineMemory {
  constructor(private readonly path: string) {}

  async of(device: Device): Promise<DeviceMemory> {
    return (await this.read()).devices[keyOf(device)] ?? { roofs: [], rates: {} }
  }

  async keepRoofs(device: Device, roofs: Roof[]): Promise<void> {
    await this.change(device, (before) => ({ ...before, roofs }))
  }

  async keepRates(device: Device, rates: Record<string, Rate>): Promise<void> {
    await this.change(device, (before) => ({ ...before, rates: { ...before.rates, ...rates } }))
  }

  private async read(): Promise<v.InferOutput<typeof fileSchema>> {
    try {
      const parsed = v.safeParse(fileSchema, JSON.parse(await readFile(this.path, 'utf8')))
      if (parsed.success) return parsed.output
    } catch {
      // Nothing is known yet.
    }
    return { version: 1, devices: {} }
  }

  /** A folder that cannot be written costs the next job its estimate, not this one its result. */
  private async change(device: Device, to: (before: DeviceMemory) => DeviceMemory): Promise<void> {
    await changesInTurn(this.path, async () => {
      const all = await this.read()
      const key = keyOf(device)
      all.devices[key] = to(all.devices[key] ?? { roofs: [], rates: {} })
      try {
        await makeFolder(dirname(this.path))
        await writeFileAtomic(this.path, JSON.stringify(all))
      } catch {
        // See above.
      }
    })
  }
}
