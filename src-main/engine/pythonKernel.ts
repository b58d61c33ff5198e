import type { Device, Kernel } from '@shared/contract/devices'

/** Which kernel of which file, and what its host is told of the device. */
export interface PythonKernel {
  id: string
  file: string
  codes: 'packed' | 'bytes'
  scaleLayout: string
  /** Last-level cache and memory of a CPU; a GPU's are asked there. 0: not known. */
  cacheBytes: number
  memoryBytes: number
}

/** Undefined for a kernel that the addon runs. */
export function pythonKernelOf(
  { id, scaleLayout, python }: Kernel,
  device: Device
): PythonKernel | undefined {
  if (!python) return undefined
  const bytes = (...names: string[]) =>
    names.map((name) => Number(device.properties[name] ?? 0)).find((value) => value > 0) ?? 0
  return {
    ...{ id, scaleLayout, ...python },
    cacheBytes: bytes('l3Bytes', 'l2Bytes'),
    memoryBytes: bytes('memoryBytes')
  }
}
