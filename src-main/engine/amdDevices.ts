import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Device } from '@shared/contract/devices'

const amd = 0x1002
/** PCI base classes: display controllers, and processing accelerators, which Instinct cards are. */
const gpuClasses = [0x03, 0x12]

export const noHipBackend =
  'blockscope has no backend for AMD GPUs yet: none of its kernels runs there.'

/** AMD GPUs that Linux sees on the PCI bus, without kernels and with the reason; none where there is no such bus. */
export function amdDevices(busFolder = '/sys/bus/pci/devices'): Device[] {
  return amdAddresses(busFolder).map((address, index) => {
    const fact = (name: string) => read(join(busFolder, address, name))
    const id = fact('device').replace(/^0x/, '')
    return {
      id: `hip:${index}`,
      kind: 'hip',
      name: fact('product_name') || `AMD GPU (PCI ${amd.toString(16)}:${id})`,
      architecture: '',
      properties: { pciAddress: address, problem: noHipBackend },
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
