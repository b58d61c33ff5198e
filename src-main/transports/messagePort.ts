import type { Handlers } from '@shared/contract/methods'
import { connectPeer, serve } from '@shared/rpc/peer'
import type { PeerClient, ServeOptions } from '@shared/rpc/peer'
import { portWire } from '@shared/rpc/portWire'
import type { PortLike } from '@shared/rpc/portWire'

/** Electron's MessagePortMain: an event emitter whose events carry `data` as those of a page's port do. */
export interface MainPortLike {
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown
  on(event: 'close', listener: () => void): unknown
  postMessage(value: unknown): void
  start(): void
  close(): void
}

/** Answers the calls that arrive on a port: one of Node's, or Electron's. */
export function servePort(
  port: PortLike | MainPortLike,
  handlers: Handlers,
  options?: ServeOptions
): void {
  serve(portWire('addEventListener' in port ? port : asPort(port)), handlers, options)
}

export function connectPort(port: PortLike): PeerClient {
  return connectPeer(portWire(port))
}

/** Electron's port with the methods of a page's. */
export function asPort(port: MainPortLike): PortLike {
  return {
    postMessage: (value) => port.postMessage(value),
    addEventListener: (type: 'message' | 'close', listener: (event: { data: unknown }) => void) =>
      void (type === 'message'
        ? port.on('message', listener)
        : port.on('close', () => (listener as () => void)())),
    start: () => port.start(),
    close: () => port.close()
  }
}
