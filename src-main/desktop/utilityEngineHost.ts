import { utilityProcess } from 'electron'
import { tailOf } from '../engine/engineHost'
import type { EngineHost } from '../engine/engineHost'
import type { FromEngine } from '../engine/engineProtocol'

/** Starts engines as Electron's utility processes: child_process.fork needs the runAsNode fuse, which is off. */
export function utilityEngineHost(modulePath: string): EngineHost {
  return {
    start() {
      const child = utilityProcess.fork(modulePath, [], {
        serviceName: 'blockscope engine',
        stdio: ['ignore', 'ignore', 'pipe']
      })
      const lastWords = tailOf(child.stderr)
      return {
        get pid() {
          return child.pid
        },
        send: (message) => child.postMessage(message),
        // Its own kill() asks by SIGTERM, which a busy engine does not hear.
        kill() {
          if (child.pid === undefined) child.kill()
          else process.kill(child.pid, 'SIGKILL')
        },
        onMessage: (listener) =>
          void child.on('message', (message: FromEngine) => listener(message)),
        onExit: (listener) =>
          void child.once('exit', (code) => listener(`exited with code ${code}`)),
        lastWords
      }
    }
  }
}
