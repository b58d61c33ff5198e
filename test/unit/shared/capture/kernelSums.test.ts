import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KernelSums } from '@shared/capture/kernelSums'
import { allKernelFacts, kernelTableLines } from '@shared/capture/kernelTable'
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
        const [{ times: found }] = sums.sorted() as [ReturnType<KernelSums['sorted']>[number]]
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
    expect(relu).toMatchObject({ blocksPerMultiprocessor: null, waves: null })
    expect(kernelTableLines(sums, 1, (name) => name)).toHaveLength(2)
  })
})
