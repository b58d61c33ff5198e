import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { ExportForm, Output } from '@shared/contract/methods'
import type { Run, RunSummary } from '@shared/contract/run'
import { optionsOf, runName, shapeOf } from '@shared/measurement/runName'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { useLatest } from '../ground/latest'
import { useConnection } from './connection'
import { isOver, useJobs } from './jobs'

/** Runs kept in memory; a sweep of 10,000 steps is some 30 MB. */
const keptRuns = 12

export const useRuns = defineStore('runs', () => {
  const connection = useConnection()
  const jobs = useJobs()
  const list = shallowRef<readonly RunSummary[]>([])
  const loaded = ref(false)
  const failure = shallowRef<Failure>()
  const cache = new Map<string, Promise<Run>>()
  jobs.onEnd(() => void load())

  const { refresh, changed } = useLatest(
    () => connection.call('runs.list', {}),
    (found) => {
      list.value = [...found].sort((a, b) => b.createdAt.localeCompare(a.createdAt))
      loaded.value = true
      failure.value = undefined
    }
  )

  async function load(): Promise<void> {
    try {
      await refresh()
    } catch (error) {
      if (!isCode(error, 'disconnected')) failure.value = failureOf('runs.list', error)
    }
  }

  /** A run with its steps. One that is over changes only by annotate, so it is asked for once. */
  async function get(id: string): Promise<Run> {
    const live = jobs.jobs.get(id)
    if (live?.run && !isOver(live.status)) return live.run
    const kept = cache.get(id)
    if (kept) return kept
    const asked = connection.call('runs.get', { id })
    cache.set(id, asked)
    try {
      const run = await asked
      if (!isOver(run.status)) cache.delete(id)
      for (const oldest of [...cache.keys()].slice(0, Math.max(0, cache.size - keptRuns))) {
        cache.delete(oldest)
      }
      return run
    } catch (error) {
      cache.delete(id)
      throw error
    }
  }

  function samples(id: string, step: number): Promise<Output<'runs.samples'>> {
    return connection.call('runs.samples', { id, step })
  }

  async function annotate(id: string, change: { label?: string; notes?: string }): Promise<void> {
    const summary = await connection.call('runs.annotate', { id, ...change })
    cache.delete(id)
    changed()
    list.value = list.value.map((run) => (run.id === id ? summary : run))
    const live = jobs.jobs.get(id)
    if (live?.run) live.run = Object.freeze({ ...live.run, ...change })
  }

  async function remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await connection.call('runs.remove', { id })
      cache.delete(id)
      changed()
      list.value = list.value.filter((run) => run.id !== id)
    }
  }

  async function restore(ids: readonly string[]): Promise<void> {
    for (const id of ids) await connection.call('runs.restore', { id })
    await load()
  }

  function exportRun(id: string, as: ExportForm): Promise<Output<'runs.export'>> {
    return connection.call('runs.export', { id, as })
  }

  async function importRun(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<RunSummary> {
    const summary = await connection.call('runs.import', { name, bytes })
    await load()
    return summary
  }

  return {
    list,
    loaded,
    failure,
    load,
    get,
    samples,
    annotate,
    remove,
    restore,
    exportRun,
    importRun
  }
})

/** What a run is called: its label, else what was run. */
export const titleOf = runName

/** The same of a run that is at hand. */
export const titleOfRun = (run: Run): string =>
  runName({
    ...run,
    formats: run.spec.formats,
    shape: shapeOf(run),
    options: optionsOf(run.spec)
  })
