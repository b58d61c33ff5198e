/** Tensors of a .safetensors or GGUF file that a person opened; nothing but what is asked for is read. */
import { readGgufHeader } from '@shared/formats/gguf'
import {
  headerEnd,
  parseSafetensorsHeader,
  type SafetensorsHeader,
  type TensorEntry
} from '@shared/formats/safetensors'

async function headerOf(file: File): Promise<SafetensorsHeader> {
  const end = headerEnd(await bytesOf(file, 0, 8), file.size, file.name)
  return parseSafetensorsHeader(await bytesOf(file, 0, end), file.size, file.name)
}

/** The tensors of a GGUF file. Its header says nowhere how long it is: the beginning is read until it ends. */
async function ggufHeaderOf(file: File): Promise<SafetensorsHeader> {
  for (let size = firstBytes; ; size *= 4) {
    const bytes = await bytesOf(file, 0, Math.min(size, file.size))
    try {
      return readGgufHeader(file.size, file.name, (count) => {
        if (count > bytes.length) throw new MoreBytes()
        return bytes.subarray(0, count)
      })
    } catch (error) {
      if (!(error instanceof MoreBytes)) throw error
    }
  }
}

const firstBytes = 2 ** 20
/** The header goes on behind what was read. */
class MoreBytes extends Error {}

/** Of a .safetensors or GGUF file. Throws a UserError for a file that is none. */
export const checkpointHeaderOf = (file: File): Promise<SafetensorsHeader> =>
  /\.gguf$/i.test(file.name) ? ggufHeaderOf(file) : headerOf(file)

type Read = (tensor: TensorEntry, from: number, to: number) => Uint8Array

/** What reads at once, of a file that must be waited for: what it lacks is fetched, and it begins again. */
export async function withBytesOf<T>(file: File, work: (read: Read) => T): Promise<T> {
  const held = new Map<string, Uint8Array>()
  for (;;) {
    try {
      return work(({ start }, from, to) => {
        const bytes = held.get(`${start + from}-${start + to}`)
        if (!bytes) throw new Lacking(start + from, start + to)
        return bytes
      })
    } catch (error) {
      if (!(error instanceof Lacking)) throw error
      const { from, to } = error
      held.set(`${from}-${to}`, await bytesOf(file, from, to))
    }
  }
}

class Lacking extends Error {
  constructor(
    readonly from: number,
    readonly to: number
  ) {
    super()
  }
}

export async function bytesOf(file: File, from: number, to: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(from, to).arrayBuffer())
}
