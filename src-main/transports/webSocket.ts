import { WebSocket } from 'ws'
import type { Handlers } from '@shared/contract/methods'
import { RpcError } from '@shared/contract/methods'
import { maxMessageBytes, subprotocol } from '@shared/rpc/frames'
import { connectPeer, serve } from '@shared/rpc/peer'
import type { PeerClient, ServeOptions } from '@shared/rpc/peer'
import { socketWire } from '@shared/rpc/socketWire'
import type { SocketLike } from '@shared/rpc/socketWire'
import type { Wire } from '@shared/rpc/wire'

/** A side that has not answered a ping when the next one is due is gone. */
const pingIntervalMs = 15_000

/** Answers the calls that arrive on an open WebSocket, and ends it when the other side has gone silent. */
export function serveSocket(
  socket: WebSocket,
  handlers: Handlers,
  options: ServeOptions & { pingMs?: number } = {}
): void {
  endWhenSilent(socket, options.pingMs)
  serve(socketWire(socket as SocketLike), handlers, options)
}

function endWhenSilent(socket: WebSocket, pingMs = pingIntervalMs): void {
  let answered = true
  const pings = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, pingMs)
  pings.unref()
  socket.on('pong', () => (answered = true))
  socket.on('close', () => clearInterval(pings))
}

/** Connects to a `blockscope serve` from Node; `url` as 'ws://127.0.0.1:7777/rpc'. Rejects with an RpcError. */
export const connectSocket = (url: string, token: string): Promise<PeerClient> =>
  openSocket(url, token, connectPeer)

/** The server speaks first, so `use` gets the wire in the moment that it opens; a listener that comes later misses that. */
export function openSocket<T>(
  url: string,
  token: string,
  use: (wire: Wire) => T,
  { pingMs }: { pingMs?: number } = {}
): Promise<T> {
  const socket = new WebSocket(url, [subprotocol, `token.${token}`], {
    maxPayload: maxMessageBytes,
    perMessageDeflate: false
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      // A broken tunnel says nothing.
      endWhenSilent(socket, pingMs)
      resolve(use(socketWire(socket as SocketLike)))
    })
    socket.once('error', (error) =>
      reject(new RpcError('disconnected', `${url} cannot be reached: ${error.message}`))
    )
  })
}
