/**
 * The parent's side of the engine process: starts it when it is first needed, carries calls, watches that it lives,
 * and starts a new one after it died. A dead engine costs the calls in flight and its sessions, nothing else.
 */
import { Patience } from '../ground/patience'
import { CallClock } from './callClock'
import type { EngineChild, EngineHost } from './engineHost'
import type { EngineMethod, EngineMethods, EngineOptions, FromEngine } from './engineProtocol'
import type { NativeErrorCode } from './nativeBinding'
import { removeOperandsOf } from './operandsFolder'

/** What an engine call rejects with. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  constructor(
    /** 'engine-ended': the process died or hung and was ended; the next call starts a new one. */
    readonly code: NativeErrorCode | 'internal' | 'engine-ended',
    message: string
  ) {
    super(message)
  }
}

export interface CallOptions {
  signal?: AbortSignal
  onProgress?: (fraction: number, phase: string) => void
}

interface Pending {
  resolve(value: never): void
  reject(error: EngineError): void
  onProgress?: CallOptions['onProgress']
  silence: Patience
}

export interface EngineTimings {
  /** A call that gives no sign of life (progress or result) for this long has hung. */
  silenceMs: number
  /** An engine that has answered once and does not answer a ping for this long has hung. */
  pingMs: number
  /** Cancelled work must end within this time. */
  cancelMs: number
}

const standardTimings: EngineTimings = { silenceMs: 120_000, pingMs: 15_000, cancelMs: 10_000 }

export class Engine {
  private child: EngineChild | undefined
  private configured: Promise<unknown> | undefined
  private readonly pending = new Map<number, Pending>()
  private nextId = 1
  private pings: NodeJS.Timeout | undefined
  private standstill: Patience | undefined
  private endReason: string | undefined
  /** Where the time of calls went. */
  readonly clock = new CallClock()
  /** How many engine processes have ended: a session of an earlier one is gone. */
  endedCount = 0
  /** Why the last one ended, in a sentence. */
  lastEnd = ''

  constructor(
    private readonly host: EngineHost,
    private options: EngineOptions,
    private readonly timings: EngineTimings = standardTimings
  ) {}

  /** Process id of the running engine; undefined before the first call and after it ended. */
  get pid(): number | undefined {
    return this.child?.pid
  }

  /** Calls the engine, starting it if need be. Rejects with an EngineError. */
  async call<M extends EngineMethod>(
    method: M,
    input: EngineMethods[M]['input'],
    options: CallOptions = {}
  ): Promise<EngineMethods[M]['output']> {
    if (!this.child) this.start()
    await this.configured
    return this.send(method, input, options)
  }

  /** Ends the engine process, if there is one; the next call starts one with these options. */
  restartWith(options: EngineOptions): void {
    this.options = options
    this.close()
  }

  /** Ends the engine process; calls in flight reject. The next call starts a new one. */
  close(): void {
    this.end('The engine was closed.')
  }

  private start(): void {
    const child = this.host.start()
    this.child = child
    this.endReason = undefined
    // Electron knows it only from the start to the end of the process.
    let { pid } = child
    child.onMessage((message) => {
      pid ??= child.pid
      if (this.child !== child) return
      // Until its first word it starts, as slowly as disks are.
      this.standstill ??= this.watchItsLoop()
      this.receive(message)
    })
    child.onExit((how) => {
      if (pid !== undefined) void removeOperandsOf(pid)
      if (this.child === child) this.ended(this.endReason ?? this.describeExit(how, child))
    })
    const pause = Math.min(1000, this.timings.pingMs / 3)
    this.pings = setInterval(() => child.send({ type: 'ping' }), pause).unref()
    this.configured = this.send('configure', this.options, {})
  }

  private watchItsLoop(): Patience {
    const seconds = this.timings.pingMs / 1000
    return new Patience(this.timings.pingMs, () =>
      this.end(`The engine did not answer for ${seconds} s and was ended.`)
    )
  }

  private send<M extends EngineMethod>(
    method: M,
    input: EngineMethods[M]['input'],
    { signal, onProgress }: CallOptions
  ): Promise<EngineMethods[M]['output']> {
    const child = this.child
    if (!child) return Promise.reject(new EngineError('engine-ended', 'The engine has ended.'))
    if (signal?.aborted) return Promise.reject(new EngineError('cancelled', 'Cancelled.'))
    const id = this.nextId++
    const clock = this.clock.begin(method)
    const { silenceMs, cancelMs } = this.timings
    return new Promise((resolve, reject) => {
      let lateCancel: Patience | undefined
      const cancel = () => {
        child.send({ type: 'cancel', id })
        lateCancel = new Patience(cancelMs, () =>
          this.end(`The engine did not stop within ${cancelMs / 1000} s of a cancel and was ended.`)
        )
      }
      const silence = new Patience(silenceMs, () =>
        this.end(
          `The work in the engine gave no sign of life for ${silenceMs / 1000} s; the engine was ended.`
        )
      )
      const settle = () => {
        clock.end()
        silence.end()
        lateCancel?.end()
        signal?.removeEventListener('abort', cancel)
        this.pending.delete(id)
      }
      this.pending.set(id, {
        resolve: (value) => (settle(), resolve(value)),
        reject: (error) => (settle(), reject(error)),
        onProgress: (fraction, phase) => {
          clock.phase(phase)
          onProgress?.(fraction, phase)
        },
        silence
      })
      signal?.addEventListener('abort', cancel, { once: true })
      child.send({ type: 'call', id, method, input })
    })
  }

  private receive(message: FromEngine): void {
    this.standstill?.heard()
    if (message.type === 'pong') return
    const call = this.pending.get(message.id)
    if (!call) return
    call.silence.heard()
    if (message.type === 'progress') call.onProgress?.(message.fraction, message.phase)
    else if (message.type === 'result') call.resolve(message.value as never)
    else call.reject(new EngineError(message.code, message.message))
  }

  private describeExit(how: string, child: EngineChild): string {
    const words = child.lastWords()
    return `The engine ${how}.${words ? ` Its last words: ${words}` : ''}`
  }

  private end(reason: string): void {
    this.endReason = reason
    const child = this.child
    this.ended(reason)
    child?.kill()
  }

  private ended(reason: string): void {
    clearInterval(this.pings)
    this.standstill?.end()
    this.standstill = undefined
    this.endedCount++
    this.lastEnd = reason
    this.child = undefined
    this.configured = undefined
    for (const call of [...this.pending.values()])
      call.reject(new EngineError('engine-ended', reason))
  }
}
