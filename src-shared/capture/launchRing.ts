/**
 * Launches by correlation id until their records come. Ids count up, so a launch lies at its id modulo the size and stays until
 * another takes its place. The ring grows while launches wait, to a bound: beyond it the oldest are given up.
 */
export class LaunchRing {
  private size: number
  /** Launches whose record has not come. */
  private waiting = 0
  private correlation!: Uint32Array
  /** Of each slot: free, waiting for its record, or matched. */
  private state!: Uint8Array
  path!: Uint32Array
  thread!: Uint32Array
  startNs!: Float64Array
  event!: Int32Array

  constructor(
    size = 1 << 16,
    private readonly mostSize = 1 << 22
  ) {
    this.size = size
    this.allocate(size)
  }

  /** @returns the launch's slot, whose columns are to be filled; they may be others than before */
  add(correlation: number): number {
    let slot = correlation & (this.size - 1)
    // One that waits alone since a whole turn has lost its record; where many wait, the device is behind.
    while (
      this.state[slot] === waiting &&
      this.waiting * 2 >= this.size &&
      this.size < this.mostSize
    ) {
      this.grow()
      slot = correlation & (this.size - 1)
    }
    if (this.state[slot] !== waiting) this.waiting++
    this.correlation[slot] = correlation
    this.state[slot] = waiting
    return slot
  }

  /** The slot of a launch; -1 where it is not known or was given up. */
  find(correlation: number): number {
    const slot = correlation & (this.size - 1)
    return this.state[slot] !== free && this.correlation[slot] === correlation ? slot : -1
  }

  /** @returns whether a record of the launch came before */
  match(slot: number): boolean {
    const isAgain = this.state[slot] === matched
    if (!isAgain) this.waiting--
    this.state[slot] = matched
    return isAgain
  }

  private allocate(size: number): void {
    this.correlation = new Uint32Array(size)
    this.state = new Uint8Array(size)
    this.path = new Uint32Array(size)
    this.thread = new Uint32Array(size)
    this.startNs = new Float64Array(size)
    this.event = new Int32Array(size)
  }

  private grow(): void {
    const before = { ...this } as LaunchRing
    const { correlation, state } = this
    const count = this.size
    this.size *= 2
    this.allocate(this.size)
    for (let from = 0; from < count; from++) {
      if (state[from] === free) continue
      const to = correlation[from]! & (this.size - 1)
      this.correlation[to] = correlation[from]!
      this.state[to] = state[from]!
      this.path[to] = before.path[from]!
      this.thread[to] = before.thread[from]!
      this.startNs[to] = before.startNs[from]!
      this.event[to] = before.event[from]!
    }
  }
}

const free = 0
const waiting = 1
const matched = 2
