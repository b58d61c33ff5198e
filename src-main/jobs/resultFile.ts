import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Kernel } from '@shared/contract/devices'
import type { OutputType } from '@shared/contract/jobs'
import { UserError, messageOf } from '@shared/errors'
import { isNpy, isNpz, readNpy, readNpz, type NamedArray } from '@shared/formats/npy'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import { bytesOfResult, outputTypeOf } from '@shared/judge/resultBytes'

export interface ResultFile {
  /** C, (M, N), in the type it was kept in. */
  bytes: Uint8Array
  output: OutputType
  /** Stands where a kernel stands: a run says which file was judged. */
  kernel: Kernel
}

/**
 * A product C that another program wrote: the only matrix of a .npy, .npz or .safetensors file, or the one named "c".
 * `output`: the type to judge it as; every value has to be one of that type. Absent: the type it is kept in, float32 for
 * float64.
 */
export async function readResultFile(
  path: string,
  { m, n }: { m: number; n: number },
  output?: OutputType
): Promise<ResultFile> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (error) {
    throw new UserError('usage', `--result ${path} cannot be read: ${messageOf(error)}.`)
  }
  const array = chosenArray(arraysOf(bytes, path), path)
  const shape = array.shape.filter((extent, axis) => extent !== 1 || axis >= array.shape.length - 2)
  if (shape.length !== 2 || shape[0] !== m || shape[1] !== n) {
    throw new UserError(
      'usage',
      `${path}: C is ${array.shape.join(' x ')}; the operands give ${m} x ${n}.`
    )
  }
  const type = output ?? outputTypeOf(array, path)
  return {
    bytes: bytesOfResult(array, type, path),
    output: type,
    kernel: {
      id: 'given',
      provider: 'file',
      summary: `C as ${basename(path)} holds it`,
      scaleLayout: 'linear',
      baseline: false,
      operandBits: 0,
      outputs: [type],
      sourceHash: createHash('sha256').update(bytes).digest('hex'),
      compileOptions: '',
      capabilities: [],
      features: []
    }
  }
}

function arraysOf(bytes: Uint8Array, path: string): NamedArray[] {
  if (isNpy(bytes)) return [{ name: 'c', ...readNpy(bytes, path) }]
  if (isNpz(bytes)) return readNpz(bytes, path)
  const { tensors } = parseSafetensorsHeader(bytes, bytes.length, path)
  return [...tensors.values()].map(({ name, dtype, shape, start, end }) => ({
    ...{ name, dtype, shape },
    bytes: Uint8Array.from(bytes.subarray(start, end))
  }))
}

function chosenArray(arrays: readonly NamedArray[], path: string): NamedArray {
  const named = arrays.length === 1 ? arrays[0] : arrays.find(({ name }) => name === 'c')
  if (named) return named
  const names = arrays.map(({ name }) => `"${name}"`).join(', ')
  throw new UserError(
    'usage',
    arrays.length === 0
      ? `${path} holds no array.`
      : `${path} holds ${names}; call the product "c", or keep it alone in a file.`
  )
}
