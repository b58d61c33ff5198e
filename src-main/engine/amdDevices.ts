import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Detection, Device } from '@shared/contract/devices'

const amd = 0x1002
/** PCI base classes: display controllers, and processing accelerators, which Instinct cards are. */
const gpuClasses = [0x03, 0x12]

/**
 * AMD GPUs that Linux sees on the PCI bus while HIP offers none, without kernels and with the reason; none where there is no
 * such bus.
 */
export function amdDevices(
  { devices, libraries }: Pick<Detection, 'devices' | 'libraries'>,
  busFolder = '/sys/bus/pci/devices'
): Device[] {
  if (devices.some(({ kind }) => kind === 'hip')) return []
  const runtime = libraries.find(({ name }) => name === 'HIP runtime')
  const problem = runtime ? `${runtime.reason} ${runtime.remedy}`.trim() : ''
  return amdAddresses(busFolder).map((address, index) => {
    const fact = (name: string) => read(join(busFolder, address, name))
    const id = fact('device').replace(/^0x/, '')
    return {
      id: `hip:${index}`,
      kind: 'hip',
      name: fact('product_name') || `AMD GPU (PCI ${amd.toString(16)}:${id})`,
      architecture: '',
      properties: { pciAddress: address, problem },
      kernels: []
    }
  })
}

function amdAddresses(busFolder: string): string[] {
  let addresses: string[]
  try {
    addresses = readdirSync(busFolder).sort()
  } catch {
    return []
  }
  return addresses.filter((address) => {
    const number = (name: string) => Number(read(join(busFolder, address, name)))
    return number('vendor') === amd && gpuClasses.includes(number('class') >>> 16)
  })
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
