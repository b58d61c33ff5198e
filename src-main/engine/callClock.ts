/** Where the time of the engine's calls goes: by method, and by what each says that it is doing (its progress). */

export interface Spent {
  method: string
  /** '' until the call says what it does. */
  phase: string
  seconds: number
  calls: number
}

export class CallClock {
  private readonly spent = new Map<string, Spent>()

  constructor(private readonly now: () => number = () => performance.now() / 1000) {}

  /** Most time first. */
  get all(): Spent[] {
    return [...this.spent.values()].sort((a, b) => b.seconds - a.seconds)
  }

  /** Follows one call. How much of a phase is done, "compiling 7 of 24", makes no other phase of it. */
  begin(method: string): { phase(said: string): void; end(): void } {
    let phase = ''
    let since = this.now()
    const add = (): void => {
      const key = `${method}\n${phase}`
      const known = this.spent.get(key) ?? { method, phase, seconds: 0, calls: 0 }
      const seconds = known.seconds + this.now() - since
      this.spent.set(key, { ...known, seconds, calls: known.calls + 1 })
      since = this.now()
    }
    return {
      phase(said) {
        const name = said.replace(/ \d+ of \d+$/, '')
        if (name === phase) return
        add()
        phase = name
      },
      end: add
    }
  }
}
