/** Adds the kernels of a capture to their sums, as a reader hands them over. */
import type { CapturedActivity, CaptureSink } from './captureReader'
import { KernelSums, type LaunchTally } from './kernelSums'
import type { ShardNames } from './shardNames'

export class KernelTally implements CaptureSink {
  readonly sums = new KernelSums()
  /** Whole once their shards have been read. */
  readonly processes: ShardNames[] = []
  private names!: ShardNames
  /** By number of the shape and place: a capture has millions of launches of a few shapes. */
  private known: (LaunchTally | null)[][] = []

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
    if (kind === 'kernel') this.knownTimes(shape, place)?.add(durationNs)
  }

  /** @see CaptureSink */
  measured({ shape, place }: CapturedActivity): void {
    this.knownTimes(shape, place)?.addMeasured()
  }

  private knownTimes(shape: number, place: number): LaunchTally | null {
    const ofShape = (this.known[shape] ??= [])
    let times = ofShape[place]
    if (times === undefined) ofShape[place] = times = this.timesOf(shape, place)
    return times
  }

  private timesOf(shape: number, place: number): LaunchTally | null {
    const launch = this.names.shapes[shape]
    const number = this.names.places[place]?.device
    const device = this.names.devices.find((one) => one.number === number)
    return launch && this.takes(launch.kernel) ? this.sums.timesOf(launch, device) : null
  }
}
