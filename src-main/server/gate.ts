/**
 * Who may talk to the server. The checks stand in this order: the Host name is one of our own, which defeats DNS
 * rebinding and makes the next check mean something; the Origin is that host; the token is right. docs/security.md says
 * what each is for.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { subprotocol } from '@shared/rpc/frames'
import { isToken } from './token'

export interface GateRules {
  token: string
  /** Lower case, without port; IPv6 in brackets. */
  hostNames: ReadonlySet<string>
}

export interface GateRequest {
  method: string | undefined
  /** The path alone. */
  path: string
  headers: IncomingHttpHeaders
  isUpgrade: boolean
}

export interface Refusal {
  status: 400 | 401 | 403 | 405 | 421
  message: string
}

export const rpcPath = '/rpc'

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']

export function hostNamesOf(host: string, allowedHosts: readonly string[]): Set<string> {
  const isWildcard = host === '0.0.0.0' || host === '::'
  const own = isWildcard ? [] : [host.includes(':') ? `[${host}]` : host]
  return new Set([...loopbackNames, ...own, ...allowedHosts].map((name) => name.toLowerCase()))
}

/** What is wrong with a request; undefined when it may pass. */
export function refusalOf(request: GateRequest, rules: GateRules): Refusal | undefined {
  const { headers, path, isUpgrade } = request
  const isCall = path === rpcPath
  const host = headers.host?.toLowerCase() ?? ''
  const name = /^(\[[\da-f:.]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/.exec(host)?.[1]
  if (name === undefined || !rules.hostNames.has(name))
    return {
      status: 421,
      message: 'This server does not answer to that host name. Allow it with --allowed-host.'
    }
  if (headers.origin !== undefined && headers.origin.toLowerCase() !== `http://${host}`)
    return { status: 403, message: 'Pages of another origin may not use this server.' }
  // A browser's WebSocket always names its origin; without one only a program with the token may pass.
  if (isUpgrade && headers.origin === undefined && hasFetchMetadata(headers))
    return { status: 403, message: 'A browser must name its origin.' }
  if (isCall && !presentsToken(headers, rules.token))
    return { status: 401, message: 'The token is missing or wrong.' }
  if (request.method !== 'GET') return { status: 405, message: 'Only GET is answered.' }
  if (isUpgrade && !isCall) return { status: 400, message: `WebSockets are served at ${rpcPath}.` }
  if (isUpgrade && !protocolsOf(headers).includes(subprotocol))
    return { status: 400, message: `The subprotocol ${subprotocol} is expected.` }
  return undefined
}

const hasFetchMetadata = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => name.startsWith('sec-fetch-'))

const protocolsOf = (headers: IncomingHttpHeaders): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())

function presentsToken(headers: IncomingHttpHeaders, token: string): boolean {
  const bearer = /^Bearer ([\w-]+)$/.exec(headers.authorization ?? '')?.[1]
  const protocol = protocolsOf(headers).find((name) => name.startsWith('token.'))
  const candidate = bearer ?? protocol?.slice('token.'.length)
  return candidate !== undefined && isToken(token, candidate)
}
