/** What work on weights is given: the engine, a way to stop it, and someone to tell how far it is. */
import { UserError } from '@shared/errors'
import { EngineError, type Engine } from '../../engine/engine'
import type { EngineMethod, EngineMethods } from '../../engine/engineProtocol'

export interface WeightWork {
  engine: Engine
  signal: AbortSignal
  /** `fraction` of all there is to do, 0..1, and what is being done. */
  onProgress(fraction: number, activity: string): void
}

/** A person asked to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** A call of the engine whose troubles are a person's: a UserError in one sentence, or Stopped. */
export async function callEngine<M extends EngineMethod>(
  { engine, signal }: Pick<WeightWork, 'engine' | 'signal'>,
  method: M,
  input: EngineMethods[M]['input'],
  onProgress?: (fraction: number) => void
): Promise<EngineMethods[M]['output']> {
  try {
    return await engine.call(method, input, { signal, ...(onProgress ? { onProgress } : {}) })
  } catch (error) {
    if (signal.aborted) throw new Stopped('Stopped.', { cause: error })
    if (!(error instanceof EngineError) || error.code === 'internal') throw error
    const kind = error.code === 'usage' || error.code === 'unavailable' ? error.code : 'failed'
    throw new UserError(kind, error.message, { cause: error })
  }
}

/** Counts the bytes of steps that follow one another. */
export class Meter {
  private done = 0

  constructor(
    private readonly total: number,
    private readonly onProgress: WeightWork['onProgress']
  ) {}

  /** For the part `from`..`to` (0..1) of a step of so many bytes. */
  within(bytes: number, activity: string, from = 0, to = 1): (fraction: number) => void {
    return (fraction) =>
      this.onProgress(
        (this.done + bytes * (from + fraction * (to - from))) / Math.max(1, this.total),
        activity
      )
  }

  finish(bytes: number): void {
    this.done += bytes
  }
}
