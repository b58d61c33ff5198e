/**
 * Both ends of a wire: `serve` answers calls with handlers, `connectPeer` makes them. Whatever arrives is parsed by the
 * contract's schema first: input where it is served, progress and output where it was called.
 */
import * as v from 'valibot'
import { contract, RpcError } from '../contract/methods'
import type { CallContext, Client, Handlers, Method, RpcErrorCode } from '../contract/methods'
import { messageOf, UserError } from '../errors'
import type { UserErrorKind } from '../errors'
import { describeIssues } from '../schemaWords'
import { hello, protocolVersion, requestFrameSchema, responseFrameSchema } from './frames'
import type { Hello, RequestFrame, ResponseFrame } from './frames'
import { ProgressGate } from './progressGate'
import { FrameRefused } from './wire'
import type { Wire } from './wire'

export interface ServeOptions {
  /** Told of errors that are no one's input: a place for the stack, which never crosses the wire. */
  onInternalError?: (method: string, error: unknown) => void
}

export interface PeerClient extends Client {
  /** What the other side says it is; rejects when the wire closes before. */
  readonly hello: Promise<Hello>
  close(): void
  /** Called once, at once if the wire is closed already. */
  onClose(listener: (reason: string) => void): void
}

type AnyHandler = (input: unknown, context: CallContext<Method>) => Promise<unknown>

const codeOfKind: Record<UserErrorKind, RpcErrorCode> = {
  usage: 'invalid-input',
  failed: 'failed',
  unavailable: 'unavailable'
}

function differentProtocol(other: number): string {
  return (
    `The page speaks version ${protocolVersion} of the protocol and the program version ${other}. ` +
    'Reload the page, or start both from the same installation.'
  )
}

const schemasOf = (method: Method) =>
  contract[method] as {
    input: v.GenericSchema
    output: v.GenericSchema
    progress?: v.GenericSchema
  }

function parse(schema: v.GenericSchema, value: unknown, what: string, code: RpcErrorCode): unknown {
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  throw new RpcError(code, `${what}: ${describeIssues(parsed.issues)}`)
}

/** Answers the calls that arrive on a wire until it closes; then the calls still running are aborted. */
export function serve(wire: Wire, handlers: Handlers, options: ServeOptions = {}): void {
  const running = new Map<number, AbortController>()

  function send(frame: ResponseFrame): void {
    try {
      wire.send(frame)
    } catch (error) {
      if (!(error instanceof FrameRefused) || frame.type === 'err' || frame.type === 'hello')
        throw error
      if (frame.type === 'prog') running.get(frame.id)?.abort()
      wire.send({ type: 'err', id: frame.id, code: 'failed', message: error.message })
    }
  }

  function asRpcError(method: string, error: unknown, signal: AbortSignal): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof UserError) return new RpcError(codeOfKind[error.kind], error.message)
    if (signal.aborted) return new RpcError('cancelled', `${method} was cancelled.`)
    options.onInternalError?.(method, error)
    return new RpcError('internal', `${method} failed: ${messageOf(error)}`)
  }

  async function run(id: number, method: string, input: unknown): Promise<void> {
    const abort = new AbortController()
    const { signal } = abort
    const answer = (frame: ResponseFrame) => {
      if (running.get(id) === abort) send(frame)
    }
    const gate = new ProgressGate(
      (value) => answer({ type: 'prog', id, value }),
      () => wire.isCongested()
    )
    running.set(id, abort)
    try {
      if (!Object.hasOwn(contract, method) || !Object.hasOwn(handlers, method))
        throw new RpcError('unknown-method', `There is no method "${method.slice(0, 80)}".`)
      const name = method as Method
      const parsed = parse(schemasOf(name).input, input, name, 'invalid-input')
      const progress = (value: unknown) => {
        if (!signal.aborted) gate.push(value)
      }
      const value = await (handlers[name] as AnyHandler)(parsed, { signal, progress })
      gate.flush()
      answer({ type: 'ok', id, value })
    } catch (error) {
      gate.flush()
      const { code, message } = asRpcError(method, error, signal)
      answer({ type: 'err', id, code, message })
    } finally {
      gate.close()
      if (running.get(id) === abort) running.delete(id)
    }
  }

  function receive(frame: RequestFrame): void {
    if (frame.type === 'cancel') running.get(frame.id)?.abort()
    else if (frame.type === 'hello') {
      if (frame.protocol !== protocolVersion) wire.close(differentProtocol(frame.protocol))
    } else if (running.has(frame.id)) wire.close(`Call ${frame.id} is already running.`)
    else void run(frame.id, frame.method, frame.input)
  }

  wire.onClose(() => {
    const controllers = [...running.values()]
    running.clear()
    for (const controller of controllers) controller.abort()
  })
  wire.onFrame((raw) => {
    const frame = v.safeParse(requestFrameSchema, raw)
    if (frame.success) receive(frame.output)
    else wire.close(`What arrived is not a frame: ${describeIssues(frame.issues)}`)
  })
  send(hello)
}

interface PendingCall {
  method: Method
  onProgress: ((value: never) => void) | undefined
  resolve(value: never): void
  reject(error: RpcError): void
}

/** Makes calls over a wire. Every call rejects with an RpcError, with 'disconnected' once the wire is closed. */
export function connectPeer(wire: Wire): PeerClient {
  const pending = new Map<number, PendingCall>()
  const closeListeners: ((reason: string) => void)[] = []
  let nextId = 1
  let closedBecause: string | undefined
  let greeted: (hello: Hello) => void
  let neverGreeted: (error: RpcError) => void
  const greeting = new Promise<Hello>((resolve, reject) => {
    greeted = resolve
    neverGreeted = reject
  })
  // Whoever does not ask for the greeting still learns of a closed wire from its calls.
  greeting.catch(() => {})

  function settle(id: number): PendingCall | undefined {
    const call = pending.get(id)
    pending.delete(id)
    return call
  }

  /** Parses what a call got; a value that does not fit ends the call. */
  function accept(id: number, kind: 'progress' | 'output', value: unknown): void {
    const call = pending.get(id)
    if (!call) return
    const schema = schemasOf(call.method)[kind] ?? v.never('This method reports no progress.')
    try {
      const parsed = parse(schema, value, `The ${kind} of ${call.method}`, 'internal')
      if (kind === 'progress') call.onProgress?.(parsed as never)
      else settle(id)?.resolve(parsed as never)
    } catch (error) {
      if (kind === 'progress') wire.send({ type: 'cancel', id })
      settle(id)?.reject(
        error instanceof RpcError ? error : new RpcError('internal', messageOf(error))
      )
    }
  }

  function receive(frame: ResponseFrame): void {
    if (frame.type === 'prog') accept(frame.id, 'progress', frame.value)
    else if (frame.type === 'ok') accept(frame.id, 'output', frame.value)
    else if (frame.type === 'err') settle(frame.id)?.reject(new RpcError(frame.code, frame.message))
    else if (frame.protocol === protocolVersion) greeted(frame)
    else wire.close(differentProtocol(frame.protocol))
  }

  wire.onFrame((raw) => {
    const frame = v.safeParse(responseFrameSchema, raw)
    if (frame.success) receive(frame.output)
    else wire.close(`What arrived is not a frame: ${describeIssues(frame.issues)}`)
  })
  wire.onClose((reason) => {
    closedBecause = reason
    const calls = [...pending.values()]
    pending.clear()
    const error = new RpcError('disconnected', reason)
    for (const call of calls) call.reject(error)
    neverGreeted(error)
    for (const listener of closeListeners) listener(reason)
  })
  wire.send(hello)

  const call: Client['call'] = (method, input, { signal, onProgress } = {}) => {
    if (closedBecause !== undefined)
      return Promise.reject(new RpcError('disconnected', closedBecause))
    if (signal?.aborted)
      return Promise.reject(new RpcError('cancelled', `${method} was cancelled.`))
    const id = nextId++
    return new Promise((resolve, reject) => {
      const cancel = () => {
        if (!settle(id)) return
        wire.send({ type: 'cancel', id })
        reject(new RpcError('cancelled', `${method} was cancelled.`))
      }
      const forget = () => signal?.removeEventListener('abort', cancel)
      pending.set(id, {
        method,
        onProgress,
        resolve: (value) => (forget(), resolve(value)),
        reject: (error) => (forget(), reject(error))
      })
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        wire.send({ type: 'req', id, method, input })
      } catch (error) {
        settle(id)?.reject(new RpcError('invalid-input', messageOf(error)))
      }
    })
  }

  return {
    call,
    hello: greeting,
    close: () => wire.close('The connection was closed.'),
    onClose(listener) {
      if (closedBecause === undefined) closeListeners.push(listener)
      else listener(closedBecause)
    }
  }
}
