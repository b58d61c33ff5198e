/** The same weight in another convention or with its scales in another layout: no element and no scale is rounded. */
import { UserError } from '../errors'
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

/** Throws a UserError when the conventions differ in elements, scales or block size. */
export function convertWeight(
  weight: BlockScaledWeight,
  to: Convention,
  layout: ScaleLayout,
  read: ReadTensor
): ConvertedTensor[] {
  const from = weight.convention
  const same =
    from.element === to.element &&
    from.scale === to.scale &&
    from.scaleBlockSize === to.scaleBlockSize
  if (!same) {
    const kind = (c: Convention) => `${c.element.name} with ${c.scale.name} per ${c.scaleBlockSize}`
    throw new UserError(
      'usage',
      `"${weight.name}" is ${kind(from)} and ${to.name} is ${kind(to)}; choose a convention of the same format.`
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
  const byteLength = codes.end - codes.start
  const blockBytes = (to.scaleBlockSize * to.element.storageBits) / 8
  const blocks = k / to.scaleBlockSize
  const row = to.blocked ? [blocks, blockBytes] : [blocks * blockBytes]
  return {
    name: weight.name + to.codesSuffix,
    dtype: to.codesDtypes[0]!,
    shape: [...leading, rows, ...row],
    byteLength,
    *pieces() {
      for (let at = 0; at < byteLength; at += pieceBytes) {
        yield read(codes, at, Math.min(at + pieceBytes, byteLength))
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
