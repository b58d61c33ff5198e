/** The shards of a capture to one profile, as `blockscope view FOLDER` reads them. */
import { hasLaunched } from '@shared/capture/captureFiles'
import { headerBytes, isShard, readHeader } from '@shared/capture/shardForm'
import { CaptureProfile } from '@shared/profile/read/captureProfile'
import type { OpenedProfile } from '@shared/profile/read/openProfile'
import type { NamedFile } from './profileProtocol'
import { readInto } from './readFile'

/** @throws UserError where one is no shard that is read here */
export async function readCaptureFiles(
  shards: readonly NamedFile[],
  onProgress: (file: Blob, fraction: number) => void
): Promise<OpenedProfile> {
  let launching = 0
  for (const { file, name } of shards) {
    const head = new Uint8Array(await file.slice(0, headerBytes).arrayBuffer())
    if (head.length === headerBytes && isShard(head) && hasLaunched(readHeader(head, name)))
      launching++
  }
  const profile = new CaptureProfile({ severalProcesses: launching > 1, timeline: true })
  for (const { file, name } of shards) {
    profile.reader.open(name)
    await readInto(profile.reader, file, name, (fraction) => onProgress(file, fraction))
    profile.reader.close()
  }
  return profile.finish()
}
