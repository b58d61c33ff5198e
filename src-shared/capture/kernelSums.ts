/**
 * Times of kernels by shape of their launches: count, sum, spread and median, in bounded memory however many there are.
 */
import type { KernelCounters } from './counterTable'
import type { CapturedDevice, LaunchShape } from './shardNames'

/** Buckets per power of two: a median is exact to half a bucket, 0.1 %; below this many ns it is exact. */
const perOctave = 512
const octaveBits = 9

export interface KernelTimes {
  /** Launches that have a time. */
  count: number
  /** Launches that counters measured: they have none. */
  measured: number
  totalNs: number
  minNs: number
  maxNs: number
  /** Quantile of the times, ns: exact below 512 ns, else within 0.1 %. */
  quantileNs(share: number): number
}

/** What launches of one kernel, shape and GPU are handed to. */
export interface LaunchTally {
  add(ns: number): void
  addMeasured(): void
}

class Histogram implements KernelTimes, LaunchTally {
  count = 0
  measured = 0
  totalNs = 0
  minNs = Infinity
  maxNs = 0
  /** Counts by octave, of those that have any: the first is below `perOctave` ns, each other twice as wide. */
  private readonly octaves: (Uint32Array | undefined)[] = []

  add(ns: number): void {
    this.count++
    this.totalNs += ns
    if (ns < this.minNs) this.minNs = ns
    if (ns > this.maxNs) this.maxNs = ns
    const octave = octaveOf(ns)
    const counts = (this.octaves[octave] ??= new Uint32Array(perOctave))
    counts[bucketIn(octave, ns)]!++
  }

  addMeasured(): void {
    this.measured++
  }

  addAll(other: Histogram): void {
    this.count += other.count
    this.measured += other.measured
    this.totalNs += other.totalNs
    this.minNs = Math.min(this.minNs, other.minNs)
    this.maxNs = Math.max(this.maxNs, other.maxNs)
    for (const [octave, counts] of other.octaves.entries()) {
      if (!counts) continue
      const into = (this.octaves[octave] ??= new Uint32Array(perOctave))
      for (let bucket = 0; bucket < perOctave; bucket++) into[bucket]! += counts[bucket]!
    }
  }

  quantileNs(share: number): number {
    const wanted = share * (this.count - 1)
    let passed = 0
    for (let octave = 0; octave < this.octaves.length; octave++) {
      const counts = this.octaves[octave]
      for (let bucket = 0; counts && bucket < perOctave; bucket++) {
        passed += counts[bucket]!
        if (passed > wanted)
          return Math.min(this.maxNs, Math.max(this.minNs, middleOf(octave, bucket)))
      }
    }
    return NaN
  }
}

function octaveOf(ns: number): number {
  if (ns < perOctave) return 0
  // Beyond two seconds a 32-bit number has no room.
  return ns < 2 ** 31
    ? 32 - octaveBits - Math.clz32(ns)
    : Math.floor(Math.log2(ns)) - octaveBits + 1
}

function bucketIn(octave: number, ns: number): number {
  return octave === 0 ? Math.trunc(ns) : Math.floor(ns / 2 ** (octave - 1)) - perOctave
}

function middleOf(octave: number, bucket: number): number {
  if (octave === 0) return bucket
  const width = 2 ** (octave - 1)
  return (bucket + perOctave) * width + (width - 1) / 2
}

export interface KernelRow {
  shape: LaunchShape
  device: CapturedDevice | undefined
  times: KernelTimes
}

/** Rows that are shown as one, and the times of all of them. */
export interface KernelGroup {
  rows: readonly KernelRow[]
  times: KernelTimes
}

const longestFirst = (a: KernelGroup, b: KernelGroup) => b.times.totalNs - a.times.totalNs

/** Rows by kernel, launch shape and GPU, over all processes. */
export class KernelSums {
  /** Of kernels that the device's counters measured. */
  counters: readonly KernelCounters[] = []
  private readonly rows = new Map<string, KernelRow & { times: Histogram }>()

  /** @returns what to hand times to; the same for the same kernel, shape and GPU of another process */
  timesOf(shape: LaunchShape, device: CapturedDevice | undefined): LaunchTally {
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

  /** A row for each kernel, launch shape and GPU; those that took longest in all first. */
  byShape(): KernelGroup[] {
    const groups = [...this.rows.values()].map((row) => ({ rows: [row], times: row.times }))
    return groups.sort(longestFirst)
  }

  /** A row for each kernel and GPU, whatever its launch shapes. */
  byKernel(): KernelGroup[] {
    const groups = new Map<string, { rows: KernelRow[]; times: Histogram }>()
    for (const row of this.rows.values()) {
      const key = JSON.stringify([row.shape.kernel, row.device?.uuid, row.device?.number])
      let group = groups.get(key)
      if (!group) groups.set(key, (group = { rows: [], times: new Histogram() }))
      group.rows.push(row)
      group.times.addAll(row.times)
    }
    return [...groups.values()].sort(longestFirst)
  }
}
