/** The profile of the run that the address names: its trace, which holds its tree and its timeline. */
import { watch, type Ref } from 'vue'
import { failureOf } from '../ground/failure'
import { useConnection } from './connection'
import { useProfile } from './profile'
import { useRuns } from './runs'

/** @param onOpened is called when the run has been read. */
export function useOpenedRun(run: Ref<string>, onOpened: (id: string) => Promise<void>): void {
  const connection = useConnection()
  const profile = useProfile()
  const runs = useRuns()

  async function open(id: string): Promise<void> {
    try {
      const { bytes } = await runs.exportRun(id, 'trace')
      await profile.read('open', new Blob([bytes as Uint8Array<ArrayBuffer>]), id, id)
      if (!profile.failure) await onOpened(id)
    } catch (error) {
      profile.failure = failureOf('runs.export', error)
    }
  }

  watch(
    run,
    (id, _before, onCleanup) => {
      // Who comes back to a run finds it as it was left, and a new connection changes nothing in it.
      const openOnce = () => {
        if (profile.runId !== id) void open(id)
      }
      if (id !== '') onCleanup(connection.onConnected(openOnce))
    },
    { immediate: true }
  )
}
