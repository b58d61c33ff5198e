/** Kernels of the manifest as a device offers them. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kernel } from '@shared/contract/devices'
import { expandVariants, parseKernelRow } from '@shared/contract/kernelRow'

/** Rows of today's manifest as a device with this architecture would offer them. */
export function kernelsOf(architecture: string): Kernel[] {
  const { kernels: rows } = JSON.parse(
    readFileSync(resolve('resources/kernels/cuda/manifest.json'), 'utf8')
  ) as {
    kernels: unknown[]
  }
  return rows.flatMap(expandVariants).flatMap((given): Kernel[] => {
    const row = parseKernelRow(given)
    if (typeof row === 'string') throw new Error(row)
    const fits = row.architectures.some((one) => one === `${architecture}a` || one.endsWith('+'))
    if (row.role === 'support' || !fits) return []
    const { id, provider, summary, scaleLayout, outputs, features } = row
    const { constants, values, requires, cost } = row
    return [
      {
        ...{ id, provider, summary, scaleLayout, outputs, features, capabilities: row.formats },
        ...{ baseline: false, operandBits: 0, sourceHash: '', compileOptions: '' },
        model: { constants, values, requires, ...(cost && { cost }) }
      }
    ]
  })
}
