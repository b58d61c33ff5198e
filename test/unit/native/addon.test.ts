import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NativeOpenRequest } from '../../../src-main/engine/nativeBinding'
import { loadTestAddon } from '../../support/addon'
import { patience } from '../../support/patience'

const addon = loadTestAddon()
const open: NativeOpenRequest = {
  device: 'cpu',
  format: 'mxfp8',
  m: 64,
  n: 64,
  k: 64,
  output: 'f16',
  operands: { distribution: 'normal', seed: 1 }
}
const validate = {
  kernel: 'cpu-portable',
  atol: 1e-3,
  rtol: 1e-3,
  rule: 'allowances' as const,
  maxFailures: 4,
  mapTiles: 8
}

describe('arguments', () => {
  const flag = addon.createCancelFlag()
  const opening = (change: object) => () => addon.open({ ...open, ...change }, flag)

  it.each([
    [
      'an output type that is none',
      opening({ output: 'f64' }),
      /output must be one of f16, bf16, f32, e4m3, e5m2, not "f64"/
    ],
    ['half a row', opening({ m: 1.5 }), /m must be a whole number/],
    ['a negative K', opening({ k: -32 }), /k must be a whole number/],
    ['operands that are no object', opening({ operands: 3 }), /operands must be an object/],
    [
      'codes of another type',
      opening({ operands: { aCodes: [1] } }),
      /aCodes must be a Uint8Array/
    ],
    ['a flag from elsewhere', () => addon.open(open, { cancel() {} }), /createCancelFlag/],
    ['progress that is no function', () => addon.open(open, flag, 5 as never), /onProgress/],
    ['an unknown number format', () => addon.decodeTable('e9m9'), /number format/],
    ['an unknown rule', () => addon.encode('e2m1', new Float32Array(1), 'wrap'), /ml_dtypes/],
    [
      'values of another type',
      () => addon.encode('e2m1', [1] as never, 'saturate'),
      /Float32Array/
    ],
    ['a layout without rows', () => addon.layoutOffsets('linear', 0, 4), /rows must be/],
    ['options that are none', () => addon.configure(undefined as never), /options must be/]
  ])('%s is a TypeError', (_what, call, words) => {
    expect(call).toThrow(TypeError)
    expect(call).toThrow(words)
  })

  it('of requests are checked too', async () => {
    const session = await addon.open(open, flag)
    for (const change of [{ atol: NaN }, { mapTiles: 0 }, { maxFailures: 2 ** 40 }, { kernel: 1 }])
      expect(() => session.validate({ ...validate, ...change } as never, flag)).toThrow(TypeError)
    await session.close()
  })
})

describe('given operands', () => {
  const given = (change: object) => {
    const codes = (count: number) => new Uint8Array(count).fill(0x38)
    const scales = (count: number) => new Uint8Array(count).fill(127)
    const operands = {
      aCodes: codes(64),
      bCodes: codes(64),
      aScales: scales(2),
      bScales: scales(2)
    }
    const problem = { ...open, format: 'mxfp8', m: 1, n: 1, operands: { ...operands, ...change } }
    return addon.open(problem, addon.createCancelFlag())
  }

  it.each([
    [{ aCodes: new Uint8Array(63) }, /aCodes has 63 bytes; 64 are needed/],
    [{ bScales: new Uint8Array(3) }, /bScales has 3 bytes; 2 are needed/],
    [{ reference: new Float64Array(2) }, /The reference has 2 elements; 1 are needed/]
  ])('%o are refused', async (change, words) => {
    await expect(given(change)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(words)
    })
  })

  it('give the product of the definition', async () => {
    const session = await given({ tensorScaleA: 0.5, tensorScaleB: 3 })
    const flag = addon.createCancelFlag()
    // 64 products of 1 * 1, tensor scales 0.5 and 3.
    expect(await session.reference(flag)).toEqual(Float64Array.of(96))
    await session.close()
  })
})

describe('calls', () => {
  it('leave the event loop free and report at most 20 times a second', async () => {
    const flag = addon.createCancelFlag()
    const session = await addon.open({ ...open, m: 1536, n: 1536, k: 1536 }, flag)
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    const seen: [number, string][] = []
    const started = performance.now()
    await session.validate(validate, flag, (fraction, phase) => seen.push([fraction, phase]))
    const elapsed = performance.now() - started
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(elapsed / 100)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.length).toBeLessThanOrEqual(elapsed / 50 + 1)
    for (const [fraction] of seen) expect(fraction >= 0 && fraction <= 1).toBe(true)
    await session.close()
  })

  it('of one session do not disturb each other, and end with its closing', async () => {
    const flag = addon.createCancelFlag()
    const session = await addon.open(open, flag)
    const reports = await Promise.all([1, 2, 3].map(() => session.validate(validate, flag)))
    for (const report of reports) {
      expect(report.status).toBe('passed')
      expect(report.maxAbs).toBe(reports[0]!.maxAbs)
    }
    await session.close()
    await expect(session.operands()).rejects.toMatchObject({
      code: 'usage',
      message: 'The session is closed.'
    })
  })

  it('with a flag that was raised before reject with "cancelled"', async () => {
    const flag = addon.createCancelFlag()
    const session = await addon.open(open, flag)
    flag.cancel()
    await expect(session.validate(validate, flag)).rejects.toMatchObject({ code: 'cancelled' })
    await session.close()
  })

  it('in flight do not crash a process that ends', () => {
    const program = `
      const addon = require(${JSON.stringify(resolve('native/build/Release/blockscope.node'))})
      const flag = addon.createCancelFlag()
      const request = ${JSON.stringify({ ...open, m: 2048, n: 2048, k: 2048 })}
      addon.open(request, flag).then((session) => {
        session.validate(${JSON.stringify(validate)}, flag, () => process.exit(7))
      })`
    const { status, signal } = spawnSync(process.execPath, ['-e', program], { timeout: patience })
    expect([status, signal]).toEqual([7, null])
  })
})
