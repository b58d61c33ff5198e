/** Adds the kernels of a capture to their sums, as a reader hands them over. */
import type { CapturedActivity, CaptureSink } from './captureReader'
import { KernelSums } from './kernelSums'
import type { ShardNames } from './shardNames'

export class KernelTally implements CaptureSink {
  readonly sums = new KernelSums()
  /** Whole once their shards have been read. */
  readonly processes: ShardNames[] = []
  private names!: ShardNames
  /** By number of the shape and place: a capture has millions of launches of a few shapes. */
  private known: ({ add(ns: number): void } | null)[][] = []

  /** @param takes which kernels, by name */
  constructor(private readonly takes: (kernel: string) => boolean = () => true) {}

  /** @see CaptureSink */
  process(names: ShardNames): void {
    this.names = names
    this.processes.push(names)
    this.known = []
  }

  /** @see CaptureSink */
  activity({ kind, shape, place, durationNs }: CapturedActivity): void {
    if (kind !== 'kernel') return
    const ofShape = (this.known[shape] ??= [])
    let times = ofShape[place]
    if (times === undefined) ofShape[place] = times = this.timesOf(shape, place)
    times?.add(durationNs)
  }

  private timesOf(shape: number, place: number): { add(ns: number): void } | null {
    const launch = this.names.shapes[shape]
    const number = this.names.places[place]?.device
    const device = this.names.devices.find((one) => one.number === number)
    return launch && this.takes(launch.kernel) ? this.sums.timesOf(launch, device) : null
  }
}
