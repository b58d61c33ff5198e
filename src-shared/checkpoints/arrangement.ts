/**
 * Codes and scales of a weight as the file has them, in the plain form (fp4 two a byte, low nibble first, all others one a byte;
 * scales apart from them, row-major), and back. Nothing is rounded: both ways together give the same bytes.
 */
import type { TensorEntry } from '../formats/safetensors'
import { findElementPacking, repackElements } from '../layouts/elementPacking'
import {
  packItems,
  packScales,
  paddedSize,
  tileExtent,
  unpackItems,
  unpackScales
} from '../layouts/layout'
import type { Convention } from './convention'
import { orderOf, rowBytes, storedRowBytes, type BlockScaledWeight } from './conventions'

/** Bytes from..to of a tensor. */
export type ReadTensor = (tensor: TensorEntry, from: number, to: number) => Uint8Array

/** Bytes to a place in a tensor. */
export type WriteTensor = (
  tensor: TensorEntry,
  at: number,
  bytes: Uint8Array
) => void | Promise<void>

/** Rows that are read and written together: a tile where codes are in another order than row-major. */
export function rowsTogether({ convention, rows }: BlockScaledWeight): number {
  const layout = convention.codesLayout?.layout
  if (!layout) return 1
  const outermost = layout.rowDigits[0]!
  return layout.order[0] === outermost.name && outermost.extent === 0
    ? tileExtent(layout.rowDigits)
    : rows
}

/** Codes and scales of rows in the plain form; `scales` only where they lie among the codes. */
interface PlainRows {
  codes: Uint8Array
  scales?: Uint8Array
}

/** Rows `from` to `to` of one matrix, whole groups of rowsTogether. */
function readRows(
  weight: BlockScaledWeight,
  matrix: number,
  from: number,
  to: number,
  read: ReadTensor
): PlainRows {
  const bytes = storedRowBytes(weight)
  const start = matrix * weight.rows
  const stored = read(weight.codes, (start + from) * bytes, (start + to) * bytes)
  return toPlain(weight, to - from, stored)
}

/** The codes of any rows of one matrix. */
export function readCodes(
  weight: BlockScaledWeight,
  matrix: number,
  from: number,
  to: number,
  read: ReadTensor
): Uint8Array {
  const together = rowsTogether(weight)
  const first = Math.floor(from / together) * together
  const last = Math.min(weight.rows, Math.ceil(to / together) * together)
  const { codes } = readRows(weight, matrix, first, last, read)
  const bytes = rowBytes(weight)
  return codes.subarray((from - first) * bytes, (to - first) * bytes)
}

/** Linear scales of some rows of one matrix; only a layout that mixes rows needs the whole matrix for them. */
export function readRowScales(
  weight: BlockScaledWeight,
  matrix: number,
  from: number,
  to: number,
  read: ReadTensor
): Uint8Array {
  const { scales, layout, rows } = weight
  if (!scales) return readRows(weight, matrix, from, to, read).scales!
  const columns = weight.k / weight.convention.scaleBlockSize
  if (layout.name === 'linear') {
    const start = matrix * rows
    return read(scales, (start + from) * columns, (start + to) * columns)
  }
  const size = paddedSize(layout, rows, columns)
  const packed = read(scales, matrix * size, (matrix + 1) * size)
  return unpackScales(layout, { rows, columns }, packed).subarray(from * columns, to * columns)
}

/**
 * Plain rows with their linear scales to the file: whole groups of rowsTogether, and whole matrices where scales are in a
 * layout that mixes rows.
 */
export async function writeRows(
  weight: BlockScaledWeight,
  matrix: number,
  from: number,
  plain: { codes: Uint8Array; scales: Uint8Array },
  write: WriteTensor
): Promise<void> {
  const { codes, scales, layout } = weight
  const rows = plain.codes.length / rowBytes(weight)
  const row = matrix * weight.rows + from
  await write(codes, row * storedRowBytes(weight), fromPlain(weight, rows, plain))
  if (!scales) return
  const columns = weight.k / weight.convention.scaleBlockSize
  if (layout.name === 'linear') return write(scales, row * columns, plain.scales)
  const packed = packScales(layout, { rows, columns }, plain.scales)
  await write(scales, matrix * packed.length, packed)
}

function toPlain(weight: BlockScaledWeight, rows: number, stored: Uint8Array): PlainRows {
  const { convention, k } = weight
  const { codesLayout, interleaved = 0, scaleBlockSize, scaleCodeOffset = 0 } = convention
  let bytes = stored
  if (codesLayout) {
    const { layout, itemBytes } = codesLayout
    const shape = { rows, columns: storedRowBytes(weight) / itemBytes }
    bytes = unpackItems(layout, shape, bytes, itemBytes)
  }
  if (!interleaved) return { codes: ordered(convention, bytes, 'toPlain') }
  const scales = new Uint8Array((rows * k) / scaleBlockSize)
  const codes = new Uint8Array(bytes.length - scales.length)
  const codeBytes = codes.length / (scales.length / interleaved)
  for (let at = 0, scale = 0, code = 0; at < bytes.length; code += codeBytes) {
    scales.set(bytes.subarray(at, at + interleaved), scale)
    scale += interleaved
    at += interleaved
    codes.set(bytes.subarray(at, at + codeBytes), code)
    at += codeBytes
  }
  return { codes: ordered(convention, codes, 'toPlain'), scales: shifted(scales, scaleCodeOffset) }
}

/** The reverse of toPlain. */
function fromPlain(
  weight: BlockScaledWeight,
  rows: number,
  { codes, scales }: { codes: Uint8Array; scales: Uint8Array }
): Uint8Array {
  const { codesLayout, interleaved = 0, scaleCodeOffset = 0 } = weight.convention
  let bytes = ordered(weight.convention, codes, 'fromPlain')
  if (interleaved) {
    const stored = shifted(scales, -scaleCodeOffset)
    const codeBytes = bytes.length / (scales.length / interleaved)
    const whole = new Uint8Array(bytes.length + scales.length)
    for (let at = 0, scale = 0, code = 0; at < whole.length; code += codeBytes) {
      whole.set(stored.subarray(scale, scale + interleaved), at)
      scale += interleaved
      at += interleaved
      whole.set(bytes.subarray(code, code + codeBytes), at)
      at += codeBytes
    }
    bytes = whole
  }
  if (!codesLayout) return bytes
  const { layout, itemBytes } = codesLayout
  const shape = { rows, columns: storedRowBytes(weight) / itemBytes }
  return packItems(layout, shape, bytes, itemBytes)
}

/** Bytes with something added to each, modulo 256. */
const shifted = (bytes: Uint8Array, offset: number): Uint8Array =>
  offset === 0 ? bytes : bytes.map((byte) => byte + offset)

function ordered(
  convention: Convention,
  bytes: Uint8Array,
  direction: 'toPlain' | 'fromPlain'
): Uint8Array {
  const own = orderOf(convention)
  if (!own) return bytes
  const plain = findElementPacking(own.storageBits === 4 ? 'fp4_low_first' : 'fp6_byte')
  const { bitPairs } = convention
  if (direction === 'toPlain') {
    const packed = bitPairs ? movedPairs(bytes, bitPairs) : bytes
    return repackElements(own, plain, packed)
  }
  const packed = repackElements(plain, own, bytes)
  return bitPairs ? movedPairs(packed, inverse(bitPairs)) : packed
}

/** Group after group of 4 pairs a byte, counted from its low bits: pair i is the one that was at places[i]. */
function movedPairs(bytes: Uint8Array, places: readonly number[]): Uint8Array {
  const moved = new Uint8Array(bytes.length)
  for (let group = 0; group < bytes.length; group += places.length / 4) {
    places.forEach((from, to) => {
      const pair = (bytes[group + (from >> 2)]! >> (2 * (from & 3))) & 3
      moved[group + (to >> 2)]! |= pair << (2 * (to & 3))
    })
  }
  return moved
}

const inverse = (places: readonly number[]): number[] => places.map((_, at) => places.indexOf(at))
