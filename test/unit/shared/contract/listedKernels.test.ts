import { expect, it } from 'vitest'
import { listedKernels, type CapabilityLevel } from '@shared/contract/devices'

const kernel = (id: string, ...levels: CapabilityLevel[]) => ({
  id,
  capabilities: levels.map((level) => ({ format: 'nvfp4', level, reason: '', instruction: '' }))
})

it('lists what computes something first, as it stood, and emulations where asked for', () => {
  const kernels = [
    kernel('of-others', 'unavailable', 'unavailable'),
    kernel('one-format', 'unavailable', 'exact'),
    kernel('emulated', 'emulated', 'unavailable'),
    kernel('no-format'),
    kernel('native', 'native', 'approximate')
  ]
  const ids = (withEmulations: boolean) =>
    listedKernels(kernels, withEmulations).map(({ id }) => id)
  expect(ids(false)).toEqual(['one-format', 'native', 'of-others', 'no-format'])
  expect(ids(true)).toEqual(['one-format', 'emulated', 'native', 'of-others', 'no-format'])
})
