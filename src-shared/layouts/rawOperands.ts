/** Arrays as raw bytes, without a shape or a type: the number of bytes says what they hold. */
import { UserError } from '../errors'
import type { NumberFormat } from '../formats/numberFormat'
import {
  findElementPacking,
  packedElementBytes,
  unpackElements,
  usualPacking
} from './elementPacking'

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
