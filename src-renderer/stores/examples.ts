/** Opens a bundled example as if a person had dropped its file on the view that offered it. */
import { defineStore } from 'pinia'
import type { Example } from '@shared/contract/examples'
import type { ViewId } from '@shared/contract/views'
import { handOver } from '../ground/droppedFiles'
import { go } from '../ground/route'
import { useConnection } from './connection'
import { useRuns } from './runs'

/** Two pictures of one profile. */
const ofProfiles: readonly ViewId[] = ['profile', 'timeline']

export const useExamples = defineStore('examples', () => {
  const connection = useConnection()
  const runs = useRuns()

  async function open({ id, view: own, alsoIn }: Example, from: ViewId = own): Promise<void> {
    const view = alsoIn?.includes(from) ? from : own
    const { name, bytes, run } = await connection.call('examples.read', { id })
    if (run !== '') {
      // Taken once, it is a run like any other.
      if (!runs.loaded) await runs.load()
      const known = runs.list.some((one) => one.id === run)
      const shown = known ? run : (await runs.importRun(name, bytes)).id
      return go(view, { run: shown })
    }
    const file = new File([bytes], name)
    go(view)
    if (!ofProfiles.includes(view)) return handOver(view, { files: [file], inFolders: [] })
    const { useProfile } = await import('./profile')
    await useProfile().read('open', file, name)
  }

  return { open }
})
