/** Tensors of a .safetensors file that a person opened; nothing but what is asked for is read. */
import { readGgufHeader } from '@shared/formats/gguf'
import {
  headerEnd,
  parseSafetensorsHeader,
  type SafetensorsHeader,
  type TensorEntry
} from '@shared/formats/safetensors'

/** Throws a UserError for a file that is none. */
export async function headerOf(file: File): Promise<SafetensorsHeader> {
  const end = headerEnd(await bytesOf(file, 0, 8), file.size, file.name)
  return parseSafetensorsHeader(await bytesOf(file, 0, end), file.size, file.name)
}

/** The tensors of a GGUF file. Its header says nowhere how long it is: the beginning is read until it ends. */
export async function ggufHeaderOf(file: File): Promise<SafetensorsHeader> {
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

export const tensorsOf = async (file: File): Promise<TensorEntry[]> => [
  ...(await headerOf(file)).tensors.values()
]

export async function bytesOf(file: File, from: number, to: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(from, to).arrayBuffer())
}
