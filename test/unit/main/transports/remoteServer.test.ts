/** The desktop app's way to a server elsewhere: a port of the page relayed to a real server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PortLike } from '@shared/rpc/portWire'
import { startServer, type RunningServer } from '../../../../src-main/server/server'
import { connectPort } from '../../../../src-main/transports/messagePort'
import { parseServerAddress, relayPort } from '../../../../src-main/transports/remoteServer'
import { handlersWith } from './support'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-remote-'))
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
let server: RunningServer
let aborted = 0

beforeAll(async () => {
  server = await startServer({
    handlers: handlersWith({
      'runs.list': async () => [],
      'files.watchOpened': (_input, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => aborted++))
    }),
    ...{ rendererFolder: folder, port: 0, host: '127.0.0.1', allowedHosts: [] }
  })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

function page(address: string) {
  const { port1, port2 } = new MessageChannel()
  const relayed = relayPort(port1 as unknown as PortLike, parseServerAddress(address))
  return { client: connectPort(port2 as unknown as PortLike), relayed }
}

describe('a page whose port is relayed to a server', () => {
  it('gets the answers of the server, its refusals too', async () => {
    const { client } = page(server.url)
    expect(await client.call('runs.list', {})).toEqual([])
    await expect(client.call('runs.get', { id: '../x' })).rejects.toMatchObject({
      code: 'invalid-input'
    })
    client.close()
  })

  it('is closed when it sends more than a server takes', async () => {
    const { client } = page(server.url)
    await client.call('runs.list', {})
    const closed = new Promise<string>((resolve) => client.onClose(resolve))
    const bytes = new Uint8Array(65 * 2 ** 20)
    await expect(client.call('runs.import', { name: 'x.json', bytes })).rejects.toThrow()
    await closed
  })

  it('ends its calls there when it goes', async () => {
    const { client } = page(server.url)
    const call = client.call('files.watchOpened', {}).catch(() => undefined)
    await client.call('runs.list', {})
    client.close()
    await call
    await expect.poll(() => aborted).toBe(1)
  })

  it('learns that the server went', async () => {
    const own = await startServer({
      handlers: handlersWith({ 'runs.list': async () => [] }),
      ...{ rendererFolder: folder, port: 0, host: '127.0.0.1', allowedHosts: [] }
    })
    const { client } = page(own.url)
    await client.call('runs.list', {})
    const closed = new Promise((resolve) => client.onClose(resolve))
    await own.close()
    await closed
  })

  it.each([
    ['a wrong token', () => server.url.replace(/#t=.*/, '#t=wrong')],
    ['no server', () => 'http://127.0.0.1:9/#t=abc']
  ])('is closed for %s', async (_what, address) => {
    const { client, relayed } = page(address())
    const closed = new Promise((resolve) => client.onClose(resolve))
    await expect(relayed).rejects.toThrow(/cannot be reached/)
    await closed
  })
})

describe('an address', () => {
  it('is taken as it is printed, also with a page in it', () => {
    const expected = { url: 'ws://127.0.0.1:7777/rpc', token: 'a-B_9', host: '127.0.0.1:7777' }
    expect(parseServerAddress(' http://127.0.0.1:7777/#t=a-B_9\n')).toEqual(expected)
    expect(parseServerAddress('http://127.0.0.1:7777/#t=a-B_9&/runs?run=1')).toEqual(expected)
    expect(parseServerAddress('http://[::1]:80/#t=x').url).toBe('ws://[::1]/rpc')
  })

  it.each([
    ['', /no address of a server/],
    ['hello', /Copy the one that "blockscope serve" printed/],
    ['https://127.0.0.1:7777/#t=abc', /no address/],
    ['http://127.0.0.1:7777/', /no address/],
    ['http://127.0.0.1.evil.example/#t=abc', /another machine/],
    ['http://gpu-box:7777/#t=abc', /ssh -N -L 7777:127.0.0.1:7777 gpu-box/]
  ])('%s is refused', (text, message) => {
    expect(() => parseServerAddress(text)).toThrow(message)
  })
})
