import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KernelSums, type KernelGroup } from '@shared/capture/kernelSums'
import { allKernelFacts, kernelTableLines, unknownFits } from '@shared/capture/kernelTable'
import type { CapturedDevice, LaunchShape } from '@shared/capture/shardNames'

const shape = (kernel: string): LaunchShape => ({
  kernel,
  grid: [264, 1, 1],
  block: [256, 1, 1],
  cluster: [0, 0, 0],
  registersPerThread: 128,
  staticSharedBytes: 0,
  dynamicSharedBytes: 0,
  localBytesPerThread: 0
})
const device: CapturedDevice = {
  number: 0,
  name: 'H200',
  uuid: 'aa',
  architecture: 'sm_90',
  multiprocessors: 132,
  clockRateKHz: 0,
  memoryClockRateKHz: 0,
  busWidthBits: 0
}

describe('times of kernels', () => {
  it('has quantiles within 0.1 % of those of the sorted times, and sums that are exact', () => {
    const times = fc.array(fc.oneof(fc.nat(2000), fc.nat(2 ** 33)), {
      minLength: 1,
      maxLength: 300
    })
    fc.assert(
      fc.property(times, fc.constantFrom(0, 0.1, 0.5, 0.9, 1), (list, share) => {
        const sums = new KernelSums()
        for (const ns of list) sums.timesOf(shape('k'), device).add(ns)
        const [{ times: found }] = sums.byShape() as [KernelGroup]
        const sorted = [...list].sort((a, b) => a - b)
        const wanted = share * (list.length - 1)
        // The first of which more than that share of all come before or with it.
        const exact = sorted[Math.min(list.length - 1, Math.floor(wanted))]!
        expect(Math.abs(found.quantileNs(share) - exact)).toBeLessThanOrEqual(exact * 0.001)
        expect(found).toMatchObject({
          count: list.length,
          totalNs: list.reduce((sum, ns) => sum + ns, 0),
          minNs: sorted[0],
          maxNs: sorted.at(-1)
        })
      })
    )
  })

  it('rows by kernel, shape and GPU over processes, with what fits on a multiprocessor', () => {
    const sums = new KernelSums()
    sums.timesOf(shape('gemm'), device).add(3000)
    // Another process calls the same GPU by another number.
    sums.timesOf(shape('gemm'), { ...device }).add(3000)
    sums.timesOf(shape('relu'), { ...device, uuid: 'bb', architecture: '' }).add(2000)
    const [gemm, relu] = allKernelFacts(sums)
    // 128 registers of 256 threads: 32,768 of 65,536.
    expect(gemm).toMatchObject({
      kernel: 'gemm',
      count: 2,
      share: 0.75,
      blocksPerMultiprocessor: 2
    })
    expect(gemm!.waves).toBe(1)
    expect(gemm!.unknownFit).toBe('')
    expect(relu).toMatchObject({ blocksPerMultiprocessor: null, waves: null })
    const facts = allKernelFacts(sums)
    expect(kernelTableLines(facts, 1, (name) => name)).toHaveLength(2)
    expect(unknownFits(facts)).toEqual([
      'Waves and blocks per multiprocessor: the driver did not say of which architecture H200 is.'
    ])
  })

  it('one row of a kernel whatever its launch shapes: times of all, what they share, else varies', () => {
    const sums = new KernelSums()
    for (const ns of [1000, 1000, 1000]) sums.timesOf(shape('gemm'), device).add(ns)
    sums.timesOf({ ...shape('gemm'), grid: [132, 1, 1] }, device).add(400_000)
    sums.timesOf(shape('relu'), device).add(1)
    const [gemm, relu] = allKernelFacts(sums, 'kernel')
    expect(gemm).toMatchObject({
      shapes: 2,
      count: 4,
      totalNs: 403_000,
      minNs: 1000,
      maxNs: 400_000,
      medianNs: expect.closeTo(1000, 0),
      grid: null,
      block: [256, 1, 1],
      registersPerThread: 128,
      blocksPerMultiprocessor: 2,
      waves: null
    })
    expect(relu).toMatchObject({ shapes: 1, grid: [264, 1, 1], waves: 1 })
    const lines = kernelTableLines(allKernelFacts(sums, 'kernel'), 9, (name) => name)
    expect(lines[1]).toMatch(/ varies +256 +128 +0 +2 +varies +gemm$/)
  })

  it('says of each kernel why waves and blocks are not known', () => {
    const reasons = (of: CapturedDevice | undefined, more: Partial<LaunchShape> = {}) => {
      const sums = new KernelSums()
      sums.timesOf({ ...shape('k'), ...more }, of).add(1)
      return allKernelFacts(sums).map(({ unknownFit, waves }) => [unknownFit, waves])
    }
    expect(reasons(undefined)).toEqual([['the capture does not say which GPU it ran on', null]])
    expect(reasons({ ...device, architecture: 'sm_33' })).toEqual([
      ['no limits of sm_33 are known here', null]
    ])
    expect(reasons(device, { dynamicSharedBytes: 1 << 30 })).toEqual([
      ['a block of it does not fit the limits of sm_90 known here', null]
    ])
  })
})
