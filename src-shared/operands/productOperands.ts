/** What the layout detective judges by, from a file of operands: those of one side without their scales, and the product. */
import { UserError } from '../errors'
import type { ArrayFile } from '../formats/arrayFiles'
import { isScaled, type NumberFormat } from '../formats/numberFormat'
import type { ProductOperands } from '../layouts/detectTerms'
import { codesForms, plainCodes } from './codes'
import { formatSaid } from './forms'
import { takeArray, type ArrayRole } from './names'

/**
 * The arrays of a file as `validate --operands` reads it, where c_f32 may stand for c_f64, and the scales of the side that is
 * looked for may be missing. K is told by the scales of the other side, which are linear.
 */
export function productOperandsOf(
  file: ArrayFile,
  side: ProductOperands['side'],
  packing?: string
): ProductOperands {
  const { path } = file
  const format = formatSaid(file, {})
  if (!format)
    throw new UserError(
      'usage',
      `${path} does not say its formats: the metadata needs a, b, scale and vec, such as ` +
        '{"a": "e2m1", "b": "e2m1", "scale": "e4m3", "vec": "16"}.'
    )
  const isAScaled = isScaled(format.a)
  if (side === 'a' && !isAScaled)
    throw new UserError('usage', `A of ${format.id} has no scales; look for those of B.`)
  const scales =
    side === 'a' || isAScaled ? takeArray(file, side === 'a' ? 'bScales' : 'aScales') : undefined
  const k = scales
    ? (scales.shape.at(-1) ?? 0) * format.scaleBlockSize
    : (takeArray(file, 'aCodes').shape.at(-1) ?? 0)
  const codesOf = (role: ArrayRole, element: NumberFormat) => {
    const array = takeArray(file, role)
    const forms = codesForms(array, element, packing === undefined ? [] : [packing], path)
    const form = forms.find(({ batch, shape }) => batch.length === 0 && shape[1] === k)
    if (form) return { rows: form.shape[0], codes: plainCodes(array, form) }
    throw new UserError(
      'usage',
      `${path}: tensor "${array.name}" is ${array.shape.join(' x ')}; one matrix with rows of K=${k}, as the scales say it, is needed.`
    )
  }
  const [a, b] = [codesOf('aCodes', format.a), codesOf('bCodes', format.b)]
  const isWide = !file.arrays.some(({ name }) => name === 'c_f32')
  const { bytes, dtype, name } = takeArray(file, isWide ? 'reference' : 'accumulator')
  if (dtype !== (isWide ? 'F64' : 'F32'))
    throw new UserError(
      'usage',
      `${path}: tensor "${name}" is ${dtype}; ${isWide ? 'F64' : 'F32'} is needed.`
    )
  return {
    ...{ format, m: a.rows, n: b.rows, k, side },
    ...{ aCodes: a.codes, bCodes: b.codes, otherScales: scales?.bytes ?? new Uint8Array() },
    product: isWide ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer)
  }
}
