/** Packed fp4 blocks to float32, fast: one table look-up per nibble and one multiplication. */
import { UserError } from '../errors'
import { decodeTable, numberFormats, type NumberFormat } from './numberFormat'

const e2m1Values = Float32Array.from(decodeTable(numberFormats.e2m1))

/**
 * Decodes packed e2m1 codes (two a byte, low nibble first), one scale code per block, into `out`. Throws a UserError
 * unless codes, scales and out fit together. In float32: 6 x 2^127 is infinity, as in any float32 kernel.
 */
export function decodeFp4Blocks(
  packed: Uint8Array,
  scales: Uint8Array,
  scale: NumberFormat,
  scaleBlockSize: number,
  out: Float32Array
): void {
  const blockBytes = scaleBlockSize / 2
  if (packed.length !== scales.length * blockBytes || out.length !== packed.length * 2) {
    throw new UserError(
      'usage',
      `${packed.length} bytes of fp4, ${scales.length} scales per ${scaleBlockSize} and ${out.length} values do not fit together.`
    )
  }
  const scaleValues = decodeTable(scale)
  const scaled = new Float32Array(16)
  for (let block = 0; block < scales.length; block++) {
    const factor = scaleValues[scales[block]!]!
    for (let code = 0; code < 16; code++) scaled[code] = e2m1Values[code]! * factor
    const end = (block + 1) * blockBytes
    for (let i = block * blockBytes; i < end; i++) {
      const byte = packed[i]!
      out[2 * i] = scaled[byte & 15]!
      out[2 * i + 1] = scaled[byte >> 4]!
    }
  }
}
