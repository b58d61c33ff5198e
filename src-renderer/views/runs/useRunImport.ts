/** Runs that come in: chosen, dropped or handed over, as files or as folders. */
import { shallowRef } from 'vue'
import { pickFiles, pickFolder } from '../../client/shell'
import { droppedFiles, onHandedOver, type FileAt } from '../../ground/droppedFiles'
import { failureOf, type Failure } from '../../ground/failure'
import { useRuns } from '../../stores/runs'
import { bundleFolders } from './runFolder'

/** @param onImported gets the id of each run that is there now. */
export function useRunImport(onImported: (id: string) => void) {
  const runs = useRuns()
  /** Of the latest import, by file. */
  const failures = shallowRef<readonly Failure[]>([])

  async function importFiles(files: readonly File[]): Promise<void> {
    const now: Failure[] = []
    for (const file of files) {
      try {
        const bytes = new Uint8Array(await file.arrayBuffer())
        const { id } = await runs.importRun(file.name, bytes)
        onImported(id)
      } catch (error) {
        now.push(failureOf(`runs.import ${file.name}`, error))
      }
    }
    failures.value = now
  }

  const pickAndImport = async () => importFiles(await pickFiles('.blockscope-run,.json,.gz'))

  /** Run folders and files together: one that cannot be read does not keep the others out. */
  async function importAll(files: readonly File[], inFolders: readonly FileAt[]): Promise<void> {
    let bundled: File[] = []
    let failure: Failure | undefined
    try {
      if (inFolders.length > 0) bundled = await bundleFolders(inFolders)
    } catch (error) {
      failure = failureOf('runs.import folder', error)
    }
    await importFiles([...files, ...bundled])
    if (failure) failures.value = [...failures.value, failure]
  }

  async function pickFolderAndImport(): Promise<void> {
    const files = await pickFolder()
    if (files.length === 0) return
    await importAll(
      [],
      files.map((file) => ({ path: file.webkitRelativePath, file }))
    )
  }

  async function importDropped(data: DataTransfer): Promise<void> {
    const { files, inFolders } = await droppedFiles(data)
    await importAll(files, inFolders)
  }
  onHandedOver('runs', ({ files, inFolders }) => void importAll(files, inFolders))

  return { failures, pickAndImport, pickFolderAndImport, importDropped }
}
