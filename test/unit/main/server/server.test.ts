import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startServer } from '../../../../src-main/server/server'
import type { RunningServer } from '../../../../src-main/server/server'
import { connectSocket } from '../../../../src-main/transports/webSocket'
import { handlersWith } from '../transports/support'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-server-'))
const rendererFolder = join(folder, 'renderer')
let server: RunningServer
let aborted = 0

beforeAll(async () => {
  mkdirSync(join(rendererFolder, 'assets'), { recursive: true })
  writeFileSync(join(rendererFolder, 'index.html'), '<!doctype html>page')
  writeFileSync(join(rendererFolder, 'assets', 'index-abc.js'), 'export {}')
  writeFileSync(join(rendererFolder, '.secret.json'), '{}')
  writeFileSync(join(rendererFolder, 'notes.txt'), 'not a page file')
  writeFileSync(join(folder, 'outside.json'), '{"outside":true}')
  symlinkSync(join(folder, 'outside.json'), join(rendererFolder, 'link.json'))
  server = await startServer({
    handlers: handlersWith({
      'runs.list': async () => [],
      'files.watchOpened': (_input, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => aborted++))
    }),
    rendererFolder,
    port: 0,
    host: '127.0.0.1',
    allowedHosts: []
  })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

/** A request with its path exactly as given: fetch would tidy it up. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>(
    (resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: server.port, path, method, headers },
        (response) => {
          let text = ''
          response.on('data', (chunk) => (text += chunk))
          response.on('end', () =>
            resolve({ status: response.statusCode!, headers: response.headers, text })
          )
        }
      )
      sent.on('error', reject)
      sent.end()
    }
  )
}

const upgradeStatus = (protocols: string[], headers: Record<string, string> = {}) =>
  new Promise<number>((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`, protocols, { headers })
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!))
    socket.on('error', () => {})
    socket.on('open', () => {
      socket.close()
      resolve(101)
    })
  })

const connect = () => connectSocket(`ws://127.0.0.1:${server.port}/rpc`, server.token)

describe('the page', () => {
  it('is served with the whole policy, and says nothing of the token', async () => {
    const answer = await get('/')
    expect(answer.status).toBe(200)
    expect(answer.text).toBe('<!doctype html>page')
    expect(answer.text + JSON.stringify(answer.headers)).not.toContain(server.token)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin'
    })
    const policy = String(answer.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it('has its hashed files cached', async () => {
    const answer = await get('/assets/index-abc.js')
    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(answer.headers['cache-control']).toContain('immutable')
  })

  it.each([
    '/../outside.json',
    '/assets/../../outside.json',
    '/%2e%2e/outside.json',
    '/..%2foutside.json',
    '/%252e%252e/outside.json',
    '//outside.json',
    '/assets//index-abc.js',
    '/..\\outside.json',
    '/link.json',
    '/.secret.json',
    '/notes.txt',
    '/assets',
    '/index.html%00.js',
    '/%',
    '/nothing.js',
    'http://127.0.0.1/outside.json',
    '*'
  ])('does not give out %s', async (path) => {
    const answer = await get(path)
    expect(answer.status).toBe(404)
    expect(answer.text).not.toContain('outside":true')
    expect(answer.headers['content-security-policy']).toBeDefined()
  })
})

describe('the gate', () => {
  it('stands before every answer', async () => {
    expect((await get('/', { Host: 'evil.example' })).status).toBe(421)
    expect((await get('/', { Origin: 'http://evil.example' })).status).toBe(403)
    expect((await get('/rpc')).status).toBe(401)
    expect((await get('/', {}, 'POST')).status).toBe(405)
    expect((await get('/rpc', { Authorization: `Bearer ${server.token}` })).status).toBe(426)
  })

  it('answers a WebSocket before it is upgraded', async () => {
    const good = ['blockscope.v1', `token.${server.token}`]
    expect(await upgradeStatus(['blockscope.v1'])).toBe(401)
    expect(await upgradeStatus(['blockscope.v1', 'token.wrong'])).toBe(401)
    expect(await upgradeStatus(good, { Origin: 'http://evil.example' })).toBe(403)
    expect(await upgradeStatus(good, { Host: 'evil.example' })).toBe(421)
    expect(await upgradeStatus(good)).toBe(101)
  })
})

describe('connections', () => {
  it('end at the ninth, and one that closes makes room', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, connect))
    const watching = Promise.allSettled(
      clients.map((client) => client.call('files.watchOpened', {}))
    )
    await Promise.all(clients.map((client) => client.call('runs.list', {})))
    await expect(connect()).rejects.toMatchObject({ message: expect.stringContaining('503') })
    const probe = await get('/rpc', { Authorization: `Bearer ${server.token}` })
    expect([probe.status, probe.text]).toEqual([503, '8 pages are connected; close one.'])
    clients[0]!.close()
    await vi.waitFor(() => expect(aborted).toBe(1))
    const late = await vi.waitFor(connect)
    expect(await late.call('runs.list', {})).toEqual([])
    for (const client of [...clients, late]) client.close()
    await watching
  })
})

it('the token lasts as long as the server: a page that lost its connection presents it again', async () => {
  for (let time = 0; time < 3; time++) {
    const page = await vi.waitFor(connect)
    expect(await page.call('runs.list', {})).toEqual([])
    page.close()
  }
  const security = readFileSync('docs/security.md', 'utf8')
  expect(security).toContain('lasts as long as the server runs')
  expect(readFileSync('README.md', 'utf8') + security).not.toMatch(/one-time/)
})

describe('starting', () => {
  it('says when the port is taken', async () => {
    const again = startServer({
      handlers: handlersWith({}),
      rendererFolder,
      port: server.port,
      host: '127.0.0.1',
      allowedHosts: []
    })
    await expect(again).rejects.toThrow(
      `Port ${server.port} of 127.0.0.1 is in use; choose another`
    )
  })

  it('gives an address with the token in the fragment, which is never sent', () => {
    const url = new URL(server.url)
    expect(url.hash).toBe(`#t=${server.token}`)
    expect(url.search).toBe('')
    expect(url.hostname).toBe('127.0.0.1')
  })
})

it('stopping tells the pages and frees the port', async () => {
  const own = await startServer({
    handlers: handlersWith({ 'files.watchOpened': () => new Promise(() => {}) }),
    rendererFolder,
    port: 0,
    host: '127.0.0.1',
    allowedHosts: []
  })
  const client = await connectSocket(`ws://127.0.0.1:${own.port}/rpc`, own.token)
  const call = client.call('files.watchOpened', {})
  call.catch(() => {})
  await own.close()
  await expect(call).rejects.toMatchObject({
    code: 'disconnected',
    message: 'The server was stopped.'
  })
  await expect(connectSocket(`ws://127.0.0.1:${own.port}/rpc`, own.token)).rejects.toThrow()
})
