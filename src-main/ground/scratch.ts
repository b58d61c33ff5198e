/** A file beside the one that is made, for parts of weights in the plain form: the engine reads and writes files only. */
import { open, rm, type FileHandle } from 'node:fs/promises'
import { writeError } from './files'

interface FilePlace {
  path: string
  /** Byte where it begins. */
  position: number
}

export class Scratch {
  private file: FileHandle | undefined

  constructor(private readonly path: string) {}

  /** The bytes, one after the other, in place of all that was held. Throws a UserError where there is no room. */
  async hold(parts: readonly Uint8Array[]): Promise<FilePlace[]> {
    const places = await this.room(parts.map((part) => part.length))
    try {
      for (const [i, part] of parts.entries()) {
        for (let done = 0; done < part.length;) {
          const at = places[i]!.position + done
          done += (await this.file!.write(part, done, part.length - done, at)).bytesWritten
        }
      }
    } catch (thrown) {
      throw writeError(this.path, thrown)
    }
    return places
  }

  /** Places for so many bytes each, in place of all that was held. */
  async room(sizes: readonly number[]): Promise<FilePlace[]> {
    let position = 0
    const places = sizes.map((size) => {
      const place = { path: this.path, position }
      position += size
      return place
    })
    try {
      this.file ??= await open(this.path, 'w+', 0o600)
      await this.file.truncate(position)
    } catch (thrown) {
      throw writeError(this.path, thrown)
    }
    return places
  }

  async read({ position }: FilePlace, count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count)
    for (let done = 0; done < count;) {
      const { bytesRead } = await this.file!.read(bytes, done, count - done, position + done)
      if (bytesRead === 0) throw new Error(`${this.path} ended early.`)
      done += bytesRead
    }
    return bytes
  }

  async remove(): Promise<void> {
    await this.file?.close()
    this.file = undefined
    await rm(this.path, { force: true })
  }
}
