/** `blockscope serve`: the page and its WebSocket over HTTP, for a browser here or at the near end of an SSH tunnel. */
import { createReadStream } from 'node:fs'
import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Handlers } from '@shared/contract/methods'
import { UserError, messageOf } from '@shared/errors'
import { maxMessageBytes, subprotocol } from '@shared/rpc/frames'
import type { ServeOptions } from '@shared/rpc/peer'
import { resolvePageFile, securityHeaders } from '../transports/pageFiles'
import { serveSocket } from '../transports/webSocket'
import { hostNamesOf, refusalOf, rpcPath } from './gate'
import type { GateRules } from './gate'
import { createToken } from './token'

export const maxConnections = 8

export interface ServerOptions extends ServeOptions {
  handlers: Handlers
  /** The built page. */
  rendererFolder: string
  /** 0: any free port. */
  port: number
  host: string
  token?: string
  /** More names that the Host header may have. */
  allowedHosts: readonly string[]
}

export interface RunningServer {
  /** To open in a browser; its fragment holds the token, so it is a secret. */
  url: string
  port: number
  token: string
  close(): Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const token = options.token ?? createToken()
  const rules: GateRules = { token, hostNames: hostNamesOf(options.host, options.allowedHosts) }
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => subprotocol
  })
  const isFull = () => sockets.clients.size >= maxConnections

  const server = createServer((request, response) => {
    const path = pathOf(request)
    const refusal = refusalOf({ ...partsOf(request), path, isUpgrade: false }, rules)
    if (refusal) answer(response, refusal.status, refusal.message)
    else if (path !== rpcPath) sendFile(response, options.rendererFolder, path)
    else if (isFull()) answer(response, 503, fullMessage)
    else answer(response, 426, 'Calls are made over a WebSocket.')
  })
  server.on('upgrade', (request, socket, head) => {
    const path = pathOf(request)
    const refusal = refusalOf({ ...partsOf(request), path, isUpgrade: true }, rules)
    if (refusal) return refuseUpgrade(socket, refusal.status, refusal.message)
    if (isFull()) return refuseUpgrade(socket, 503, fullMessage)
    sockets.handleUpgrade(request, socket, head, (webSocket) =>
      serveSocket(webSocket, options.handlers, options)
    )
  })

  await listen(server, options)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${shownHost(options.host)}:${port}/#t=${token}`,
    port,
    token,
    close: () => close(server, sockets)
  }
}

const fullMessage = `${maxConnections} pages are connected; close one.`

const partsOf = ({ method, headers }: IncomingMessage) => ({ method, headers })
const pathOf = (request: IncomingMessage) => (request.url ?? '').split(/[?#]/)[0]!

function shownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function sendFile(response: ServerResponse, folder: string, path: string): void {
  const file = resolvePageFile(folder, path)
  if (!file) return answer(response, 404, 'There is no such file.')
  // Built file names hold a hash of the content; index.html names them and must be fresh.
  const isHashed = path.startsWith('/assets/')
  response.writeHead(200, {
    ...securityHeaders,
    'Content-Type': file.mediaType,
    'Cache-Control': isHashed ? 'private, max-age=31536000, immutable' : 'no-store'
  })
  createReadStream(file.path)
    .on('error', () => response.destroy())
    .pipe(response)
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    ...securityHeaders,
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store'
  })
  response.end(message)
}

function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  socket.on('error', () => {})
  const headers = { ...securityHeaders, Connection: 'close', 'Content-Type': 'text/plain' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${message}`
  )
}

async function listen(server: Server, { port, host }: ServerOptions): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    throw new UserError(
      'unavailable',
      taken
        ? `Port ${port} of ${host} is in use; choose another with --port, or 0 for any.`
        : `The server cannot listen on ${host} port ${port}: ${messageOf(error)}.`
    )
  }
}

async function close(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.close(1001, 'The server was stopped.')
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const terminate = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
  }, 1000)
  await closed
  clearTimeout(terminate)
}
