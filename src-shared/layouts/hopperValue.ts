/**
 * Packed fp4 weights as triton_kernels' HopperMXValueLayout keeps them for 16-bit MMA, blocks along the last axis: bytes
 * move so that a thread loads what it needs at once, then the nibbles of four bytes interleave in a 32-bit word so that
 * masks and shifts alone give bfloat16. Source: triton_kernels layout_details/hopper_value.py.
 */
import { UserError } from '../errors'
import { digits } from './describe'
import {
  packedOffset,
  paddedShape,
  packScales,
  unpackScales,
  type ScaleLayout,
  type ScaleShape
} from './layout'

export type MmaVersion = 2 | 3

/** Where bytes go: rows are N, columns bytes of K / 2, padded to 256 x 64. */
export function hopperValueLayout(mmaVersion: MmaVersion): ScaleLayout {
  const adjacent = mmaVersion === 2 ? 4 : 1
  return {
    name: `triton_hopper_value_mma${mmaVersion}`,
    title: `triton_kernels HopperMXValueLayout, mma version ${mmaVersion}`,
    source: 'triton_kernels layout_details/hopper_value.py',
    rowDigits: digits('row', 'rowTile:0 rowPart:16 rowHalf:2 rowThread:4 rowPair:2'),
    columnDigits: digits(
      'column',
      `columnTile:0 columnPart:2 kTile:${4 / adjacent} columnHalf:2 columnThread:4 adjacent:${adjacent}`
    ),
    order:
      'rowTile rowPart rowThread columnTile columnPart rowPair columnThread kTile columnHalf rowHalf adjacent'.split(
        ' '
      ),
    views: []
  }
}

/** Bits of a code at their places in bfloat16: sign at 15, the rest at 6 to 8. */
const spread = (code: number) => ((code & 8) << 12) | ((code & 7) << 6)
/** The fourth code fills the bits that the other three, shifted by 0, 3 and 6, leave free. */
const spreadFourth = (code: number) => ((code & 8) << 11) | ((code & 6) << 9) | ((code & 1) << 13)

const gather = (word: number) => ((word >>> 12) & 8) | ((word >>> 6) & 7)
const gatherFourth = (word: number) =>
  ((word >>> 11) & 8) | ((word >>> 9) & 6) | ((word >>> 13) & 1)

/** Four bytes, eight codes, to one little-endian word; the low nibbles fill its low half. */
export function interleaveCodes(bytes: Uint8Array): Uint8Array {
  return eachWord(bytes, (at, out) => {
    for (const [half, shift] of [
      [0, 0],
      [1, 4]
    ] as const) {
      const code = (i: number) => (bytes[at + i]! >> shift) & 15
      const word =
        spread(code(0)) | (spread(code(1)) >> 3) | (spread(code(2)) >> 6) | spreadFourth(code(3))
      out[at + 2 * half] = word & 255
      out[at + 2 * half + 1] = word >> 8
    }
  })
}

/** The reverse of interleaveCodes. */
export function separateCodes(bytes: Uint8Array): Uint8Array {
  return eachWord(bytes, (at, out) => {
    const low = bytes[at]! | (bytes[at + 1]! << 8)
    const high = bytes[at + 2]! | (bytes[at + 3]! << 8)
    const codes = (word: number) => [
      gather(word),
      gather(word << 3),
      gather(word << 6),
      gatherFourth(word)
    ]
    const highCodes = codes(high)
    codes(low).forEach((code, i) => (out[at + i] = code | (highCodes[i]! << 4)))
  })
}

function eachWord(bytes: Uint8Array, work: (at: number, out: Uint8Array) => void): Uint8Array {
  if (bytes.length % 4 !== 0) {
    throw new UserError('usage', `${bytes.length} bytes do not divide into words of 4.`)
  }
  const out = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += 4) work(at, out)
  return out
}

/** Packed fp4 (rows, K / 2) to the layout's bytes. */
export function packHopperValues(
  mmaVersion: MmaVersion,
  shape: ScaleShape,
  packed: Uint8Array
): Uint8Array {
  return interleaveCodes(packScales(hopperValueLayout(mmaVersion), shape, packed))
}

/** The reverse of packHopperValues. */
export function unpackHopperValues(
  mmaVersion: MmaVersion,
  shape: ScaleShape,
  swizzled: Uint8Array
): Uint8Array {
  return unpackScales(hopperValueLayout(mmaVersion), shape, separateCodes(swizzled))
}

export interface HopperValuePlace {
  /** Byte of the packed (rows, K / 2) matrix that holds the value, and its nibble: 0 is the low one. */
  packedByte: number
  nibble: 0 | 1
  /** Byte offset of the little-endian 16-bit half word that holds it afterwards. */
  offset: number
  /** Bits of that half word that hold the code, from the sign to its lowest bit. */
  bits: [number, number, number, number]
  /** Bytes of the whole padded matrix. */
  size: number
}

/** Where value (row, k) of a (rows, K) fp4 matrix lies in the layout. Throws a UserError for sizes that do not fit. */
export function hopperValuePlace(
  mmaVersion: MmaVersion,
  { rows, k: depth }: { rows: number; k: number },
  row: number,
  k: number
): HopperValuePlace {
  if (depth % 2 !== 0) {
    throw new UserError('usage', `K = ${depth}: two fp4 values share a byte, so K must be even.`)
  }
  if (row < 0 || k < 0 || row >= rows || k >= depth) {
    throw new UserError(
      'usage',
      `Row ${row}, column ${k} lies outside ${rows} x ${depth} fp4 values.`
    )
  }
  const layout = hopperValueLayout(mmaVersion)
  const shape = { rows, columns: depth / 2 }
  const byteColumn = Math.floor(k / 2)
  const moved = packedOffset(layout, shape, row, byteColumn)
  const nibble = k % 2 === 0 ? 0 : 1
  const code = moved % 4
  const shift = 3 * code
  const padded = paddedShape(layout, shape)
  return {
    packedByte: row * shape.columns + byteColumn,
    nibble,
    offset: moved - code + 2 * nibble,
    bits: code === 3 ? [14, 11, 10, 13] : [15 - shift, 8 - shift, 7 - shift, 6 - shift],
    size: padded.rows * padded.columns
  }
}
