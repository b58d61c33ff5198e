import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Detection, Device } from '@shared/contract/devices'
import { blockFormats, pairFormats } from '@shared/formats/blockFormat'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { useLatest } from '../ground/latest'
import { useConnection } from './connection'
import { useSettings } from './settings'

export const useDevices = defineStore('devices', () => {
  const connection = useConnection()
  const settings = useSettings()
  const detection = shallowRef<Detection>()
  const failure = shallowRef<Failure>()
  let looksAnew = false
  const {
    busy: loading,
    refresh: ask,
    changed
  } = useLatest(
    () => {
      const refresh = looksAnew
      looksAnew = false
      return connection.call('devices.detect', { refresh })
    },
    (found) => {
      detection.value = found
    }
  )

  /** Not known yet, and nothing says that they will not be. */
  const awaited = computed(
    () => loading.value || (detection.value === undefined && failure.value === undefined)
  )

  const devices = computed<readonly Device[]>(() => detection.value?.devices ?? [])
  /** The device that new jobs run on: the chosen one, else the first GPU, else the CPU. */
  const selected = computed<Device | undefined>(
    () =>
      devices.value.find((device) => device.id === settings.device) ??
      devices.value.find((device) => device.kind !== 'cpu') ??
      devices.value[0]
  )
  /** Every format any kernel knows, in the order of the kernels' own lists. */
  const formats = computed(() => formatsOf(devices.value))

  async function load(refresh = false): Promise<void> {
    looksAnew ||= refresh
    failure.value = undefined
    try {
      await ask()
    } catch (error) {
      if (!isCode(error, 'disconnected')) failure.value = failureOf('devices.detect', error)
    }
  }

  /** Files of Python kernels that were added, or that the server was started with. */
  const pythonFiles = computed(() => pythonFilesOf(devices.value))

  /**
   * Adds one; without a file, one that the person chooses in a dialog. Its kernels; undefined where they chose none, or said
   * no when they were asked whether it may be started.
   */
  async function addPythonFile(file?: File): Promise<PythonFile | undefined> {
    const bytes = file && new Uint8Array(await file.arrayBuffer())
    const answer = await connection.call('providers.add', {
      ...(file && bytes && { file: { name: file.name, bytes } })
    })
    if (!answer.detection) return undefined
    changed()
    detection.value = answer.detection
    return pythonFiles.value.find(({ path }) => path === answer.file)
  }

  function select(id: string): void {
    settings.device = id
  }

  return {
    ...{ detection, devices, selected, formats, failure, loading, awaited, load, select },
    ...{ pythonFiles, addPythonFile }
  }
})

export interface PythonFile {
  path: string
  kernels: string[]
}

/** Files of a person's own, each with the ids of its kernels. */
export function pythonFilesOf(devices: readonly Device[]): PythonFile[] {
  const files = new Map<string, string[]>()
  for (const { id, provider, python } of devices.flatMap(({ kernels }) => kernels))
    if (provider === 'user' && python)
      files.set(python.file, [...(files.get(python.file) ?? []), id])
  return [...files].map(([path, kernels]) => ({ path, kernels }))
}

/**
 * In the registry's order, whatever order kernels name them in. Pairs of elements without a short name are left out: they are
 * many, and asked for by name.
 */
export function formatsOf(devices: readonly Device[]): string[] {
  const ids = devices.flatMap((device) =>
    device.kernels.flatMap((kernel) => kernel.capabilities.map(({ format }) => format))
  )
  const pairs = new Set(pairFormats.map(({ id }) => id))
  const order = blockFormats.map(({ id }) => id)
  const rank = (id: string) => (order.includes(id) ? order.indexOf(id) : order.length)
  return [...new Set(ids)].filter((id) => !pairs.has(id)).sort((a, b) => rank(a) - rank(b))
}
