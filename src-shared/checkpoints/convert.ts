/** Which tensors a weight becomes in a convention. Nothing is read or written here. */
import { UserError } from '../errors'
import type { NewTensor } from '../formats/safetensors'
import { paddedShape, type ScaleLayout } from '../layouts/layout'
import type { BlockScaledWeight, Convention } from './conventions'
import { totalRows, type WeightSource } from './weightSource'

/** Of the same elements, scales and block size: converting between them rounds nothing. */
export function sameFormat(a: Convention, b: Convention): boolean {
  return a.element === b.element && a.scale === b.scale && a.scaleBlockSize === b.scaleBlockSize
}

/** Throws a UserError when the conventions differ in elements, scales or block size. */
export function requireSameFormat({ name, convention }: BlockScaledWeight, to: Convention): void {
  if (sameFormat(convention, to)) return
  const kind = (c: Convention) => `${c.element.name} with ${c.scale.name} per ${c.scaleBlockSize}`
  throw new UserError(
    'usage',
    `"${name}" is ${kind(convention)} and ${to.name} is ${kind(to)}; choose a convention of the same format, or --requantise.`
  )
}

/** What stands for one weight in the file. */
export interface WeightTensors {
  codes: NewTensor
  scales: NewTensor
  tensorScale?: NewTensor
}

/** Throws a UserError when K has no whole blocks. */
export function weightTensors(
  source: WeightSource,
  to: Convention,
  layout: ScaleLayout
): WeightTensors {
  const { name, leading, rows, k, stored } = source
  const { element, scaleBlockSize, blocked, scalesDtypes } = to
  if (k % scaleBlockSize !== 0) {
    throw new UserError(
      'usage',
      `"${name}" has K=${k}, which has no whole blocks of ${scaleBlockSize} for ${to.name}.`
    )
  }
  const blocks = k / scaleBlockSize
  const blockBytes = (scaleBlockSize * element.storageBits) / 8
  const padded = paddedShape(layout, { rows, columns: blocks })
  const matrices = totalRows({ leading, rows }) / rows
  // A file that says F8_E8M0 where others say U8 keeps its word.
  const before = 'blocks' in stored ? stored.blocks.scales.dtype : ''
  return {
    codes: {
      name: name + to.codesSuffix,
      dtype: to.codesDtypes[0]!,
      shape: [...leading, rows, ...(blocked ? [blocks, blockBytes] : [blocks * blockBytes])],
      byteLength: matrices * rows * blocks * blockBytes
    },
    scales: {
      name: name + to.scalesSuffix,
      dtype: scalesDtypes.includes(before) ? before : scalesDtypes[0]!,
      shape: [...leading, padded.rows, padded.columns],
      byteLength: matrices * padded.rows * padded.columns
    },
    ...(to.tensorScaleSuffix === undefined
      ? {}
      : {
          tensorScale: {
            name: name + to.tensorScaleSuffix,
            dtype: 'F32',
            shape: 'blocks' in stored ? (stored.blocks.tensorScale?.shape ?? [1]) : [1],
            byteLength: 4
          }
        })
  }
}
