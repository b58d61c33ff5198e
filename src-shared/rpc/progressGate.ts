/** How often figures that replace one another are sent: more is not readable. */
export const progressIntervalMs = 100

/** True for a value of which only the newest matters: { type: 'progress', ... }. Every other event is kept. */
function isReplaceable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'progress'
  )
}

/** Thins out 'progress' events of one call to 10 Hz, and further while the wire is congested; keeps the order of all. */
export class ProgressGate {
  private held: { value: unknown } | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly send: (value: unknown) => void,
    private readonly isCongested: () => boolean
  ) {}

  push(value: unknown): void {
    if (!isReplaceable(value)) {
      this.flush()
      this.send(value)
    } else if (this.timer === undefined && !this.isCongested()) {
      this.send(value)
      this.wait()
    } else {
      this.held = { value }
      if (this.timer === undefined) this.wait()
    }
  }

  /** Sends what is held back. */
  flush(): void {
    const { held } = this
    this.held = undefined
    if (held) this.send(held.value)
  }

  close(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.held = undefined
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      this.timer = undefined
      if (!this.held) return
      if (!this.isCongested()) this.flush()
      this.wait()
    }, progressIntervalMs)
  }
}
