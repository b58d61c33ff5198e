/** The one way to the main side: every store calls through here, so that a lost connection is noticed once. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import {
  RpcError,
  type Client,
  type Input,
  type Method,
  type Output
} from '@shared/contract/methods'
import type { ProgressOf } from '@shared/contract/methods'
import { messageOf } from '@shared/errors'

export type ConnectionState = 'connecting' | 'connected' | 'lost' | 'refused'

const firstPauseMs = 400
const longestPauseMs = 5000

export interface CallOptions<M extends Method> {
  signal?: AbortSignal
  onProgress?: (value: ProgressOf<M>) => void
}

export const useConnection = defineStore('connection', () => {
  const state = ref<ConnectionState>('connecting')
  /** Why it was lost or refused. */
  const reason = ref('')
  const info = shallowRef<Output<'app.info'>>()
  const client = shallowRef<Client>()
  const listeners = new Set<() => void>()
  let waiting: { resolve: () => void }[] = []
  let connect: (() => Promise<Client>) | undefined
  let pauseMs = firstPauseMs

  /** Connects now, and again whenever the connection is lost. */
  async function start(how: () => Promise<Client>): Promise<void> {
    connect = how
    await attempt()
  }

  async function attempt(): Promise<void> {
    if (!connect) return
    try {
      const made = await connect()
      info.value = await made.call('app.info', {})
      client.value = made
      state.value = 'connected'
      reason.value = ''
      pauseMs = firstPauseMs
      watchForLoss(made)
      for (const waiter of waiting) waiter.resolve()
      waiting = []
      for (const listener of listeners) listener()
    } catch (error) {
      reason.value = messageOf(error)
      const final = error instanceof RpcError && error.code !== 'disconnected'
      state.value = final ? 'refused' : 'lost'
      if (!final) retryLater()
    }
  }

  function retryLater(): void {
    setTimeout(() => void attempt(), pauseMs)
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }

  /** A call that only ends with the connection. */
  function watchForLoss(made: Client): void {
    made.call('files.watchOpened', {}, { onProgress: (file) => announce(file) }).catch((error) => {
      if (error instanceof RpcError && error.code === 'disconnected') lost(made, error.message)
    })
  }

  function lost(which: Client, why: string): void {
    if (client.value !== which) return
    client.value = undefined
    state.value = 'lost'
    reason.value = why
    retryLater()
  }

  async function call<M extends Method>(
    method: M,
    input: Input<M>,
    options: CallOptions<M> = {}
  ): Promise<Output<M>> {
    await ready()
    const used = client.value
    if (!used) throw new RpcError('disconnected', 'Not connected.')
    try {
      return await used.call(method, input, options)
    } catch (error) {
      if (error instanceof RpcError && error.code === 'disconnected') lost(used, error.message)
      throw error
    }
  }

  function ready(): Promise<void> {
    if (state.value === 'connected') return Promise.resolve()
    return new Promise((resolve) => waiting.push({ resolve }))
  }

  /** Runs `listener` now if connected, and after every (re)connection. */
  function onConnected(listener: () => void): () => void {
    listeners.add(listener)
    if (state.value === 'connected') listener()
    return () => listeners.delete(listener)
  }

  type OpenedFile = ProgressOf<'files.watchOpened'>
  const openers = new Set<(file: OpenedFile) => void>()
  /** Announced once, and perhaps before the frame is there. */
  const unheard: OpenedFile[] = []
  function announce(file: OpenedFile): void {
    if (openers.size === 0) unheard.push(file)
    for (const opener of openers) opener(file)
  }
  /** Files the operating system asked this app to open. */
  function onOpened(opener: (file: OpenedFile) => void): () => void {
    openers.add(opener)
    for (const file of unheard.splice(0)) opener(file)
    return () => openers.delete(opener)
  }

  return { state, reason, info, start, call, ready, onConnected, onOpened }
})
