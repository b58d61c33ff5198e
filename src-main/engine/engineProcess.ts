/**
 * The engine process: loads the addon, owns the device, answers EngineMethods. A kernel that faults takes this process
 * with it and nothing else. Runs under child_process.fork, or under Electron as a utilityProcess.
 */
import type { EngineMethod, EngineMethods, FromEngine, ToEngine } from './engineProtocol'
import { loadAddon } from './loadAddon'
import type {
  NativeBinding,
  NativeCancelFlag,
  NativeErrorCode,
  NativeProgress,
  NativeSession
} from './nativeBinding'

interface ParentPort {
  on(event: 'message', listener: (event: { data: ToEngine }) => void): void
  postMessage(message: FromEngine): void
}

const parentPort = (process as { parentPort?: ParentPort }).parentPort

function send(message: FromEngine): void {
  if (parentPort) parentPort.postMessage(message)
  else process.send?.(message)
}

let loaded: NativeBinding | undefined
const addon = () => (loaded ??= loadAddon())

const sessions = new Map<number, NativeSession>()
let nextSession = 1

function session(id: number): NativeSession {
  const found = sessions.get(id)
  if (!found) throw new Error(`Session ${id} is not open.`)
  return found
}

type Implementation = {
  [M in EngineMethod]: (
    input: EngineMethods[M]['input'],
    cancel: NativeCancelFlag,
    onProgress: NativeProgress
  ) => Promise<EngineMethods[M]['output']>
}

const methods: Implementation = {
  async configure(options) {
    addon().configure(options)
    return { version: addon().version }
  },
  detect: () => addon().detect(),
  async open(request, cancel, onProgress) {
    const opened = await addon().open(request, cancel, onProgress)
    sessions.set(nextSession, opened)
    return nextSession++
  },
  validate: (input, cancel, onProgress) =>
    session(input.session).validate(input.request, cancel, onProgress),
  judge: (input, cancel, onProgress) =>
    session(input.session).judge(input.output, input.request, cancel, onProgress),
  measure: (input, cancel, onProgress) =>
    session(input.session).measure(input.request, cancel, onProgress),
  operands: (input) => session(input.session).operands(),
  async close(input) {
    const closing = session(input.session)
    sessions.delete(input.session)
    await closing.close()
    return null
  }
}

const running = new Map<number, NativeCancelFlag>()

const nativeCodes: readonly string[] = ['usage', 'unavailable', 'device', 'compile', 'cancelled']

/** The addon's code, or a UserError's kind; anything else is a fault of this program. */
function errorCode(code: unknown): NativeErrorCode | 'internal' {
  return nativeCodes.includes(String(code)) ? (code as NativeErrorCode) : 'internal'
}

async function call(id: number, method: EngineMethod, input: unknown): Promise<void> {
  try {
    const cancel = addon().createCancelFlag()
    running.set(id, cancel)
    const implementation = methods[method] as (
      input: unknown,
      cancel: NativeCancelFlag,
      onProgress: NativeProgress
    ) => Promise<unknown>
    const value = await implementation(input, cancel, (fraction, phase) =>
      send({ type: 'progress', id, fraction, phase })
    )
    send({ type: 'result', id, value })
  } catch (thrown) {
    const error = thrown as { code?: unknown; kind?: unknown; message?: string }
    const message = error.message ?? String(thrown)
    send({ type: 'error', id, code: errorCode(error.code ?? error.kind), message })
  } finally {
    running.delete(id)
  }
}

function receive(message: ToEngine): void {
  if (message.type === 'ping') send({ type: 'pong' })
  else if (message.type === 'cancel') running.get(message.id)?.cancel()
  else void call(message.id, message.method, message.input)
}

if (parentPort) parentPort.on('message', (event) => receive(event.data))
else {
  process.on('message', (message) => receive(message as ToEngine))
  // The parent is gone: nobody is left to report to.
  process.on('disconnect', () => process.exit(0))
}
