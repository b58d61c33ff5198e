import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEmulation } from '@shared/contract/devices'
import { blockFormats } from '@shared/formats/blockFormat'
import type { NativeOpenRequest, NativeValidation } from '../../../src-main/engine/nativeBinding'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const device = (await addon.detect()).devices.find((found) => found.id === 'cpu')!
const kernels = device.kernels.filter(
  (kernel) => kernel.capabilities[0]!.level !== 'unavailable' && !isEmulation(kernel)
)

const request = { atol: 1e-3, rtol: 1e-3, rule: 'allowances' as const, maxFailures: 4, mapTiles: 8 }

async function validate(open: Omit<NativeOpenRequest, 'device'>, kernel: string) {
  const cancel = addon.createCancelFlag()
  const session = await addon.open({ device: 'cpu', ...open }, cancel)
  try {
    return await session.validate({ ...request, kernel }, cancel)
  } finally {
    await session.close()
  }
}

const generated = (distribution: string, seed = 1) => ({ distribution, seed })
const passed = (report: NativeValidation) => [report.status, report.reason]

describe('the forecast of block-scaled instructions', () => {
  it('sums as they do, and says of which formats there is none', async () => {
    const open: Omit<NativeOpenRequest, 'device'> = {
      ...{ format: 'mxfp8', m: 33, n: 20, k: 2048, output: 'f32', batchA: [], batchB: [] },
      operands: generated('positive')
    }
    const report = await validate(open, 'cpu-blackwell')
    expect(passed(report)).toEqual(['passed', ''])
    // float32 is cut off: more than its rounding, less than a tolerance would see.
    expect(report.normwise).toBeGreaterThan(1e-7)
    expect(report.normwise).toBeLessThan(1e-5)
    const refused = validate({ ...open, format: 'w4a16_mxfp4' }, 'cpu-blackwell')
    await expect(refused).rejects.toThrow(/bf16 activations are none/)
  })
})

describe('the instruction that multiplies', () => {
  it('is named for every format that a CPU kernel computes', () => {
    for (const { id, capabilities, outputs } of kernels) {
      expect(outputs).toEqual(['f16', 'bf16', 'f32', 'e4m3', 'e5m2'])
      for (const { instruction } of capabilities)
        expect([id, instruction]).toEqual([id, expect.stringMatching(/^(int8|bf16|fp32|fp64):/)])
    }
  })
})

describe('the parts of a validation', () => {
  it("are the kernel's own launches apart from reference, comparison and perturbation", async () => {
    const operands = generated('normal')
    const open = { format: 'mxfp4', m: 256, n: 256, k: 512, output: 'f16' as const, operands }
    const report = await validate(open, kernels[0]!.id)
    expect(report.launchNs).toHaveLength(3)
    // The first run with all around it contains its launches.
    expect(report.launchNs[0]! / 1e9).toBeLessThanOrEqual(report.kernelSeconds)
    expect(report.launchNs.every((ns) => ns > 0)).toBe(true)
    expect(report.comparisonSeconds).toBeGreaterThan(0)
    expect(report.perturbationSeconds).toBeGreaterThan(0)
    expect(report.perturbationA.state).toBe('passed')
  })
})

describe.each(kernels.map((kernel) => kernel.id))('%s against the oracle', (kernel) => {
  it.each(blockFormats.map((format) => format.id))('%s on random shapes', async (format) => {
    const block = blockFormats.find((f) => f.id === format)!.scaleBlockSize
    const shape = fc.record({
      m: fc.integer({ min: 1, max: 140 }),
      n: fc.integer({ min: 1, max: 140 }),
      blocks: fc.integer({ min: 2, max: 40 }),
      seed: fc.nat(),
      output: fc.constantFrom('f16' as const, 'f32' as const, 'bf16' as const)
    })
    await fc.assert(
      fc.asyncProperty(shape, async ({ m, n, blocks, seed, output }) => {
        const operands = generated('normal', seed)
        const open = { format, m, n, k: blocks * block, output, operands }
        // bf16 keeps 8 bits: its own rounding exceeds the tutorial's tolerance only where it must.
        expect(passed(await validate(open, kernel))).toEqual(['passed', ''])
      }),
      { numRuns: 6 }
    )
  })

  it.each(['tutorial', 'adversarial'])('%s operands', async (distribution) => {
    for (const format of blockFormats) {
      const operands = generated(distribution)
      const open = { format: format.id, m: 100, n: 70, k: 512, output: 'f32' as const, operands }
      expect([format.id, ...passed(await validate(open, kernel))]).toEqual([
        format.id,
        'passed',
        ''
      ])
    }
  })

  it('a batch', async () => {
    const operands = generated('normal')
    const open = {
      format: 'mxfp8',
      m: 40,
      n: 50,
      k: 128,
      batchA: [3],
      batchB: [3],
      output: 'f16' as const,
      operands
    }
    const report = await validate(open, kernel)
    expect(passed(report)).toEqual(['passed', ''])
    expect(report.elements).toBe(3 * 40 * 50)
  })

  it('a NaN scale gives NaN in its row and nowhere else', async () => {
    const [m, n, k] = [8, 8, 64]
    const aScales = new Uint8Array((m * k) / 32).fill(127)
    aScales[3 * 2] = 0xff
    const codes = (count: number) => Uint8Array.from({ length: count }, (_, i) => (i * 5) % 7)
    const operands = {
      aCodes: codes(m * k),
      bCodes: codes(n * k),
      aScales,
      bScales: new Uint8Array((n * k) / 32).fill(127)
    }
    const report = await validate({ format: 'mxfp4', m, n, k, output: 'f32', operands }, kernel)
    expect(report.nonFinite).toBe(n)
    expect(report.elementsOutside).toBe(0)
  })
})

describe('operands', () => {
  const operandsOf = async (seed: number, m = 64) => {
    const cancel = addon.createCancelFlag()
    const open = { device: 'cpu', format: 'nvfp4', m, n: 32, k: 128, output: 'f16' as const }
    const session = await addon.open({ ...open, operands: generated('normal', seed) }, cancel)
    const operands = await session.operands()
    await session.close()
    return operands
  }

  it('a seed repeats them, another changes them, and rows do not depend on how many there are', async () => {
    const first = await operandsOf(7)
    expect(await operandsOf(7)).toEqual(first)
    expect((await operandsOf(8)).aCodes).not.toEqual(first.aCodes)
    const fewer = await operandsOf(7, 16)
    expect(fewer.aCodes).toEqual(first.aCodes.slice(0, 16 * 128))
  })
})

describe('what proves nothing is refused', () => {
  it.each([
    ['zeros', 'The reference is zero everywhere'],
    ['uniform-codes', 'overflows f16']
  ])('%s', async (distribution, words) => {
    const operands = generated(distribution)
    const report = await validate(
      { format: 'mxfp8_e5m2', m: 64, n: 64, k: 256, output: 'f16', operands },
      'cpu-portable'
    )
    expect(report.status).toBe('proves-nothing')
    expect(report.reason).toContain(words)
  })

  it('e8m0 codes 10..20, which underflow', async () => {
    const [m, n, k] = [32, 32, 128]
    const scales = (count: number) => Uint8Array.from({ length: count }, (_, i) => 10 + (i % 11))
    const codes = (count: number) => Uint8Array.from({ length: count }, (_, i) => (i * 3) % 16)
    const operands = {
      aCodes: codes(m * k),
      bCodes: codes(n * k),
      aScales: scales((m * k) / 32),
      bScales: scales((n * k) / 32)
    }
    const report = await validate(
      { format: 'mxfp4', m, n, k, output: 'f32', operands },
      'cpu-portable'
    )
    expect(report).toMatchObject({ status: 'proves-nothing' })
  })
})

describe('judging an output made elsewhere', () => {
  it('names the first wrong element, its block and its codes', async () => {
    const cancel = addon.createCancelFlag()
    const [m, n, k] = [16, 16, 64]
    const session = await addon.open(
      { device: 'cpu', format: 'mxfp8', m, n, k, output: 'f32', operands: generated('normal') },
      cancel
    )
    const reference = await session.reference(cancel)
    const output = Float32Array.from(reference)
    output[5 * n + 9]! += 1
    const bytes = new Uint8Array(output.buffer)
    const report = await session.judge(bytes, { ...request, kernel: 'elsewhere' }, cancel)
    expect(report).toMatchObject({ status: 'incorrect', elementsOutside: 1 })
    expect(report.failures[0]).toMatchObject({ row: 5, col: 9 })
    const operands = await session.operands()
    const { block, aCodes } = report.failures[0]!
    const codes = operands.aCodes.slice(5 * k + block * 32, 5 * k + (block + 1) * 32)
    expect(aCodes).toEqual(Array.from(codes))
    output[0] = NaN
    const withNan = await session.judge(bytes, { ...request, kernel: 'elsewhere' }, cancel)
    expect(withNan).toMatchObject({ nonFinite: 1, elementsOutside: 2 })
    await expect(
      session.judge(new Uint8Array(3), { ...request, kernel: 'x' }, cancel)
    ).rejects.toThrow(/3 bytes; 1024 are needed/)
    await session.close()
  })
})

describe('cancelling', () => {
  it('stops a 2048 cubed product within 100 ms', async () => {
    const cancel = addon.createCancelFlag()
    const open = {
      device: 'cpu',
      format: 'mxfp8',
      m: 2048,
      n: 2048,
      k: 2048,
      output: 'f16' as const
    }
    const session = await addon.open({ ...open, operands: generated('normal') }, cancel)
    const running = session.validate({ ...request, kernel: 'cpu-portable' }, cancel)
    await new Promise((resolve) => setTimeout(resolve, 150))
    const asked = performance.now()
    cancel.cancel()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    // Generous against a loaded machine; the native tests hold the kernel itself to 100 ms.
    expect(performance.now() - asked).toBeLessThan(1000)
    await session.close()
  })
})

describe('bad requests', () => {
  it.each([
    [{ format: 'mxfp5' }, 'usage', /"mxfp5" is no block-scaled format/],
    [{ k: 100 }, 'usage', /K=100 is not a multiple of the scale block size 32/],
    [{ operands: generated('cauchy') }, 'usage', /"cauchy" is no distribution/],
    [{ device: 'tpu' }, 'usage', /no device tpu/]
  ])('%j', async (change, code, words) => {
    const open = { device: 'cpu', format: 'mxfp8', m: 8, n: 8, k: 32, output: 'f16' as const }
    const opening = addon.open(
      { ...open, operands: generated('normal'), ...change },
      addon.createCancelFlag()
    )
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(words) })
  })

  it('wrong types are TypeErrors that name the field', () => {
    const flag = addon.createCancelFlag()
    expect(() => addon.open({ device: 'cpu' } as never, flag)).toThrow(/format must be a string/)
    expect(() => addon.open({} as never, {} as never)).toThrow(TypeError)
  })
})
