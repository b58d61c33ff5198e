/**
 * The operation as its definitions have it, on every CPU kernel of this machine: pairs of elements, both orders of B,
 * accumulators, 8-bit outputs with a scale and batches, each against a float64 product written here.
 */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEmulation } from '@shared/contract/devices'
import type { Operation } from '@shared/contract/operation'
import { everyBlockFormat, findBlockFormat } from '@shared/formats/blockFormat'
import { decodeTable, isScaled } from '@shared/formats/numberFormat'
import { broadcastBatch, matrixOfBatch } from '@shared/batch'
import type {
  NativeGivenOperands,
  NativeOpenRequest,
  NativeOperands
} from '../../../src-main/engine/nativeBinding'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const cpu = (await addon.detect()).devices.find(({ id }) => id === 'cpu')!
const kernels = cpu.kernels.filter(
  (kernel) => kernel.capabilities[0]!.level !== 'unavailable' && !isEmulation(kernel)
)
const flag = addon.createCancelFlag()

const request = { atol: 1e-3, rtol: 1e-3, rule: 'allowances' as const, maxFailures: 1, mapTiles: 1 }

async function opened<T>(
  open: Omit<NativeOpenRequest, 'device'>,
  use: (session: Awaited<ReturnType<typeof addon.open>>) => Promise<T>
): Promise<T> {
  const session = await addon.open({ device: 'cpu', ...open }, flag)
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}

interface Broadcast {
  a: number[]
  b: number[]
  dims: number[]
  ofA: number[]
  ofB: number[]
}
const golden = JSON.parse(readFileSync('test/fixtures/golden/broadcast.json', 'utf8')) as {
  fits: Broadcast[]
  refused: { a: number[]; b: number[] }[]
}

/** The matrix of an operand of these dimensions that makes matrix `at` of C. */
function matrixOf(dims: readonly number[], ofC: readonly number[], at: number): number {
  let index = 0
  let stride = 1
  let rest = at
  for (let back = 1; back <= ofC.length; back++) {
    const extent = ofC.at(-back)!
    const own = dims.at(-back) ?? 1
    if (own > 1) index += (rest % extent) * stride
    stride *= own
    rest = Math.floor(rest / extent)
  }
  return index
}

interface Shape extends Partial<Operation> {
  m: number
  n: number
  k: number
}

/** output scale x (accumulator + A x B), element by element from codes. */
function product(
  formatId: string,
  { m, n, k, batchA = [], batchB = [], outputScale = 1 }: Shape,
  operands: NativeOperands | NativeGivenOperands
): Float64Array {
  const { a, b, scale, scaleBlockSize } = findBlockFormat(formatId)
  const [ofA, ofB, ofScale] = [a, b, scale].map(decodeTable)
  // A of 16 bits has two bytes a code, and no scales.
  const wide = !isScaled(a)
  const aCodes = wide ? new Uint16Array(operands.aCodes.slice().buffer) : operands.aCodes
  const dims = broadcastBatch(batchA, batchB)!
  const count = dims.reduce((all, extent) => all * extent, 1)
  const blocks = k / scaleBlockSize
  const c = new Float64Array(count * m * n)
  for (let at = 0; at < c.length; at++) {
    const matrix = Math.floor(at / (m * n))
    const row = matrixOf(batchA, dims, matrix) * m + Math.floor((at % (m * n)) / n)
    const col = matrixOf(batchB, dims, matrix) * n + (at % n)
    let sum = 0
    for (let d = 0; d < k; d++) {
      const block = Math.floor(d / scaleBlockSize)
      sum +=
        ofA![aCodes[row * k + d]!]! *
        (wide ? 1 : ofScale![operands.aScales[row * blocks + block]!]!) *
        (ofB![operands.bCodes[col * k + d]!]! * ofScale![operands.bScales[col * blocks + block]!]!)
    }
    const added = operands.accumulator?.length ? operands.accumulator[at]! : 0
    c[at] = (sum + added) * Math.fround(outputScale)
  }
  return c
}

function expectClose(got: Float64Array, wanted: Float64Array): void {
  expect(got.length).toBe(wanted.length)
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const off = got.findIndex(
    (value, i) => !(Math.abs(value - wanted[i]!) <= 1e-12 * largest) && !Object.is(value, wanted[i])
  )
  expect(off).toBe(-1)
}

it('the addon has the formats of the registry, in its order', () => {
  const ids = everyBlockFormat.map(({ id }) => id)
  for (const { capabilities } of cpu.kernels)
    expect(capabilities.map(({ format }) => format)).toEqual(ids)
})

describe('a batch', () => {
  it.each(golden.fits)('(%#) broadcasts as numpy.matmul broadcasts', ({ a, b, dims, ofA, ofB }) => {
    expect(broadcastBatch(a, b)).toEqual(dims)
    expect(ofA.map((_, at) => matrixOf(a, dims, at))).toEqual(ofA)
    expect(ofB.map((_, at) => matrixOf(b, dims, at))).toEqual(ofB)
    expect(ofA.map((_, at) => matrixOfBatch(a, dims, at))).toEqual(ofA)
    expect(ofB.map((_, at) => matrixOfBatch(b, dims, at))).toEqual(ofB)
  })

  it.each(golden.refused)('(%#) is refused where numpy refuses it', async ({ a, b }) => {
    expect(broadcastBatch(a, b)).toBeUndefined()
    const operands = { distribution: 'normal', seed: 1 }
    const open = { format: 'mxfp8', m: 8, n: 8, k: 32, output: 'f32' as const, operands }
    await expect(opened({ ...open, batchA: a, batchB: b }, async () => {})).rejects.toThrow(
      /do not broadcast/
    )
  })

  it('of any dimensions is what numpy makes of it', async () => {
    const dims = fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(dims, dims, fc.boolean(), fc.nat(), async (a, b, accumulate, seed) => {
        fc.pre(broadcastBatch(a, b) !== undefined)
        const shape = { m: 5, n: 6, k: 64, batchA: a, batchB: b, accumulate }
        const operands = { distribution: 'normal', seed }
        const open = { format: 'mxfp8', ...shape, output: 'f32' as const, operands }
        await opened(open, async (session) => {
          const reference = await session.reference(flag)
          expectClose(reference, product('mxfp8', shape, await session.operands()))
          for (const { id } of kernels) {
            const report = await session.validate({ ...request, kernel: id }, flag)
            expect([id, report.status, report.reason]).toEqual([id, 'passed', ''])
          }
        })
      }),
      { numRuns: 12 }
    )
  })
})

describe.each(everyBlockFormat.map(({ id }) => id))('%s', (format) => {
  it('in both orders of B, with and without an accumulator, to every type', async () => {
    const { scaleBlockSize } = findBlockFormat(format)
    const asked = fc.record({
      m: fc.integer({ min: 1, max: 24 }),
      // Whole bytes of any element along N.
      n: fc.integer({ min: 1, max: 20 }).map((groups) => groups * 4),
      k: fc.integer({ min: 2, max: 12 }).map((blocks) => blocks * scaleBlockSize),
      bOrder: fc.constantFrom('nk' as const, 'kn' as const),
      accumulate: fc.boolean(),
      outputScale: fc.constantFrom(1, 0.25, 1.7),
      output: fc.constantFrom(...(['f32', 'f16', 'bf16', 'e4m3', 'e5m2'] as const)),
      seed: fc.nat()
    })
    await fc.assert(
      fc.asyncProperty(asked, async ({ seed, output, ...rest }) => {
        const isEight = output === 'e4m3' || output === 'e5m2'
        const shape = { ...rest, outputScale: isEight ? rest.outputScale : 1 }
        const operands = { distribution: 'normal', seed }
        await opened({ format, ...shape, output, operands }, async (session) => {
          expectClose(
            await session.reference(flag),
            product(format, shape, await session.operands())
          )
          for (const { id } of kernels) {
            const report = await session.validate({ ...request, kernel: id }, flag)
            // A few large elements of e4m3 may all be small or saturate: that proves nothing, and is said.
            if (report.status === 'proves-nothing') continue
            expect([id, report.status, report.reason]).toEqual([id, 'passed', ''])
          }
        })
      }),
      { numRuns: 3 }
    )
  })
})

describe('an accumulator', () => {
  it('makes NaN and infinity of its own elements and no others', async () => {
    const shape = { m: 6, n: 8, k: 64, accumulate: true }
    const made = await opened(
      { format: 'mxfp4', ...shape, output: 'f32', operands: { distribution: 'normal', seed: 3 } },
      (session) => session.operands()
    )
    const accumulator = Float32Array.from(made.accumulator!)
    accumulator.set([NaN, Infinity, -Infinity], 11)
    for (const output of ['f32', 'f16', 'e4m3', 'e5m2'] as const)
      await opened(
        { format: 'mxfp4', ...shape, output, operands: { ...made, accumulator } },
        async (session) => {
          const reference = await session.reference(flag)
          expectClose(reference, product('mxfp4', shape, { ...made, accumulator }))
          expect([...reference.slice(11, 14)]).toEqual([NaN, Infinity, -Infinity])
          // Types of 8 bits saturate: their largest number is right where C would be infinite.
          const nonFinite = output.startsWith('e') ? 1 : 3
          for (const { id } of kernels) {
            const report = await session.validate({ ...request, kernel: id }, flag)
            const said = [output, id, report.status, report.nonFinite]
            expect(said).toEqual([output, id, 'passed', nonFinite])
          }
        }
      )
  })

  it('of another size is refused', async () => {
    const given = {
      aCodes: new Uint8Array(64),
      bCodes: new Uint8Array(64),
      aScales: new Uint8Array(2),
      bScales: new Uint8Array(2),
      accumulator: new Float32Array(3)
    }
    const open = { format: 'mxfp4', m: 1, n: 1, k: 64, accumulate: true, output: 'f32' as const }
    await expect(opened({ ...open, operands: given }, async () => {})).rejects.toThrow(
      'The accumulator has 3 elements; 1 are needed.'
    )
  })
})

// Operands and results of the examples of cuda.tile.mma_scaled's documentation (cuTile Python 1.4).
describe('the examples of cuda.tile.mma_scaled', () => {
  const one = 0x38
  const two = 128

  async function every(m: number, n: number, k: number, bOrder: 'nk' | 'kn'): Promise<Set<number>> {
    const blocks = k / 32
    const operands = {
      aCodes: new Uint8Array(m * k).fill(one),
      bCodes: new Uint8Array(n * k).fill(one),
      aScales: new Uint8Array(m * blocks).fill(two),
      bScales: new Uint8Array(n * blocks).fill(two),
      accumulator: new Float32Array(m * n)
    }
    const open = { format: 'mxfp8', m, n, k, bOrder, accumulate: true, output: 'f32' as const }
    return opened({ ...open, operands }, async (session) => {
      const reference = await session.reference(flag)
      for (const { id } of kernels) {
        const report = await session.validate({ ...request, kernel: id }, flag)
        expect([id, report.elementsOutside, report.maxAbs]).toEqual([id, 0, 0])
      }
      return new Set(reference)
    })
  }

  it('ones (2, 64) x ones (64, 2), scales 2: 256', async () => {
    expect([...(await every(2, 2, 64, 'kn'))]).toEqual([256])
  })

  it('ones (128, 128) x ones (128, 128) given as (N, K), scales 2: 512', async () => {
    expect([...(await every(128, 128, 128, 'nk'))]).toEqual([512])
  })
})
