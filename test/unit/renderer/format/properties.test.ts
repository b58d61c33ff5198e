/** Facts of a device in the words of who makes it. */
import { describe, expect, it } from 'vitest'
import { blockFormats } from '@shared/formats/blockFormat'
import { property } from '../../../../src-renderer/format/properties'
import { formatsOf } from '../../../../src-renderer/stores/devices'
import { detection } from '../support/samples'

describe('facts of a device', () => {
  it.each([
    ['cuda', 'smCount', 170, 'SM count', '170', ''],
    ['hip', 'smCount', 256, 'Compute units', '256', ''],
    ['cuda', 'sharedBytesPerBlock', 101_376, 'Shared memory per block', '99.0', 'KiB'],
    ['hip', 'sharedBytesPerBlock', 163_840, 'LDS per workgroup', '160', 'KiB'],
    ['hip', 'l2Bytes', 4 << 20, 'L2', '4.00', 'MiB']
  ])('%s %s %d: %s %s %s', (kind, key, value, label, text, unit) => {
    expect(property(key, value, kind)).toEqual({ key, label, text, unit })
  })

  it('formats stand in one order, whatever order its kernels name them in', () => {
    const [device] = detection.devices
    const turned = {
      ...device!,
      kernels: device!.kernels.map((kernel) => ({
        ...kernel,
        capabilities: kernel.capabilities.toReversed()
      }))
    }
    const order = blockFormats.map(({ id }) => id)
    const shown = formatsOf([turned])
    expect(shown.length).toBeGreaterThan(1)
    expect(shown).toEqual(order.filter((id) => shown.includes(id)))
  })
})
