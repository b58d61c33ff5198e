import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reactive } from 'vue'
import type { Client } from '@shared/contract/methods'
import type { PeerClient } from '@shared/rpc/peer'
import { answerMs, idleMs, keepAlive } from '../../../../src-renderer/client/keepAlive'
import { onMenuAction } from '../../../../src-renderer/client/menu'
import { plainCopy } from '../../../../src-renderer/client/plainCopy'
import { takeToken } from '../../../../src-renderer/client/token'

describe('takeToken', () => {
  const at = (hash: string) => {
    history.replaceState(null, '', `/${hash}`)
    return [takeToken(), location.hash]
  }
  it('takes the token out of the address', () => expect(at('#t=ab-C_9')).toEqual(['ab-C_9', '']))
  it('leaves a deep link', () =>
    expect(at('#t=ab&/profile?node=a&b=c')).toEqual(['ab', '#/profile?node=a&b=c']))
  it.each(['', '#/validate', '#t=', '#/x?t=ab', '#t=a b'])('leaves "%s" alone', (hash) => {
    const [token] = at(hash)
    expect(token).toBeUndefined()
  })
})

describe('plainCopy', () => {
  it('makes what a store holds cloneable', () => {
    const state = reactive({ formats: ['nvfp4'], nested: { k: [1, { deep: true }] } })
    expect(() => structuredClone(state)).toThrow()
    expect(structuredClone(plainCopy(state))).toEqual({
      formats: ['nvfp4'],
      nested: { k: [1, { deep: true }] }
    })
  })
  it('keeps bytes, undefined and special numbers', () => {
    const bytes = new Uint8Array([1, 2])
    const copy = plainCopy({ bytes, absent: undefined, nan: NaN, none: null })
    expect(copy.bytes).toBe(bytes)
    expect(copy).toEqual({ bytes, absent: undefined, nan: NaN, none: null })
  })
})

describe('onMenuAction', () => {
  const send = (data: unknown, source: unknown = window) =>
    window.dispatchEvent(new MessageEvent('message', { data, source: source as Window }))
  it('hears the menu, and nobody else', () => {
    const actions: string[] = []
    const stop = onMenuAction((action) => actions.push(action))
    send({ type: 'blockscope:action', action: 'go.sweep' })
    send({ type: 'blockscope:action', action: 'go.runs' }, null)
    send({ type: 'blockscope:action', action: 7 })
    send({ type: 'other', action: 'go.runs' })
    send('text')
    stop()
    send({ type: 'blockscope:action', action: 'go.runs' })
    expect(actions).toEqual(['go.sweep'])
  })
})

describe('keepAlive', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function silentPeer(answers: boolean) {
    const closed: ((reason: string) => void)[] = []
    const call = vi.fn<Client['call']>(() =>
      answers ? (Promise.resolve({}) as never) : new Promise(() => {})
    )
    const close = vi.fn(() => closed.forEach((listener) => listener('closed')))
    const peer: PeerClient = {
      call,
      close,
      hello: new Promise(() => {}),
      onClose: (listener) => void closed.push(listener)
    }
    keepAlive(peer)
    return { call, close }
  }

  it('closes a connection that has gone silent', async () => {
    const { call, close } = silentPeer(false)
    await vi.advanceTimersByTimeAsync(idleMs - 1000)
    expect(call).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1000)
    expect(call).toHaveBeenCalledTimes(1)
    expect(close).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(answerMs + 1000)
    expect(close).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(10 * idleMs)
    expect(call).toHaveBeenCalledTimes(1)
  })

  it('keeps one whose answer waits while the page is busy', async () => {
    const { call, close } = silentPeer(false)
    let answer!: () => void
    call.mockReturnValueOnce(new Promise((settle) => (answer = () => settle({}))) as never)
    await vi.advanceTimersByTimeAsync(idleMs)
    expect(call).toHaveBeenCalledTimes(1)
    // One look finds that much later than it was due; what has arrived is heard after it.
    vi.setSystemTime(Date.now() + 2 * answerMs)
    await vi.advanceTimersByTimeAsync(1000)
    answer()
    await vi.advanceTimersByTimeAsync(idleMs - 1000)
    expect(close).not.toHaveBeenCalled()
  })

  it('keeps one that answers', async () => {
    const { call, close } = silentPeer(true)
    await vi.advanceTimersByTimeAsync(10 * (idleMs + 1000))
    expect(call.mock.calls.length).toBeGreaterThan(5)
    expect(close).not.toHaveBeenCalled()
  })
})
