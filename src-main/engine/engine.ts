/**
 * The parent's side of the engine process: starts it when it is first needed, carries calls, watches that it lives,
 * and starts a new one after it died. A dead engine costs the calls in flight and its sessions, nothing else.
 */
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
  lastSign: number
}

export interface EngineTimings {
  /** A call that gives no sign of life (progress or result) for this long has hung. */
  silenceMs: number
  /** An engine that does not answer a ping for this long has hung. */
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
  private lastPong = 0
  private watch: NodeJS.Timeout | undefined
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
    this.lastPong = Date.now()
    // Electron knows it only from the start to the end of the process.
    let { pid } = child
    child.onMessage((message) => {
      pid ??= child.pid
      this.receive(message)
    })
    child.onExit((how) => {
      if (pid !== undefined) void removeOperandsOf(pid)
      if (this.child === child) this.ended(this.endReason ?? this.describeExit(how, child))
    })
    this.watch = setInterval(() => this.checkSigns(), Math.min(1000, this.timings.pingMs / 3))
    this.watch.unref()
    this.configured = this.send('configure', this.options, {})
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
    return new Promise((resolve, reject) => {
      let lateCancel: NodeJS.Timeout | undefined
      const cancel = () => {
        child.send({ type: 'cancel', id })
        lateCancel = setTimeout(() => {
          const seconds = this.timings.cancelMs / 1000
          this.end(`The engine did not stop within ${seconds} s of a cancel and was ended.`)
        }, this.timings.cancelMs)
      }
      const settle = () => {
        clock.end()
        clearTimeout(lateCancel)
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
        lastSign: Date.now()
      })
      signal?.addEventListener('abort', cancel, { once: true })
      child.send({ type: 'call', id, method, input })
    })
  }

  private receive(message: FromEngine): void {
    this.lastPong = Date.now()
    if (message.type === 'pong') return
    const call = this.pending.get(message.id)
    if (!call) return
    call.lastSign = Date.now()
    if (message.type === 'progress') call.onProgress?.(message.fraction, message.phase)
    else if (message.type === 'result') call.resolve(message.value as never)
    else call.reject(new EngineError(message.code, message.message))
  }

  /** Ends an engine whose event loop stands still, or whose call has been silent for too long. */
  private checkSigns(): void {
    const now = Date.now()
    this.child?.send({ type: 'ping' })
    if (now - this.lastPong > this.timings.pingMs) {
      this.end(`The engine did not answer for ${this.timings.pingMs / 1000} s and was ended.`)
      return
    }
    for (const call of this.pending.values()) {
      if (now - call.lastSign > this.timings.silenceMs) {
        const seconds = this.timings.silenceMs / 1000
        this.end(
          `The work in the engine gave no sign of life for ${seconds} s; the engine was ended.`
        )
        return
      }
    }
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
    clearInterval(this.watch)
    this.endedCount++
    this.lastEnd = reason
    this.child = undefined
    this.configured = undefined
    for (const call of [...this.pending.values()])
      call.reject(new EngineError('engine-ended', reason))
  }
}
