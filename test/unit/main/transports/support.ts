import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MessageChannel } from 'node:worker_threads'
import { WebSocketServer } from 'ws'
import type { Handlers, Method } from '@shared/contract/methods'
import { maxMessageBytes } from '@shared/rpc/frames'
import type { PeerClient, ServeOptions } from '@shared/rpc/peer'
import type { PortLike } from '@shared/rpc/portWire'
import { connectInProcess } from '../../../../src-main/transports/inProcess'
import { connectPort, servePort } from '../../../../src-main/transports/messagePort'
import { connectSocket, serveSocket } from '../../../../src-main/transports/webSocket'

export type Connect = (handlers: Handlers, options?: ServeOptions) => Promise<PeerClient>

/** The handlers a test is about; any other method that is called fails the test by name. */
export function handlersWith(some: Partial<Handlers>): Handlers {
  const none = new Proxy(some, {
    get: (target, name) => Reflect.get(target, name),
    has: () => true,
    getOwnPropertyDescriptor: (target, name) =>
      Reflect.getOwnPropertyDescriptor(target, name) ?? {
        configurable: true,
        enumerable: true,
        value: () => Promise.reject(new Error(`${String(name)} is not part of this test`))
      }
  })
  return none as Handlers
}

const cleanups: (() => void)[] = []
export function cleanUp(): void {
  for (const cleanup of cleanups.splice(0)) cleanup()
}

async function overSocket(handlers: Handlers, options?: ServeOptions): Promise<PeerClient> {
  const http = createServer()
  const sockets = new WebSocketServer({ server: http, maxPayload: maxMessageBytes })
  sockets.on('connection', (socket) => serveSocket(socket, handlers, options))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const client = await connectSocket(
    `ws://127.0.0.1:${(http.address() as AddressInfo).port}/rpc`,
    'test'
  )
  cleanups.push(() => {
    client.close()
    for (const socket of sockets.clients) socket.terminate()
    http.close()
  })
  return client
}

async function overPort(handlers: Handlers, options?: ServeOptions): Promise<PeerClient> {
  const { port1, port2 } = new MessageChannel()
  servePort(port1 as unknown as PortLike, handlers, options)
  const client = connectPort(port2 as unknown as PortLike)
  cleanups.push(() => client.close())
  return client
}

/** Every way a caller reaches the handlers. */
export const transports: [string, Connect][] = [
  ['in process', async (handlers, options) => connectInProcess(handlers, options)],
  ['over a MessagePort', overPort],
  ['over a WebSocket', overSocket]
]

export const anyMethod = (name: string) => name as Method
