/**
 * Times of kernels by shape of their launches: count, sum, spread and median, in bounded memory however many there are.
 */
import type { CapturedDevice, LaunchShape } from './shardNames'

/** Buckets per power of two: a median is exact to half a bucket, 0.1 %; below this many ns it is exact. */
const perOctave = 512
const octaveBits = 9

export interface KernelTimes {
  count: number
  totalNs: number
  minNs: number
  maxNs: number
  /** Quantile of the times, ns: exact below 512 ns, else within 0.1 %. */
  quantileNs(share: number): number
}

class Histogram implements KernelTimes {
  count = 0
  totalNs = 0
  minNs = Infinity
  maxNs = 0
  private readonly buckets = new Map<number, number>()

  add(ns: number): void {
    this.count++
    this.totalNs += ns
    if (ns < this.minNs) this.minNs = ns
    if (ns > this.maxNs) this.maxNs = ns
    const bucket = bucketOf(ns)
    this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + 1)
  }

  quantileNs(share: number): number {
    const wanted = share * (this.count - 1)
    let passed = 0
    for (const bucket of [...this.buckets.keys()].sort((a, b) => a - b)) {
      passed += this.buckets.get(bucket)!
      if (passed > wanted) return Math.min(this.maxNs, Math.max(this.minNs, middleOf(bucket)))
    }
    return NaN
  }
}

function bucketOf(ns: number): number {
  if (ns < perOctave) return ns
  const octave = 31 - Math.clz32(Math.min(ns, 2 ** 31)) - octaveBits
  // Beyond two seconds a kernel's octave is found by its logarithm.
  const exact = ns < 2 ** 31 ? octave : Math.floor(Math.log2(ns)) - octaveBits
  return (exact + 1) * perOctave + (Math.floor(ns / 2 ** exact) - perOctave)
}

function middleOf(bucket: number): number {
  if (bucket < perOctave) return bucket
  const octave = Math.floor(bucket / perOctave) - 1
  const low = ((bucket % perOctave) + perOctave) * 2 ** octave
  return low + (2 ** octave - 1) / 2
}

export interface KernelRow {
  shape: LaunchShape
  device: CapturedDevice | undefined
  times: KernelTimes
}

/** Rows by kernel, launch shape and GPU, over all processes. */
export class KernelSums {
  private readonly rows = new Map<string, KernelRow & { times: Histogram }>()

  /** @returns what to hand times to; the same for the same kernel, shape and GPU of another process */
  timesOf(shape: LaunchShape, device: CapturedDevice | undefined): { add(ns: number): void } {
    const key = JSON.stringify([shape, device?.uuid ?? '', device?.number ?? 0])
    let row = this.rows.get(key)
    if (!row) this.rows.set(key, (row = { shape, device, times: new Histogram() }))
    return row.times
  }

  get totalNs(): number {
    let total = 0
    for (const { times } of this.rows.values()) total += times.totalNs
    return total
  }

  /** Those that took longest in all first. */
  sorted(): KernelRow[] {
    return [...this.rows.values()].sort((a, b) => b.times.totalNs - a.times.totalNs)
  }
}
