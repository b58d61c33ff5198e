/** A file of the person's to a profile, as it streams in: the page never holds more of it than its form needs. */
import { messageOf, UserError } from '@shared/errors'
import { BlockSource } from '@shared/profile/read/byteSource'
import { openProfileAt, ProfileReader, type OpenedProfile } from '@shared/profile/read/openProfile'

/** Between two words about how far it is. */
const bytesBetween = 1 << 20

/**
 * @param name shown in errors
 * @param onProgress gets the fraction read, 0..1
 * @throws UserError with the place of what is wrong
 */
export async function readFile(
  file: Blob,
  name: string,
  onProgress: (fraction: number) => void
): Promise<OpenedProfile> {
  const opened = readAtAnyPlace(file, name)
  if (opened) return opened
  const reader = new ProfileReader(name)
  await readInto(reader, file, name, onProgress)
  return reader.finish()
}

/** All of a file into what reads it, as it streams in. */
export async function readInto(
  reader: { write(chunk: Uint8Array): void },
  file: Blob,
  name: string,
  onProgress: (fraction: number) => void
): Promise<void> {
  const stream = file.stream().getReader()
  let read = 0
  let said = 0
  try {
    for (;;) {
      const { done, value } = await nextOf(stream, name)
      if (done) break
      reader.write(value)
      read += value.length
      if (read - said < bytesBetween) continue
      said = read
      onProgress(read / file.size)
    }
  } catch (error) {
    // What is left of the file is not wanted.
    await stream.cancel().catch(() => undefined)
    throw error
  }
  onProgress(1)
}

async function nextOf(stream: ReadableStreamDefaultReader<Uint8Array>, name: string) {
  try {
    return await stream.read()
  } catch (error) {
    throw new UserError(
      'usage',
      `${name} could not be read to its end (${messageOf(error)}): it may have changed or gone since it was chosen.`,
      { cause: error }
    )
  }
}

/** A database is read where its tables lie; null where the file is none. Only workers may wait for a file. */
function readAtAnyPlace(file: Blob, name: string): OpenedProfile | null {
  if (typeof FileReaderSync === 'undefined') return null
  const files = new FileReaderSync()
  const source = new BlockSource(
    file.size,
    (at, length) => new Uint8Array(files.readAsArrayBuffer(file.slice(at, at + length)))
  )
  return openProfileAt(source, name)
}
