/**
 * The page's one way to the main side: a MessagePort in the desktop app, a WebSocket in a browser. Each call of `connect`
 * is one attempt; who calls it decides when to try again.
 */
import { RpcError, type Client } from '@shared/contract/methods'
import { subprotocol } from '@shared/rpc/frames'
import { connectPeer, type PeerClient } from '@shared/rpc/peer'
import { portWire } from '@shared/rpc/portWire'
import { socketWire } from '@shared/rpc/socketWire'
import { keepAlive } from './keepAlive'
import { plainCopy } from './plainCopy'
import { reloadOnNewToken, takeToken } from './token'

/** What the desktop app's preload script exposes: asks for a port, which then arrives as a message of this window. */
interface DesktopBridge {
  connect(): void
}

declare global {
  interface Window {
    readonly blockscope?: DesktopBridge
  }
}

const portTimeoutMs = 10_000

let token: string | undefined
reloadOnNewToken()

export const isDesktop = (): boolean => window.blockscope !== undefined

/**
 * Connects. Rejects with an RpcError: 'disconnected' when it may succeed later (the server is down or full), 'unavailable'
 * when it will not (the token is missing or of an earlier start).
 */
export async function connect(): Promise<PeerClient> {
  token ??= takeToken()
  const peer = window.blockscope
    ? connectPeer(portWire(await receivePort(window.blockscope)))
    : keepAlive(await openSocket(token))
  const call: Client['call'] = (method, input, options) =>
    peer.call(method, plainCopy(input), options)
  return { ...peer, call }
}

function receivePort(bridge: DesktopBridge): Promise<MessagePort> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timeout)
      window.removeEventListener('message', receive)
    }
    const receive = (event: MessageEvent) => {
      const [port] = event.ports
      if (event.source !== window || event.data !== 'blockscope:port' || !port) return
      stop()
      resolve(port)
    }
    const timeout = setTimeout(() => {
      stop()
      reject(new RpcError('disconnected', 'The main process of the app did not answer.'))
    }, portTimeoutMs)
    window.addEventListener('message', receive)
    bridge.connect()
  })
}

function openSocket(token: string | undefined): Promise<PeerClient> {
  if (token === undefined) return Promise.reject(new RpcError('unavailable', staleAddress))
  const url = new URL('rpc', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.hash = ''
  const socket = new WebSocket(url, [subprotocol, `token.${token}`])
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(connectPeer(socketWire(socket))), { once: true })
    socket.addEventListener('error', () => void whyRefused(token).then(reject), { once: true })
  })
}

const staleAddress =
  'This address has no valid token: it is one of an earlier start, or the page was reloaded. ' +
  'Open the address that "blockscope serve" printed.'

/** A browser does not say why a WebSocket was refused; the same address asked for by GET does. */
async function whyRefused(token: string): Promise<RpcError> {
  try {
    const response = await fetch(new URL('rpc', location.href), {
      headers: { Authorization: `Bearer ${token}` },
      cache: 'no-store'
    })
    if (response.status === 401) return new RpcError('unavailable', staleAddress)
    if (response.status === 503) return new RpcError('disconnected', await response.text())
    return new RpcError('disconnected', `The server did not accept the connection.`)
  } catch {
    return new RpcError('disconnected', 'The server cannot be reached.')
  }
}
