/** Files of profiles, as a person chooses them. */
import { pickFiles } from '../client/shell'
import type { NamedFile } from '../workers/profileProtocol'

/** Of the forms that are read; a chooser offers them first. */
const endings =
  '.hatchet,.hatchet_msgpack,.json,.gz,.chrome_trace,.pftrace,.perfetto-trace,.pb,.sqlite,.db,.csv,.folded,.txt,.cpuprofile,.cali,.shard'

/** Empty when the dialog was closed. */
export async function pickProfiles(how: { multiple: boolean }): Promise<NamedFile[]> {
  return namedFiles(await pickFiles(endings, how))
}

export const namedFiles = (files: readonly File[]): NamedFile[] =>
  files.map((file) => ({ file, name: file.name }))
