import { count, digits, quantity, type Quantity } from '@shared/units'

export interface Property extends Quantity {
  key: string
  label: string
}

type Value = boolean | number | string

/** Endings of device property keys that carry the unit, longest first. */
const endings: [ending: string, show: (value: number) => Quantity][] = [
  ['BytesPerSecond', (value) => quantity('bandwidth', value / 1e9)],
  ['Bytes', (value) => quantity('bytes', value)],
  ['MHz', (value) => ({ text: count(value), unit: 'MHz' })],
  ['KHz', (value) => ({ text: count(value / 1000), unit: 'MHz' })],
  ['Bits', (value) => ({ text: count(value), unit: 'bit' })],
  ['Percent', (value) => ({ text: digits(value), unit: '%' })],
  ['Ns', (value) => quantity('time', value)],
  ['C', (value) => ({ text: digits(value), unit: '°C' })],
  ['W', (value) => ({ text: digits(value), unit: 'W' })]
]

/** Words of keys that are not ordinary words. */
const words: Record<string, string> = {
  sm: 'SM',
  l1: 'L1',
  l2: 'L2',
  l3: 'L3',
  ecc: 'ECC',
  mig: 'MIG',
  uuid: 'UUID',
  pci: 'PCI',
  cpu: 'CPU',
  gpu: 'GPU',
  avx: 'AVX',
  vnni: 'VNNI',
  nvml: 'NVML',
  cuda: 'CUDA',
  numa: 'NUMA',
  id: 'ID'
}

/** What AMD calls otherwise. */
const amdLabels: Record<string, string> = {
  smCount: 'Compute units',
  sharedBytesPerBlock: 'LDS per workgroup'
}

/**
 * A device property as label, number and unit: `l2Bytes: 52428800` is 'L2', '50.0', 'MiB'. `kind`: of the device, 'hip' for AMD
 * GPUs.
 */
export function property(key: string, value: Value, kind = ''): Property {
  const amdLabel = kind === 'hip' ? amdLabels[key] : undefined
  if (amdLabel !== undefined) return { ...property(key, value), label: amdLabel }
  if (key === 'sharedBytesPerBlock' && typeof value === 'number')
    return { key, label: 'Shared memory per block', ...quantity('bytes', value) }
  if (typeof value === 'boolean') {
    return { key, label: labelOf(key), text: value ? 'yes' : 'no', unit: '' }
  }
  if (typeof value === 'string') return { key, label: labelOf(key), text: value || '–', unit: '' }
  for (const [ending, show] of endings) {
    if (key.length > ending.length && key.endsWith(ending)) {
      return { key, label: labelOf(key.slice(0, -ending.length)), ...show(value) }
    }
  }
  const text = Number.isInteger(value) ? count(value) : digits(value)
  return { key, label: labelOf(key), text, unit: '' }
}

function labelOf(key: string): string {
  const parts = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .split(' ')
  const named = parts.map((part) => words[part.toLowerCase()] ?? part.toLowerCase())
  const first = named[0] ?? key
  return [first.charAt(0).toUpperCase() + first.slice(1), ...named.slice(1)].join(' ')
}
