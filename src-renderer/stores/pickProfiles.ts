/** Files of profiles, as a person chooses them. */
import { pickFiles, pickFolder } from '../client/shell'
import { isShardName } from '@shared/capture/captureFiles'
import { UserError } from '@shared/errors'
import type { FileAt } from '../ground/droppedFiles'
import type { NamedFile, NamedFiles } from '../workers/profileProtocol'

export type { NamedFile, NamedFiles }

/** Of the forms that are read; a chooser offers them first. */
const endings =
  '.hatchet,.hatchet_msgpack,.json,.gz,.chrome_trace,.pftrace,.perfetto-trace,.pb,.sqlite,.db,.csv,.folded,.txt,.cpuprofile,.cali,.shard'

/** Empty when the dialog was closed. */
export async function pickProfiles(how: { multiple: boolean }): Promise<NamedFiles> {
  return namedFiles(await pickFiles(endings, how))
}

export const namedFiles = (files: readonly File[]): NamedFiles => ({
  files: files.map((file) => ({ file, name: file.name }))
})

/** Asks for the folder of a capture; undefined when the dialog was closed. */
export async function pickCapture(): Promise<NamedFiles | undefined> {
  const files = await pickFolder()
  if (files.length === 0) return undefined
  return captureOf(files.map((file) => ({ path: file.webkitRelativePath, file })))
}

/** The capture whose folder this is. @throws UserError where there is none, or more than one */
export function captureOf(files: readonly FileAt[]): NamedFiles {
  const shards = files.filter(({ path }) => isShardName(path))
  const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const folders = [...new Set(shards.map(({ path }) => folderOf(path)))]
  const [folder] = folders
  if (folder === undefined)
    throw new UserError(
      'usage',
      `${files[0]?.path.split('/')[0] ?? 'The folder'} holds no shard of a capture.`
    )
  if (folders.length > 1)
    throw new UserError(
      'usage',
      `These are ${folders.length} captures: ${folders.join(', ')}; open one.`
    )
  const named = shards.map(({ path, file }) => ({ file, name: path }))
  return {
    files: named.sort((a, b) => (a.name < b.name ? -1 : 1)),
    capture: folder.split('/').at(-1)!
  }
}
