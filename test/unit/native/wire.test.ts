/** What the addon gives is what src-shared/contract describes: the same fields, no more, no fewer. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { deviceSchema, kernelSchema, librarySchema } from '@shared/contract/devices'
import { judgedSchema, launchSchema, measuredSchema } from '@shared/contract/run'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const flag = addon.createCancelFlag()

/** Typed arrays as lists, as JSON keeps them. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, plain(held)]))
}
const fields = (value: object) => Object.keys(value).sort()

async function session() {
  const operands = { distribution: 'normal', seed: 1 }
  const shape = { m: 64, n: 32, k: 64, output: 'f16' as const }
  return addon.open({ device: 'cpu', format: 'mxfp8', ...shape, operands }, flag)
}

describe('the wire of the addon', () => {
  it('devices, kernels and libraries have the fields of the contract', async () => {
    const { devices, libraries } = await addon.detect()
    const device = devices[0]!
    expect(fields(device)).toEqual(fields(deviceSchema.entries))
    const {
      sourceHash: _,
      python: _ofPython,
      model: _ofManifest,
      ...entries
    } = kernelSchema.entries
    expect(fields(device.kernels[0]!)).toEqual(fields({ ...entries, identity: 0 }))
    const { error: _ofRow, ...capability } = kernelSchema.entries.capabilities.item.entries
    expect(fields(device.kernels[0]!.capabilities[0]!)).toEqual(fields(capability))
    expect(fields(libraries[0]!)).toEqual(fields(librarySchema.entries))
  })

  it('a validation has them, failed elements too', async () => {
    const opened = await session()
    const request = { atol: 0, rtol: 0, rule: 'assert-close' as const, maxFailures: 4, mapTiles: 4 }
    const good = await opened.validate({ kernel: 'cpu-portable', ...request }, flag)
    // A product of zeros fails everywhere.
    const bad = await opened.judge(new Uint8Array(64 * 32 * 2), { kernel: '', ...request }, flag)
    await opened.close()
    for (const report of [good, bad]) {
      expect(fields(report)).toEqual(fields(judgedSchema.entries))
      v.parse(judgedSchema, plain(report))
    }
    expect(bad.failures).toHaveLength(4)
    const entries = judgedSchema.entries.failures.item.entries
    expect(fields(bad.failures[0]!)).toEqual(fields(entries))
  })

  it('a measurement has them beside its samples', async () => {
    const opened = await session()
    const request = {
      kernel: 'cpu-portable',
      cold: false,
      warmupLaunches: 0,
      warmupNs: 0,
      minSamples: 3,
      minTimeNs: 0,
      maxRelativeStdev: 1,
      maxSamples: 3,
      timeoutNs: 1e9,
      fixedSamples: 3,
      sustainedNs: 0,
      recordLaunches: true,
      companions: 0
    }
    const { samplesNs, samplesMHz, discarded, ...measured } = await opened.measure(request, flag)
    await opened.close()
    expect(samplesNs).toHaveLength(3)
    expect(samplesMHz).toBeInstanceOf(Float64Array)
    expect(discarded).toBe(0)
    expect(fields(measured)).toEqual(fields(measuredSchema.entries))
    v.parse(measuredSchema, plain(measured))
    for (const launch of measured.launches) v.parse(v.strictObject(launchSchema.entries), launch)
  })
})
