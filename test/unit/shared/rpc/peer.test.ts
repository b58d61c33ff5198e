import { describe, expect, it, vi } from 'vitest'
import type { Handlers } from '@shared/contract/methods'
import { connectPeer, serve } from '@shared/rpc/peer'
import type { Wire } from '@shared/rpc/wire'

/** A wire whose other side is the test. */
function testWire() {
  let onFrame: (frame: unknown) => void = () => {}
  let onClose: (reason: string) => void = () => {}
  const sent: unknown[] = []
  const close = vi.fn((reason: string) => onClose(reason))
  const wire: Wire = {
    send: (frame) => void sent.push(frame),
    onFrame: (listener) => (onFrame = listener),
    onClose: (listener) => (onClose = listener),
    close,
    isCongested: () => false
  }
  return { wire, sent, close, receive: (frame: unknown) => onFrame(frame) }
}

const noHandlers = {} as Handlers

describe.each([
  ['null', null],
  ['text', 'req'],
  ['an unknown type', { type: 'eval', id: 1 }],
  ['an id that is no number', { type: 'req', id: '1', method: 'runs.list', input: {} }],
  ['an id of zero', { type: 'cancel', id: 0 }],
  ['a method that is no text', { type: 'req', id: 1, method: {}, input: {} }]
])('what is not a frame: %s', (_name, frame) => {
  it('closes the wire of the side that serves', () => {
    const { wire, close, receive } = testWire()
    serve(wire, noHandlers)
    receive(frame)
    expect(close).toHaveBeenCalledWith(expect.stringContaining('What arrived is not a frame'))
  })
  it('closes the wire of the side that calls', async () => {
    const { wire, close, receive } = testWire()
    const call = connectPeer(wire).call('runs.list', {})
    receive(frame)
    expect(close).toHaveBeenCalledTimes(1)
    await expect(call).rejects.toMatchObject({ code: 'disconnected' })
  })
})

describe('another version of the protocol', () => {
  const newer = { type: 'hello', protocol: 2, appVersion: '9.0.0' }
  it('is refused where it is served', () => {
    const { wire, close, receive } = testWire()
    serve(wire, noHandlers)
    receive(newer)
    expect(close).toHaveBeenCalledWith(expect.stringContaining('version 2'))
  })
  it('is refused where it is called, with what to do', async () => {
    const { wire, receive } = testWire()
    const client = connectPeer(wire)
    const call = client.call('runs.list', {})
    receive(newer)
    await expect(call).rejects.toThrow('Reload the page')
    await expect(client.hello).rejects.toThrow('version 2')
  })
})

describe('answers that nobody waits for', () => {
  it('are ignored', async () => {
    const { wire, sent, close, receive } = testWire()
    const client = connectPeer(wire)
    const abort = new AbortController()
    const call = client.call('runs.list', {}, { signal: abort.signal })
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    receive({ type: 'prog', id: 1, value: 1 })
    receive({ type: 'ok', id: 1, value: [] })
    receive({ type: 'err', id: 99, code: 'failed', message: '' })
    expect(close).not.toHaveBeenCalled()
    expect(sent.slice(1)).toEqual([
      { type: 'req', id: 1, method: 'runs.list', input: {} },
      { type: 'cancel', id: 1 }
    ])
  })
})

it('a call id that is in use closes the wire and aborts the first call', async () => {
  const { wire, close, receive } = testWire()
  let signal: AbortSignal | undefined
  serve(wire, {
    'runs.list': (_input, context) => {
      signal = context.signal
      return new Promise(() => {})
    }
  } as Partial<Handlers> as Handlers)
  const request = { type: 'req', id: 5, method: 'runs.list', input: {} }
  receive(request)
  receive(request)
  expect(close).toHaveBeenCalledWith('Call 5 is already running.')
  expect(signal!.aborted).toBe(true)
})

it('a progress listener that throws ends its call and no other', async () => {
  const { wire, receive } = testWire()
  const client = connectPeer(wire)
  const call = client.call(
    'jobs.watch',
    { id: 'a' },
    {
      onProgress: () => {
        throw new Error('the view is gone')
      }
    }
  )
  const other = client.call('runs.list', {})
  receive({ type: 'prog', id: 1, value: { type: 'notice', message: 'x' } })
  await expect(call).rejects.toThrow('the view is gone')
  receive({ type: 'ok', id: 2, value: [] })
  expect(await other).toEqual([])
})
