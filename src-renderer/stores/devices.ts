import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Detection, Device } from '@shared/contract/devices'
import { pairFormats } from '@shared/formats/blockFormat'
import { failureOf, isCode, type Failure } from '../ground/failure'
import { useConnection } from './connection'
import { useSettings } from './settings'

export const useDevices = defineStore('devices', () => {
  const connection = useConnection()
  const settings = useSettings()
  const detection = shallowRef<Detection>()
  const failure = shallowRef<Failure>()
  const loading = ref(false)

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
    loading.value = true
    failure.value = undefined
    try {
      detection.value = await connection.call('devices.detect', { refresh })
    } catch (error) {
      if (!isCode(error, 'disconnected')) failure.value = failureOf('devices.detect', error)
    } finally {
      loading.value = false
    }
  }

  function select(id: string): void {
    settings.device = id
  }

  return { detection, devices, selected, formats, failure, loading, load, select }
})

/** Pairs of elements without a short name are left out: they are many, and asked for by name. */
export function formatsOf(devices: readonly Device[]): string[] {
  const ids = devices.flatMap((device) =>
    device.kernels.flatMap((kernel) => kernel.capabilities.map(({ format }) => format))
  )
  const pairs = new Set(pairFormats.map(({ id }) => id))
  return [...new Set(ids)].filter((id) => !pairs.has(id))
}
