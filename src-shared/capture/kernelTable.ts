/** The kernels of a capture, a row for each shape of launch: what took the time, how even it was, how it filled the GPU. */
import { columnLines } from '../columns'
import { multiprocessorOf, occupancyOf, wavesOf } from '../measurement/occupancy'
import { count, digits, percent, quantity, text } from '../units'
import type { KernelRow, KernelSums } from './kernelSums'

export interface KernelFacts {
  kernel: string
  grid: readonly number[]
  block: readonly number[]
  cluster: readonly number[]
  device: string
  count: number
  totalNs: number
  /** Of the time of all kernels of the capture. */
  share: number
  medianNs: number
  p10Ns: number
  p90Ns: number
  minNs: number
  maxNs: number
  registersPerThread: number
  staticSharedBytes: number
  dynamicSharedBytes: number
  localBytesPerThread: number
  /** That fit on a multiprocessor at once, and times that the grid fills the GPU; null where the GPU is not known. */
  blocksPerMultiprocessor: number | null
  waves: number | null
}

function kernelFacts({ shape, device, times }: KernelRow, totalNs: number): KernelFacts {
  const volume = (sizes: readonly number[]) => sizes.reduce((product, size) => product * size, 1)
  const multiprocessor = multiprocessorOf(device?.architecture ?? '')
  const occupancy =
    multiprocessor &&
    occupancyOf(
      {
        threads: volume(shape.block),
        registersPerThread: shape.registersPerThread,
        sharedMemoryBytes: shape.staticSharedBytes + shape.dynamicSharedBytes
      },
      multiprocessor
    )
  const blocks = occupancy?.blocksPerMultiprocessor
  const waves =
    blocks && device ? wavesOf(volume(shape.grid), blocks, device.multiprocessors) : undefined
  return {
    kernel: shape.kernel,
    grid: shape.grid,
    block: shape.block,
    cluster: shape.cluster,
    device: device?.name ?? '',
    count: times.count,
    totalNs: times.totalNs,
    share: totalNs > 0 ? times.totalNs / totalNs : 0,
    medianNs: times.quantileNs(0.5),
    p10Ns: times.quantileNs(0.1),
    p90Ns: times.quantileNs(0.9),
    minNs: times.minNs,
    maxNs: times.maxNs,
    registersPerThread: shape.registersPerThread,
    staticSharedBytes: shape.staticSharedBytes,
    dynamicSharedBytes: shape.dynamicSharedBytes,
    localBytesPerThread: shape.localBytesPerThread,
    blocksPerMultiprocessor: blocks ?? null,
    waves: waves?.waves ?? null
  }
}

export function allKernelFacts(sums: KernelSums): KernelFacts[] {
  const total = sums.totalNs
  return sums.sorted().map((row) => kernelFacts(row, total))
}

const headings = [
  ...['share', 'total', 'count', 'median', 'p10', 'p90', 'grid', 'block', 'regs', 'shared (B)'],
  ...['blocks/SM', 'waves', 'kernel']
]

/** Lines of a table for people. @param most rows to show */
export function kernelTableLines(
  sums: KernelSums,
  most: number,
  nameOf: (name: string) => string
): string[] {
  const time = (ns: number) => text(quantity('time', ns))
  const extents = (sizes: readonly number[]) => {
    const last = sizes.findLastIndex((size) => size !== 1)
    return sizes.slice(0, Math.max(1, last + 1)).join('x')
  }
  const rows = allKernelFacts(sums)
    .slice(0, most)
    .map((row) => [
      percent(row.share),
      time(row.totalNs),
      count(row.count),
      time(row.medianNs),
      time(row.p10Ns),
      time(row.p90Ns),
      extents(row.grid),
      extents(row.block),
      String(row.registersPerThread),
      count(row.staticSharedBytes + row.dynamicSharedBytes),
      row.blocksPerMultiprocessor === null ? '–' : String(row.blocksPerMultiprocessor),
      row.waves === null ? '–' : digits(row.waves),
      nameOf(row.kernel)
    ])
  const lines = [headings, ...rows]
  return columnLines(lines, (column) => column === headings.length - 1)
}
