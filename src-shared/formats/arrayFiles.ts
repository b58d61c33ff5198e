/** Files of named arrays: .npy, .npz and .safetensors, told apart by their first bytes. */
import { isNpy, isNpz, readNpy, readNpz, type NamedArray } from './npy'
import { parseSafetensorsHeader } from './safetensors'

export interface ArrayFile {
  /** What sentences call it. */
  path: string
  arrays: NamedArray[]
  /** What a .safetensors file says beside its tensors. */
  metadata: Record<string, string>
}

/**
 * All arrays of a file. The one of a .npy, which has no name, is called `name`. Throws a UserError that names the file and what
 * is wrong.
 */
export function readArrays(bytes: Uint8Array, path: string, name: string): ArrayFile {
  if (isNpy(bytes)) return { path, arrays: [{ name, ...readNpy(bytes, path) }], metadata: {} }
  if (isNpz(bytes)) return { path, arrays: readNpz(bytes, path), metadata: {} }
  const { tensors, metadata } = parseSafetensorsHeader(bytes, bytes.length, path)
  const arrays = [...tensors.values()].map(({ name: own, dtype, shape, start, end }) => ({
    ...{ name: own, dtype, shape },
    // A copy of its own: a Float64Array wants aligned memory.
    bytes: Uint8Array.from(bytes.subarray(start, end))
  }))
  return { path, arrays, metadata }
}
