import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { hostNamesOf, refusalOf } from '../../../../src-main/server/gate'
import { createToken } from '../../../../src-main/server/token'

const token = createToken()
const rules = { token, hostNames: hostNamesOf('127.0.0.1', ['gpu-box.lan']) }
const good = `blockscope.v1, token.${token}`
const host = '127.0.0.1:7777'
const origin = `http://${host}`

const page = (headers: IncomingHttpHeaders, path = '/', method = 'GET') =>
  refusalOf({ method, path, headers, isUpgrade: false }, rules)?.status ?? 'passes'
const socket = (headers: IncomingHttpHeaders, path = '/rpc', method = 'GET') =>
  refusalOf({ method, path, headers, isUpgrade: true }, rules)?.status ?? 'passes'

describe('the Host name', () => {
  it.each(['127.0.0.1', '127.0.0.1:7777', 'LOCALHOST:9000', '[::1]:80', 'gpu-box.lan:7777'])(
    'passes as %s, with any port, so that a tunnel works',
    (name) => expect(page({ host: name })).toBe('passes')
  )
  it.each([
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example:7777',
    '127.0.0.1@evil.example',
    '127.0.0.1:7777:1',
    '127.1',
    '[::2]',
    '[::1',
    ' 127.0.0.1',
    '127.0.0.1/'
  ])('is refused as "%s"', (name) => expect(page({ host: name })).toBe(421))
  it('is refused when there is none', () => expect(page({})).toBe(421))
  it('comes before origin and token', () =>
    expect(socket({ host: 'evil.example', origin: 'http://evil.example' })).toBe(421))
})

describe('the Origin', () => {
  it.each([
    'http://evil.example',
    'https://127.0.0.1:7777',
    'http://127.0.0.1:8888',
    'http://127.0.0.1',
    'http://localhost:7777',
    'null',
    `${origin}/`,
    `${origin}, http://evil.example`
  ])('%s is refused even with the right token', (other) =>
    expect(socket({ host, origin: other, 'sec-websocket-protocol': good })).toBe(403)
  )
  it('of the page itself passes', () =>
    expect(socket({ host, origin, 'sec-websocket-protocol': good })).toBe('passes'))
  it('may be absent for a program that has the token', () =>
    expect(socket({ host, 'sec-websocket-protocol': good })).toBe('passes'))
  it('may not be absent from a browser', () =>
    expect(socket({ host, 'sec-fetch-site': 'same-origin', 'sec-websocket-protocol': good })).toBe(
      403
    ))
  it('is checked before the token', () =>
    expect(socket({ host, origin: 'http://evil.example' })).toBe(403))
})

describe('the token', () => {
  it.each([
    ['missing', undefined],
    ['empty', 'blockscope.v1, token.'],
    ['another', `blockscope.v1, token.${createToken()}`],
    ['cut short', `blockscope.v1, token.${token.slice(0, -1)}`],
    ['too long', `blockscope.v1, token.${token}a`],
    ['without its prefix', `blockscope.v1, ${token}`]
  ])('%s is refused', (_name, protocols) =>
    expect(socket({ host, origin, 'sec-websocket-protocol': protocols })).toBe(401)
  )
  it('passes as a bearer', () =>
    expect(
      socket({
        host,
        authorization: `Bearer ${token}`,
        'sec-websocket-protocol': 'blockscope.v1'
      })
    ).toBe('passes'))
  it('is asked of a plain GET of /rpc too', () => {
    expect(page({ host }, '/rpc')).toBe(401)
    expect(page({ host, authorization: `Bearer ${token}` }, '/rpc')).toBe('passes')
  })
  it('is not asked for the page, which holds no secret', () =>
    expect(page({ host }, '/index.html')).toBe('passes'))
  it('in a cookie or a query counts for nothing', () =>
    expect(socket({ host, origin, cookie: `token=${token}` })).toBe(401))
  it('has 256 bits', () => {
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(createToken()).not.toBe(token)
  })
})

describe('anything but the page and its calls', () => {
  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])('%s is refused', (method) =>
    expect(page({ host }, '/', method)).toBe(405)
  )
  it('a WebSocket elsewhere is refused', () =>
    expect(socket({ host, origin, 'sec-websocket-protocol': good }, '/other')).toBe(400))
  it('another subprotocol is refused', () =>
    expect(
      socket({ host, origin, 'sec-websocket-protocol': `blockscope.v9, token.${token}` })
    ).toBe(400))
})

it('a host that is not loopback is a name of its own; a wildcard adds none', () => {
  expect(hostNamesOf('192.168.1.5', []).has('192.168.1.5')).toBe(true)
  expect(hostNamesOf('fd00::1', []).has('[fd00::1]')).toBe(true)
  expect([...hostNamesOf('0.0.0.0', [])]).toEqual(['127.0.0.1', 'localhost', '[::1]'])
})
