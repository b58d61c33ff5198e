import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Kernel } from '@shared/contract/devices'
import type { OutputType } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import type { ArrayFile } from '@shared/formats/arrayFiles'
import type { NamedArray } from '@shared/formats/npy'
import { bytesOfResult, outputTypeOf } from '@shared/judge/resultBytes'

export interface ResultFile {
  /** C, (M, N) for each matrix of its batch, in the type it was kept in. */
  bytes: Uint8Array
  output: OutputType
  /** Stands where a kernel stands: a run says which file was judged. */
  kernel: Kernel
}

export interface ResultShape {
  batch: readonly number[]
  m: number
  n: number
}

/**
 * A product C that another program wrote: the only array of a file, or the one named "c". `output`: the type to judge it as;
 * every value has to be one of that type. Absent: the type it is kept in, float32 for float64.
 */
export function resultOf(file: ArrayFile, wanted: ResultShape, output?: OutputType): ResultFile {
  const { path } = file
  const array = chosenArray(file)
  const needed = [...wanted.batch, wanted.m, wanted.n]
  if (withoutOnes(array.shape).join() !== withoutOnes(needed).join()) {
    throw new UserError(
      'usage',
      `${path}: C is ${array.shape.join(' x ')}; the operands give ${needed.join(' x ')}.`
    )
  }
  const type = output ?? outputTypeOf(array, path)
  const bytes = bytesOfResult(array, type, path)
  return {
    bytes,
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

/** Leading extents of 1 say nothing. */
const withoutOnes = (shape: readonly number[]) =>
  shape.filter((extent, axis) => extent !== 1 || axis >= shape.length - 2)

function chosenArray({ arrays, path }: ArrayFile): NamedArray {
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
