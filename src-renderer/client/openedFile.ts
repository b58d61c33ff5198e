/** A file of the main side's, fetched piece by piece: a message has a bound, a shard of a capture has none. */
import { UserError } from '@shared/errors'
import type { Input, Output } from '@shared/contract/methods'

type Read = (input: Input<'files.read'>) => Promise<Output<'files.read'>>

export interface FetchedFile {
  name: string
  /** Large ones are kept by the browser, on its disk. */
  file: Blob
  /** Of a capture's folder: the handles of its shards. */
  shards?: string[]
}

/** @throws UserError where the file is cut short meanwhile; one that grows is read as long as it was */
export async function fetchOpened(read: Read, handle: string): Promise<FetchedFile> {
  const { name, size, shards, ...first } = await read({ handle })
  let file = new Blob([first.bytes as Uint8Array<ArrayBuffer>])
  while (file.size < size) {
    const { bytes } = await read({ handle, at: file.size })
    if (bytes.length === 0)
      throw new UserError('usage', `${name} became shorter while it was read; open it again.`)
    file = new Blob([file, bytes as Uint8Array<ArrayBuffer>])
  }
  return { name, file: file.slice(0, size), ...(shards && { shards }) }
}
