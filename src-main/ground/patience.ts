/**
 * How long another process may be silent. Counted in ticks, not by a clock: while this machine sleeps, its clock is set, or
 * this process itself is busy, nothing can be heard, and none of that is the other's silence. After each tick what has
 * arrived meanwhile is read before the next.
 */
export class Patience {
  private readonly timer: NodeJS.Timeout
  private ticks = 0

  /** @param ms of silence after which `onEnd` is called, once; it keeps no process from ending */
  constructor(ms: number, onEnd: () => void) {
    const tickMs = Math.min(1000, ms / 4)
    // What is heard between two ticks is heard at the earlier one: one more.
    const most = Math.ceil(ms / tickMs) + 1
    this.timer = setInterval(() => {
      if (++this.ticks < most) return
      this.end()
      onEnd()
    }, tickMs)
    this.timer.unref()
  }

  /** A sign of life: it begins anew. */
  heard(): void {
    this.ticks = 0
  }

  end(): void {
    clearInterval(this.timer)
  }
}
