/** Tensors of a .safetensors file that a person opened; nothing but what is asked for is read. */
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

export const tensorsOf = async (file: File): Promise<TensorEntry[]> => [
  ...(await headerOf(file)).tensors.values()
]

export async function bytesOf(file: File, from: number, to: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(from, to).arrayBuffer())
}
