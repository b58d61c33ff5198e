/** The matrices of a .safetensors file of operands: which format they are in, and their bytes. */
import { UserError } from '../errors'
import { matchBlockFormat, type BlockFormat } from './blockFormat'
import type { SafetensorsHeader, TensorEntry } from './safetensors'

/** By the metadata a, b, scale and vec. Throws a UserError when they are missing or no known format has them. */
export function formatOfOperands(header: SafetensorsHeader, path: string): BlockFormat {
  const { a, b, scale, vec } = header.metadata
  if (!a || !b || !scale || !vec) {
    throw new UserError(
      'usage',
      `${path} does not say its formats: the metadata needs a, b, scale and vec, such as ` +
        '{"a": "e2m1", "b": "e2m1", "scale": "e4m3", "vec": "16"}.'
    )
  }
  return matchBlockFormat(a, b, scale, Number(vec))
}

export interface Matrix {
  name: string
  shape: [number, number]
  bytes: Uint8Array<ArrayBuffer>
}

export interface Matrices {
  name: string
  /** Leading axes: the batch; none for one matrix. */
  batch: number[]
  shape: [number, number]
  bytes: Uint8Array<ArrayBuffer>
}

/** Throws a UserError unless the tensor is there with this dtype and two axes. */
export function takeMatrix(
  header: SafetensorsHeader,
  file: Uint8Array,
  path: string,
  name: string,
  dtype: string
): Matrix {
  const { batch, shape, bytes } = takeMatrices(header, file, path, name, dtype)
  if (batch.length === 0) return { name, shape, bytes }
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" has ${batch.length + 2} axes; 2 are needed.`
  )
}

/** A matrix, or a batch of them. Throws a UserError unless the tensor is there with this dtype and two axes or more. */
export function takeMatrices(
  header: SafetensorsHeader,
  file: Uint8Array,
  path: string,
  name: string,
  dtype: string
): Matrices {
  const entry: TensorEntry | undefined = header.tensors.get(name)
  if (!entry) throw new UserError('usage', `${path} has no tensor "${name}".`)
  if (entry.dtype !== dtype) {
    throw new UserError('usage', `${path}: tensor "${name}" is ${entry.dtype}; ${dtype} is needed.`)
  }
  if (entry.shape.length < 2) {
    throw new UserError(
      'usage',
      `${path}: tensor "${name}" has ${entry.shape.length} axes; 2 are needed, and any before them for a batch.`
    )
  }
  // A copy of its own: a Float64Array wants aligned memory.
  const bytes = Uint8Array.from(file.subarray(entry.start, entry.end))
  const shape = entry.shape.slice(-2) as [number, number]
  return { name, batch: entry.shape.slice(0, -2), shape, bytes }
}
