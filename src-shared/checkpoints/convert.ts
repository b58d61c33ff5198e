/** The same weight in another convention or with its scales in another layout: no element and no scale is rounded. */
import { UserError } from '../errors'
import type { TensorEntry } from '../formats/safetensors'
import { packScales, paddedShape, type ScaleLayout } from '../layouts/layout'
import { matrixCount, type BlockScaledWeight, type Convention } from './conventions'
import { readScales, readTensorScale, type ReadTensor } from './slice'

export interface ConvertedTensor {
  name: string
  dtype: string
  shape: number[]
  byteLength: number
  pieces: () => Iterable<Uint8Array>
}

const pieceBytes = 2 ** 23

/** Of the same elements, scales and block size: converting between them rounds nothing. */
export function sameFormat(a: Convention, b: Convention): boolean {
  return a.element === b.element && a.scale === b.scale && a.scaleBlockSize === b.scaleBlockSize
}

/** Shape of the tensor of codes. */
export function codesShape(
  { scaleBlockSize, element, blocked }: Convention,
  leading: readonly number[],
  rows: number,
  k: number
): number[] {
  const blockBytes = (scaleBlockSize * element.storageBits) / 8
  const blocks = k / scaleBlockSize
  return [...leading, rows, ...(blocked ? [blocks, blockBytes] : [blocks * blockBytes])]
}

/** Throws a UserError when the conventions differ in elements, scales or block size. */
export function convertWeight(
  weight: BlockScaledWeight,
  to: Convention,
  layout: ScaleLayout,
  read: ReadTensor
): ConvertedTensor[] {
  const from = weight.convention
  if (!sameFormat(from, to)) {
    const kind = (c: Convention) => `${c.element.name} with ${c.scale.name} per ${c.scaleBlockSize}`
    throw new UserError(
      'usage',
      `"${weight.name}" is ${kind(from)} and ${to.name} is ${kind(to)}; choose a convention of the same format, or --requantise.`
    )
  }
  return [
    codesOf(weight, to, read),
    scalesOf(weight, to, layout, read),
    ...tensorScaleOf(weight, to, read)
  ]
}

function codesOf(weight: BlockScaledWeight, to: Convention, read: ReadTensor): ConvertedTensor {
  const { codes, leading, rows, k } = weight
  return {
    ...copyTensor(codes, read),
    name: weight.name + to.codesSuffix,
    dtype: to.codesDtypes[0]!,
    shape: codesShape(to, leading, rows, k)
  }
}

/** The same tensor, byte for byte. */
export function copyTensor(tensor: TensorEntry, read: ReadTensor): ConvertedTensor {
  const byteLength = tensor.end - tensor.start
  return {
    name: tensor.name,
    dtype: tensor.dtype,
    shape: tensor.shape,
    byteLength,
    *pieces() {
      for (let at = 0; at < byteLength; at += pieceBytes) {
        yield read(tensor, at, Math.min(at + pieceBytes, byteLength))
      }
    }
  }
}

function scalesOf(
  weight: BlockScaledWeight,
  to: Convention,
  layout: ScaleLayout,
  read: ReadTensor
): ConvertedTensor {
  const shape = { rows: weight.rows, columns: weight.k / to.scaleBlockSize }
  const padded = paddedShape(layout, shape)
  const keepsDtype = to.scalesDtypes.includes(weight.scales.dtype)
  return {
    name: weight.name + to.scalesSuffix,
    dtype: keepsDtype ? weight.scales.dtype : to.scalesDtypes[0]!,
    shape: [...weight.leading, padded.rows, padded.columns],
    byteLength: matrixCount(weight) * padded.rows * padded.columns,
    *pieces() {
      for (let matrix = 0; matrix < matrixCount(weight); matrix++) {
        yield packScales(layout, shape, readScales(weight, matrix, read))
      }
    }
  }
}

function tensorScaleOf(
  weight: BlockScaledWeight,
  to: Convention,
  read: ReadTensor
): ConvertedTensor[] {
  const { tensorScale, convention } = weight
  if (!tensorScale || !to.tensorScaleSuffix) return []
  const bytes = new Uint8Array(4)
  const sameUse = convention.tensorScaleUse === to.tensorScaleUse
  if (sameUse) bytes.set(read(tensorScale, 0, 4))
  else {
    const factor = readTensorScale(weight, read)
    new DataView(bytes.buffer).setFloat32(
      0,
      to.tensorScaleUse === 'divide' ? 1 / factor : factor,
      true
    )
  }
  return [
    {
      name: weight.name + to.tensorScaleSuffix,
      dtype: 'F32',
      shape: tensorScale.shape,
      byteLength: 4,
      pieces: () => [bytes]
    }
  ]
}
