/** A wire over a MessagePort: of a browser page, of Node's worker_threads. Values travel by structured clone. */
import { messageOf } from '../errors'
import { FrameRefused } from './wire'
import type { Wire } from './wire'

/** The part of MessagePort that Node and browsers have in common. */
export interface PortLike {
  postMessage(value: unknown): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: () => void): void
  start(): void
  close(): void
}

export function portWire(port: PortLike): Wire {
  const closeListeners: ((reason: string) => void)[] = []
  let closed = false

  function closeWith(reason: string): void {
    if (closed) return
    closed = true
    port.close()
    for (const listener of closeListeners) listener(reason)
  }
  port.addEventListener('close', () => closeWith('The other side closed the connection.'))

  return {
    send(frame) {
      if (closed) return
      try {
        port.postMessage(frame)
      } catch (error) {
        throw new FrameRefused(`A value cannot be sent: ${messageOf(error)}`)
      }
    },
    onFrame(listener) {
      port.addEventListener('message', (event) => {
        if (!closed) listener(event.data)
      })
      port.start()
    },
    onClose: (listener) => void closeListeners.push(listener),
    close: closeWith,
    // A port has no measure of what waits in it; progress is thinned out to 10 Hz all the same.
    isCongested: () => false
  }
}
