/** What the layout detective judges by: operands without the scales of one side, and their product. */
import { UserError } from '../errors'
import type { NumberFormat } from '../formats/numberFormat'
import { formatOfOperands, takeMatrix } from '../formats/operandMatrices'
import { parseSafetensorsHeader } from '../formats/safetensors'
import type { ProductOperands } from './detectTerms'
import {
  findElementPacking,
  packedElementBytes,
  unpackElements,
  usualPacking
} from './elementPacking'

/**
 * The arrays of a file as `validate --operands` reads it, where c_f32 may stand for c_f64, codes may be packed, and the
 * scales of the side that is looked for may be missing. K is told by the scales of the other side.
 */
export function productOperandsOf(
  file: Uint8Array,
  path: string,
  side: ProductOperands['side'],
  packing?: string
): ProductOperands {
  const header = parseSafetensorsHeader(file, file.length, path)
  const format = formatOfOperands(header, path)
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
export function elementCodes(
  bytes: Uint8Array,
  count: number,
  format: NumberFormat,
  from: string,
  packingName?: string
): Uint8Array {
  const named = packingName ? findElementPacking(packingName) : undefined
  const packing =
    named?.storageBits === format.storageBits ? named : usualPacking(format.storageBits)
  const packed = packing ? packedElementBytes(packing, count) : count
  // A container of a byte takes as many bytes as plain codes: it is meant only where it was named.
  if (bytes.length === count && packing !== named) return bytes
  if (packing && bytes.length === packed) return unpackElements(packing, bytes)
  if (bytes.length === count) return bytes
  const orPacked = packing ? `, or ${packed} packed as ${packing.name}` : ''
  throw new UserError(
    'usage',
    `${from} has ${bytes.length} bytes; ${count} codes of ${format.name} take ${count}${orPacked}.`
  )
}

/** float64 or float32: the number of bytes says which. */
export function productValues(
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
