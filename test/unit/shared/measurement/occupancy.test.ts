/** Occupancy against figures that NVIDIA's documents and calculator give, and waves against a count. */
import { describe, expect, it } from 'vitest'
import { multiprocessorOf, occupancyOf, wavesOf } from '@shared/measurement/occupancy'

const of = (
  architecture: string,
  threads: number,
  registersPerThread: number,
  sharedMemoryBytes = 0
) =>
  occupancyOf({ threads, registersPerThread, sharedMemoryBytes }, multiprocessorOf(architecture)!)

describe('theoretical occupancy', () => {
  it.each([
    // CUDA C++ Best Practices Guide, "Calculating Occupancy": 65,536 registers; 2,048 resident threads take at most 32 each.
    ['sm_80', 256, 32, 0, 8, 1, ['registers', 'warps']],
    // The same guide: blocks of 128 threads with 37 registers reach 75 %, 12 blocks of 4 warps.
    ['sm_70', 128, 37, 0, 12, 0.75, ['registers']],
    // And blocks of 320 threads with 37 registers reach 63 %: 4 blocks of 10 warps.
    ['sm_70', 320, 37, 0, 4, 0.625, ['registers']],
    // 255 registers: 8,192 of a warp, 8 warps in all.
    ['sm_90', 128, 255, 0, 2, 0.125, ['registers']],
    // A Hopper product of 384 threads at 168 registers and 193 KiB: one block, both limit it.
    ['sm_90a', 384, 168, 197_696, 1, 12 / 64, ['registers', 'shared memory']],
    // 48 KiB and the driver's 1 KiB: two in 100 KiB, four in 228 KiB.
    ['sm_89', 128, 32, 48 * 1024, 2, 8 / 48, ['shared memory']],
    ['sm_100', 128, 32, 48 * 1024, 4, 16 / 64, ['shared memory']],
    // Blocks of one warp are counted out before warps are.
    ['sm_86', 32, 16, 0, 16, 16 / 48, ['blocks']],
    // clang 22 says of such kernels for gfx950 "Occupancy: 1" and "Occupancy: 3" waves a SIMD: units of 1,280 bytes of LDS.
    ['gfx950', 256, 392, 131_072, 1, 1 / 8, ['registers', 'shared memory']],
    ['gfx950', 256, 3, 52_000, 3, 3 / 8, ['shared memory']],
    // 128 vector registers of 512: four waves a SIMD.
    ['gfx942', 256, 128, 0, 4, 4 / 8, ['registers']]
  ] as const)(
    '%s, %d threads, %d registers, %d bytes: %d blocks',
    (architecture, threads, registers, bytes, blocks, share, limiters) => {
      const found = of(architecture, threads, registers, bytes)
      expect(found.blocksPerMultiprocessor).toBe(blocks)
      expect(found.share).toBeCloseTo(share, 12)
      expect(found.limiters).toEqual(limiters)
    }
  )

  it('is nothing where one block is too large', () => {
    const found = of('sm_120', 128, 32, 100 * 1024)
    expect(found.blocksPerMultiprocessor).toBe(0)
    expect(found.limiters).toEqual(['shared memory'])
  })

  it('says what one block needs of each resource', () => {
    const needs = of('sm_90', 384, 168, 197_696).limits.map(({ needs: one, of: all }) => [one, all])
    expect(needs).toEqual([
      [64_512, 65_536],
      [198_784, 233_472],
      [12, 64],
      [1, 32]
    ])
  })

  it('is not made up for an architecture without a row', () => {
    for (const name of ['gfx1250', 'toString', 'sm_130', 'x86-64'])
      expect(multiprocessorOf(name)).toBeUndefined()
  })
})

describe('waves', () => {
  it('a last wave that is half full costs what stands idle in it', () => {
    const found = wavesOf(2048, 1, 132)!
    expect(found.waves).toBeCloseTo(15.515, 3)
    expect(found.lastBlocks).toBe(2048 - 15 * 132)
    expect(found.tail).toBeCloseTo((16 * 132 - 2048) / (16 * 132), 12)
  })

  it('a grid of one block per multiprocessor has no tail', () => {
    expect(wavesOf(132, 1, 132)).toEqual({ waves: 1, blocksAtOnce: 132, lastBlocks: 132, tail: 0 })
    expect(wavesOf(132, 0, 132)).toBeUndefined()
  })
})
