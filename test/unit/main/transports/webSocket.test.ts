import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { maxMessageBytes } from '@shared/rpc/frames'
import { connectSocket, openSocket, serveSocket } from '../../../../src-main/transports/webSocket'
import { cleanUp, handlersWith, transports } from './support'

const overSocket = transports[2]![1]

afterEach(cleanUp)

describe('a WebSocket', () => {
  it('refuses an answer above the limit, and stays usable', async () => {
    const client = await overSocket(
      handlersWith({
        'runs.export': async () => ({ name: 'big', bytes: new Uint8Array(maxMessageBytes) }),
        'runs.list': async () => []
      })
    )
    await expect(client.call('runs.export', { id: 'a', as: 'json' })).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('64 MB')
    })
    expect(await client.call('runs.list', {})).toEqual([])
  })

  it('refuses input above the limit before it is sent', async () => {
    const client = await overSocket(handlersWith({}))
    await expect(
      client.call('runs.import', { name: 'big', bytes: new Uint8Array(maxMessageBytes) })
    ).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringContaining('64 MB') })
  })

  it('rejects with a sentence when nothing listens', async () => {
    await expect(connectSocket('ws://127.0.0.1:9/rpc', 'x')).rejects.toMatchObject({
      code: 'disconnected',
      message: expect.stringContaining('ws://127.0.0.1:9/rpc cannot be reached')
    })
  })
})

describe('a page that has gone silent', () => {
  it('is given up at the second ping', async () => {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, autoPong: false })
    const aborted = vi.fn()
    let served: WebSocket | undefined
    sockets.on('connection', (socket) => {
      served = socket
      serveSocket(
        socket,
        handlersWith({
          'files.watchOpened': (_input, { signal }) =>
            new Promise(() => signal.addEventListener('abort', aborted))
        }),
        { pingMs: 40 }
      )
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const client = await connectSocket(
      `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
      't'
    )
    const call = client.call('files.watchOpened', {})
    call.catch(() => {})
    // While it answers pings it is kept.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(aborted).not.toHaveBeenCalled()
    // Its pongs no longer arrive.
    served!.removeAllListeners('pong')
    await expect(call).rejects.toMatchObject({ code: 'disconnected' })
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1))
    http.close()
  })
})

describe('a server that has gone silent', () => {
  it('is given up at the second ping', async () => {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, autoPong: false })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
    const wire = await openSocket(url, 't', (opened) => opened, { pingMs: 40 })
    await new Promise((resolve) => wire.onClose(resolve))
    sockets.close()
    http.close()
  })
})
