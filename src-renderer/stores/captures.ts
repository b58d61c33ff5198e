/** Captures that lie in the store, and the one that runs, whoever started it. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { CaptureEvent, CaptureSpecInput, CaptureSummary } from '@shared/contract/capture'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { useLatest } from '../ground/latest'
import { useConnection } from './connection'
import { useProfile } from './profile'

export const useCaptures = defineStore('captures', () => {
  const connection = useConnection()
  const profile = useProfile()
  const list = shallowRef<readonly CaptureSummary[]>([])
  /** '' where none runs. */
  const runningId = ref('')
  const event = shallowRef<CaptureEvent>()
  const failure = shallowRef<Failure>()
  let watched = ''
  let shown = ''

  const { refresh } = useLatest(
    () => connection.call('captures.list', {}),
    ({ captures, running }) => {
      list.value = captures
      if (running !== null) void watch(running)
    }
  )

  /** Asks what is there; follows what runs. */
  async function load(): Promise<void> {
    try {
      await refresh()
    } catch (error) {
      failure.value = failureOf('captures.list', error)
    }
  }

  /** False where the person at the machine said no. */
  async function start(spec: CaptureSpecInput): Promise<boolean> {
    failure.value = undefined
    try {
      const { id } = await connection.call('captures.start', spec)
      if (id !== undefined) void watch(id)
      return id !== undefined
    } catch (error) {
      failure.value = failureOf('captures.start', error)
      return false
    }
  }

  async function watch(id: string): Promise<void> {
    if (watched === id) return
    watched = runningId.value = id
    event.value = undefined
    try {
      await connection.call('captures.watch', { id }, { onProgress: (now) => take(id, now) })
    } catch (error) {
      // A lost connection is said elsewhere; what still runs is found again after it.
      if (!isCode(error, 'disconnected')) failure.value = failureOf('captures.watch', error)
    }
    watched = runningId.value = ''
    await load()
  }

  function take(id: string, now: CaptureEvent): void {
    event.value = now
    if (now.summary && now.summary.kernels > 0 && shown !== id) {
      shown = id
      void open(id)
    }
  }

  async function begin(): Promise<void> {
    try {
      await connection.call('captures.begin', { id: runningId.value })
    } catch (error) {
      failure.value = failureOf('captures.begin', error)
    }
  }

  async function stop(what: 'capture' | 'program'): Promise<void> {
    try {
      await connection.call('captures.stop', { id: runningId.value, what })
    } catch (error) {
      failure.value = failureOf('captures.stop', error)
    }
  }

  async function open(id: string): Promise<void> {
    try {
      const { shards } = await connection.call('captures.open', { id })
      await profile.readHandles(shards, id)
    } catch (error) {
      failure.value = failureOf('captures.open', error)
    }
  }

  return { list, runningId, event, failure, load, start, begin, stop, open }
})
