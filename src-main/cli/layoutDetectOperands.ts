/** What the layout detective judges by, from files: raw arrays, or a .safetensors file of operands and product. */
import { UserError } from '@shared/errors'
import { checkShape, findBlockFormat, matchBlockFormat } from '@shared/formats/blockFormat'
import type { NumberFormat } from '@shared/formats/numberFormat'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import type { ProductOperands } from '@shared/layouts/detectTerms'
import {
  findElementPacking,
  packedElementBytes,
  unpackElements
} from '@shared/layouts/elementPacking'
import { takeMatrix } from '../jobs/operandsFile'
import { readBytes } from './layoutFlags'

export type Side = ProductOperands['side']

export interface RawOperandFlags {
  format?: string
  M?: number
  N?: number
  K?: number
  a?: string
  b?: string
  otherScales?: string
  product?: string
  packing?: string
}

/** Operands from files of raw bytes, one for each array. */
export function rawOperands(flags: RawOperandFlags, side: Side): ProductOperands {
  const { format: formatId, M: m, N: n, K: k, a, b, otherScales, product, packing } = flags
  if (!formatId || !m || !n || !k || !a || !b || !otherScales || !product) {
    const needed = {
      format: formatId,
      M: m,
      N: n,
      K: k,
      a,
      b,
      'other-scales': otherScales,
      product
    }
    const missing = Object.entries(needed)
      .filter(([, value]) => value === undefined)
      .map(([name]) =>
        name.length === 1 && name === name.toUpperCase() ? `-${name}` : `--${name}`
      )
    throw new UserError(
      'usage',
      `Operands as raw files also need ${missing.join(', ')}; or name one file with --operands.`
    )
  }
  const format = findBlockFormat(formatId)
  checkShape(format, m, n, k)
  return {
    ...{ format, m, n, k, side },
    aCodes: elementCodes(readBytes(a), m * k, format.a, a, packing),
    bCodes: elementCodes(readBytes(b), n * k, format.b, b, packing),
    otherScales: readBytes(otherScales),
    product: productValues(readBytes(product), m * n, product)
  }
}

/**
 * The arrays of a file as `validate --operands` reads it, where c_f32 may stand for c_f64, codes may be packed, and the
 * scales of the side that is looked for may be missing. K is told by the scales of the other side.
 */
export function fileOperands(path: string, side: Side, packing?: string): ProductOperands {
  const file = readBytes(path)
  const header = parseSafetensorsHeader(file, file.length, path)
  const { a, b, scale, vec } = header.metadata
  if (!a || !b || !scale || !vec) {
    throw new UserError(
      'usage',
      `${path} does not say its formats: the metadata needs a, b, scale and vec, such as ` +
        '{"a": "e2m1", "b": "e2m1", "scale": "e4m3", "vec": "16"}.'
    )
  }
  const format = matchBlockFormat(a, b, scale, Number(vec))
  const take = (name: string, dtype = 'U8') => takeMatrix(header, file, path, name, dtype)
  const aCodes = take('a_codes')
  const bCodes = take('b_codes')
  const scales = take(side === 'a' ? 'b_scales' : 'a_scales')
  const wide = !header.tensors.has('c_f32')
  const c = wide ? take('c_f64', 'F64') : take('c_f32', 'F32')
  const [m] = aCodes.shape
  const [n] = bCodes.shape
  const k = scales.shape[1] * format.scaleBlockSize
  return {
    ...{ format, m, n, k, side },
    aCodes: elementCodes(aCodes.bytes, m * k, format.a, `${path}, tensor "a_codes",`, packing),
    bCodes: elementCodes(bCodes.bytes, n * k, format.b, `${path}, tensor "b_codes",`, packing),
    otherScales: scales.bytes,
    product: wide ? new Float64Array(c.bytes.buffer) : new Float32Array(c.bytes.buffer)
  }
}

/** One code per byte, or packed: the number of bytes says which. A named packing holds for codes of its width. */
function elementCodes(
  bytes: Uint8Array,
  count: number,
  format: NumberFormat,
  from: string,
  packingName: string | undefined
): Uint8Array {
  const named = packingName ? findElementPacking(packingName) : undefined
  const usual = format.storageBits === 4 ? 'fp4_low_first' : 'fp6_dense'
  const packing = named?.storageBits === format.storageBits ? named : findElementPacking(usual)
  const packed = format.storageBits === 8 ? count : packedElementBytes(packing, count)
  // A container of a byte takes as many bytes as plain codes: it is meant only where it was named.
  if (bytes.length === count && packing !== named) return bytes
  if (bytes.length === packed) return unpackElements(packing, bytes)
  if (bytes.length === count) return bytes
  const orPacked = packed === count ? '' : `, or ${packed} packed as ${packing.name}`
  throw new UserError(
    'usage',
    `${from} has ${bytes.length} bytes; ${count} codes of ${format.name} take ${count}${orPacked}.`
  )
}

function productValues(
  bytes: Uint8Array,
  count: number,
  from: string
): Float64Array | Float32Array {
  const { buffer } = Uint8Array.from(bytes)
  if (bytes.length === count * 8) return new Float64Array(buffer)
  if (bytes.length === count * 4) return new Float32Array(buffer)
  throw new UserError(
    'usage',
    `${from} has ${bytes.length} bytes; a product of ${count} values takes ${count * 8} as float64 or ${count * 4} as float32.`
  )
}
