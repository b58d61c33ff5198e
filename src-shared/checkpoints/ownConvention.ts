/** A convention that a person describes by naming the tensors of one weight; others of the same names are found with it. */
import { UserError } from '../errors'
import { findBlockFormat } from '../formats/blockFormat'
import type { SafetensorsHeader, TensorEntry } from '../formats/safetensors'
import { findElementPacking } from '../layouts/elementPacking'
import type { Convention, TensorScaleUse } from './convention'

export interface NamedTensors {
  codes: string
  scales: string
  tensorScale?: string
  /** multiply where it is left out. */
  tensorScaleUse?: TensorScaleUse
  /** Id of a block-scaled format; the weight is its operand B. */
  format: string
  /** Name of an element packing; left out: fp4_low_first, fp6_dense, or one code a byte, whichever the bytes allow. */
  order?: string
}

/** Throws a UserError for a tensor that is not there, or names that are. */
export function ownConvention(
  named: NamedTensors,
  header: SafetensorsHeader,
  file: string
): Convention {
  const { b: element, scale, scaleBlockSize, id } = findBlockFormat(named.format)
  const tensor = (name: string): TensorEntry => {
    const found = header.tensors.get(name)
    if (!found) throw new UserError('usage', `${file} has no tensor "${name}".`)
    return found
  }
  const [codes, scales] = [tensor(named.codes), tensor(named.scales)]
  const names = [codes.name, scales.name]
  if (named.tensorScale !== undefined) names.push(tensor(named.tensorScale).name)
  const prefix = commonPrefix(names)
  const suffix = (name: string) => name.slice(prefix.length)
  const blocks =
    codes.shape.length === scales.shape.length + 1 &&
    scales.shape.every((extent, i) => extent === codes.shape[i])
  const order = named.order === undefined ? undefined : findElementPacking(named.order)
  if (order && order.storageBits !== element.storageBits) {
    throw new UserError(
      'usage',
      `${order.name} holds codes of ${order.storageBits} bits; ${id} has codes of ${element.storageBits}.`
    )
  }
  const bits = ((codes.end - codes.start) * 8) / ((scales.end - scales.start) * scaleBlockSize)
  const dense = element.storageBits === 6 && bits === 6 ? 'fp6_dense' : undefined
  const packing = order?.name ?? dense
  return {
    name: 'named',
    title: `${id}: ${codes.name}, ${scales.name}`,
    source: 'named by hand',
    codesSuffix: suffix(codes.name),
    codesDtypes: [codes.dtype],
    codesShape: blocks ? 'blocks' : 'rows',
    scalesSuffix: suffix(scales.name),
    scalesDtypes: [scales.dtype],
    ...(named.tensorScale === undefined
      ? {}
      : {
          tensorScaleSuffix: suffix(named.tensorScale),
          tensorScaleUse: named.tensorScaleUse ?? 'multiply'
        }),
    element,
    scale,
    scaleBlockSize,
    ...(packing === undefined ? {} : { order: packing })
  }
}

/** What all names begin with, up to where their last parts differ. */
function commonPrefix([first = '', ...rest]: string[]): string {
  let length = 0
  while (length < first.length && rest.every((name) => name[length] === first[length])) length++
  return first.slice(
    0,
    Math.max(0, ...['.', '_', '/'].map((end) => first.lastIndexOf(end, length - 1)))
  )
}
