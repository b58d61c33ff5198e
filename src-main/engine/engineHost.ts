import { fork } from 'node:child_process'
import type { FromEngine, ToEngine } from './engineProtocol'

/** A running engine process, however it was started. */
export interface EngineChild {
  readonly pid: number | undefined
  send(message: ToEngine): void
  kill(): void
  onMessage(listener: (message: FromEngine) => void): void
  /** Called once; `how` is a phrase: 'was ended by SIGKILL', 'exited with code 134'. */
  onExit(listener: (how: string) => void): void
  /** The last lines the process wrote to stderr. */
  lastWords(): string
}

/** Starts engine processes: child_process.fork under Node, utilityProcess under Electron (the runAsNode fuse is off). */
export interface EngineHost {
  start(): EngineChild
}

/** Keeps the end of a stream as text. */
export function tailOf(stream: NodeJS.ReadableStream | null, limit = 2000): () => string {
  let text = ''
  stream?.on('data', (chunk: Buffer | string) => {
    text = (text + String(chunk)).slice(-limit)
  })
  return () => text.trim()
}

export function forkedEngineHost(modulePath: string): EngineHost {
  return {
    start() {
      const child = fork(modulePath, [], {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc']
      })
      const lastWords = tailOf(child.stderr)
      // A send to a process that has just died fails here; its exit is what gets reported.
      child.on('error', () => {})
      return {
        pid: child.pid,
        send: (message) => void child.send(message, () => {}),
        kill: () => void child.kill('SIGKILL'),
        onMessage: (listener) =>
          void child.on('message', (message) => listener(message as FromEngine)),
        onExit: (listener) =>
          void child.once('exit', (code, signal) =>
            listener(signal ? `was ended by ${signal}` : `exited with code ${code}`)
          ),
        lastWords
      }
    }
  }
}
