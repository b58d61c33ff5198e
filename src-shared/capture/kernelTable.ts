/** The kernels of a capture, a row for each shape of launch: what took the time, how even it was, how it filled the GPU. */
import { columnLines } from '../columns'
import { multiprocessorOf, occupancyOf, wavesOf } from '../measurement/occupancy'
import { count, digits, percent, quantity, text } from '../units'
import type { KernelGroup, KernelSums } from './kernelSums'
import type { CapturedDevice, LaunchShape } from './shardNames'

/** What rows are: kernels of one launch shape, or kernels whatever their shapes. */
export const kernelGroupings = ['shape', 'kernel'] as const
export type KernelGrouping = (typeof kernelGroupings)[number]

/** Of a launch null: it is not the same in all launches of the row. */
export interface KernelFacts {
  kernel: string
  /** How many launch shapes the row is of. */
  shapes: number
  grid: readonly number[] | null
  block: readonly number[] | null
  cluster: readonly number[] | null
  device: string
  gpu: CapturedDevice | null
  /** Launches that have a time; and those that counters measured, which have none. Times of no launch are NaN. */
  count: number
  measured: number
  totalNs: number
  /** Of the time of all kernels of the capture. */
  share: number
  medianNs: number
  /** Quartiles. */
  q1Ns: number
  q3Ns: number
  p10Ns: number
  p90Ns: number
  minNs: number
  maxNs: number
  registersPerThread: number | null
  staticSharedBytes: number | null
  dynamicSharedBytes: number | null
  localBytesPerThread: number | null
  /** That fit on a multiprocessor at once, and times that the grid fills the GPU; null where that is not known. */
  blocksPerMultiprocessor: number | null
  waves: number | null
  /** Why the two are not known; '' where they are, or vary. */
  unknownFit: string
  /** At the kernel's first launch that was measured, by metric; absent where none was. Null: the device gave no number. */
  counters?: Readonly<Record<string, number | null>>
}

const volume = (sizes: readonly number[]) => sizes.reduce((product, size) => product * size, 1)

type Fit = Pick<KernelFacts, 'blocksPerMultiprocessor' | 'waves' | 'unknownFit'>

function fitOf(shape: LaunchShape, device: CapturedDevice | undefined): Fit {
  const unknown = (unknownFit: string) => ({
    blocksPerMultiprocessor: null,
    waves: null,
    unknownFit
  })
  if (!device) return unknown('the capture does not say which GPU it ran on')
  if (!device.architecture)
    return unknown(`the driver did not say of which architecture ${device.name || 'the GPU'} is`)
  const multiprocessor = multiprocessorOf(device.architecture)
  if (!multiprocessor) return unknown(`no limits of ${device.architecture} are known here`)
  const { blocksPerMultiprocessor } = occupancyOf(
    {
      threads: volume(shape.block),
      registersPerThread: shape.registersPerThread,
      sharedMemoryBytes: shape.staticSharedBytes + shape.dynamicSharedBytes
    },
    multiprocessor
  )
  if (blocksPerMultiprocessor === 0)
    return unknown(`a block of it does not fit the limits of ${device.architecture} known here`)
  const waves = wavesOf(volume(shape.grid), blocksPerMultiprocessor, device.multiprocessors)
  return { blocksPerMultiprocessor, waves: waves?.waves ?? null, unknownFit: '' }
}

function kernelFacts(
  { rows, times }: KernelGroup,
  { totalNs, counters }: Pick<KernelSums, 'totalNs' | 'counters'>
): KernelFacts {
  const { shape, device } = rows[0]!
  const same = <T>(of: (shape: LaunchShape) => T): T | null => {
    const first = JSON.stringify(of(shape))
    return rows.every((row) => JSON.stringify(of(row.shape)) === first) ? of(shape) : null
  }
  const fits = rows.map((row) => fitOf(row.shape, row.device))
  const sameFit = <K extends keyof Fit>(key: K, otherwise: Fit[K]): Fit[K] =>
    fits.every((fit) => fit[key] === fits[0]![key]) ? fits[0]![key] : otherwise
  const measured = counters.find(({ kernel }) => kernel === shape.kernel)
  return {
    kernel: shape.kernel,
    shapes: rows.length,
    grid: same(({ grid }) => grid),
    block: same(({ block }) => block),
    cluster: same(({ cluster }) => cluster),
    device: device?.name ?? '',
    gpu: device ?? null,
    count: times.count,
    measured: times.measured,
    totalNs: times.totalNs,
    share: totalNs > 0 ? times.totalNs / totalNs : 0,
    medianNs: times.quantileNs(0.5),
    q1Ns: times.quantileNs(0.25),
    q3Ns: times.quantileNs(0.75),
    p10Ns: times.quantileNs(0.1),
    p90Ns: times.quantileNs(0.9),
    minNs: times.count > 0 ? times.minNs : NaN,
    maxNs: times.count > 0 ? times.maxNs : NaN,
    registersPerThread: same(({ registersPerThread }) => registersPerThread),
    staticSharedBytes: same(({ staticSharedBytes }) => staticSharedBytes),
    dynamicSharedBytes: same(({ dynamicSharedBytes }) => dynamicSharedBytes),
    localBytesPerThread: same(({ localBytesPerThread }) => localBytesPerThread),
    blocksPerMultiprocessor: sameFit('blocksPerMultiprocessor', null),
    waves: sameFit('waves', null),
    unknownFit: sameFit('unknownFit', ''),
    ...(measured && { counters: measured.values })
  }
}

/** Rows of a capture, those that took longest in all first. */
export function allKernelFacts(sums: KernelSums, by: KernelGrouping = 'shape'): KernelFacts[] {
  const { totalNs, counters } = sums
  const groups = by === 'shape' ? sums.byShape() : sums.byKernel()
  return groups.map((group) => kernelFacts(group, { totalNs, counters }))
}

const varies = 'varies'

/** '264x2': without the ones at the end. */
export function extentsText(sizes: readonly number[] | null): string {
  if (sizes === null) return varies
  const last = sizes.findLastIndex((size) => size !== 1)
  return sizes.slice(0, Math.max(1, last + 1)).join('x')
}

/** Bytes of shared memory of a block, static and dynamic. */
export const sharedBytesOf = (row: KernelFacts): number | null =>
  row.staticSharedBytes === null || row.dynamicSharedBytes === null
    ? null
    : row.staticSharedBytes + row.dynamicSharedBytes

/** A figure of the launch as text; a dash where it is not known. */
export function figureText(
  value: number | null,
  row: KernelFacts,
  form: (value: number) => string = count
): string {
  if (value !== null) return form(value)
  return row.shapes > 1 && row.unknownFit === '' ? varies : '–'
}

/** Why waves and blocks are missing of some rows: each reason once, as a sentence. */
export function unknownFits(facts: readonly KernelFacts[]): string[] {
  const reasons = new Set(facts.map(({ unknownFit }) => unknownFit).filter(Boolean))
  return [...reasons].map((reason) => `Waves and blocks per multiprocessor: ${reason}.`)
}

/** Lines of a table for people. @param most rows to show */
export function kernelTableLines(
  facts: readonly KernelFacts[],
  most: number,
  nameOf: (name: string) => string
): string[] {
  const time = (ns: number) => (Number.isNaN(ns) ? '–' : text(quantity('time', ns)))
  const hasMeasured = facts.some(({ measured }) => measured > 0)
  const headings = [
    ...['share', 'total', 'count', ...(hasMeasured ? ['measured'] : []), 'median', 'q1', 'q3'],
    ...['grid', 'block', 'regs', 'shared (B)', 'blocks/SM', 'waves', 'kernel']
  ]
  const rows = facts
    .slice(0, most)
    .map((row) => [
      row.count > 0 ? percent(row.share) : '–',
      time(row.count > 0 ? row.totalNs : NaN),
      count(row.count),
      ...(hasMeasured ? [count(row.measured)] : []),
      time(row.medianNs),
      time(row.q1Ns),
      time(row.q3Ns),
      extentsText(row.grid),
      extentsText(row.block),
      figureText(row.registersPerThread, row),
      figureText(sharedBytesOf(row), row),
      figureText(row.blocksPerMultiprocessor, row),
      figureText(row.waves, row, digits),
      nameOf(row.kernel)
    ])
  const lines = [headings, ...rows]
  return columnLines(lines, (column) => column === headings.length - 1)
}
