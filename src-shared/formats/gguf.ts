/**
 * The GGUF container, versions 2 and 3 (ggml-org/ggml docs/gguf.md; types and sizes: ggml-org/llama.cpp
 * gguf-py/gguf/constants.py): a header with typed values and a table of tensors, then the tensors, aligned. Read defensively.
 */
import { UserError } from '../errors'
import type { SafetensorsHeader, TensorEntry } from './safetensors'

/** Of a ggml type: its name here, codes of a block and bytes of a block. Names of plain numbers are those of safetensors. */
const types: Record<number, readonly [name: string, codes: number, bytes: number]> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 36],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
  40: ['NVFP4', 64, 36]
}

/** Bytes of a value by its type; strings (8) and arrays (9) say their own length. */
const valueBytes: Record<number, number> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8
}
const stringType = 8
const arrayType = 9
const uint32Type = 4

/** More is no header: the largest vocabularies take some tens of MB. */
const mostHeaderBytes = 2 ** 30
/** An entry of the table takes at least 24 bytes. */
const mostTensors = 2 ** 20
const mostAxes = 8

/** Whether the first bytes of a file are those of GGUF. */
export const isGguf = (first: Uint8Array) =>
  first.length >= 4 && String.fromCharCode(...first.subarray(0, 4)) === 'GGUF'

/** The bytes that were given end before the header does. */
class MoreBytes extends Error {}

/**
 * Reads the header, asking for ever more of the file's first bytes. Metadata that is text is kept. Throws a UserError that says
 * what is wrong.
 */
export function readGgufHeader(
  fileSize: number,
  file: string,
  firstBytes: (count: number) => Uint8Array
): SafetensorsHeader {
  for (let count = 2 ** 20; ; count *= 4) {
    const size = Math.min(count, fileSize, mostHeaderBytes)
    try {
      return parse(firstBytes(size), fileSize, file)
    } catch (thrown) {
      if (!(thrown instanceof MoreBytes)) throw thrown
      if (size === fileSize)
        throw refused(file, `it is cut off: its header goes on past ${size} bytes`)
      if (size === mostHeaderBytes) throw refused(file, `its header has more than ${size} bytes`)
    }
  }
}

class Cursor {
  private at = 0
  private readonly view: DataView

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get position(): number {
    return this.at
  }

  take(count: number): number {
    if (this.at + count > this.bytes.length) throw new MoreBytes()
    this.at += count
    return this.at - count
  }

  uint32(): number {
    return this.view.getUint32(this.take(4), true)
  }

  /** Infinity beyond 2^53: any such count or offset is refused. */
  uint64(): number {
    const value = this.view.getBigUint64(this.take(8), true)
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value)
  }

  text(): string {
    const length = this.uint64()
    const from = this.take(length)
    return new TextDecoder().decode(this.bytes.subarray(from, from + length))
  }
}

function parse(bytes: Uint8Array, fileSize: number, file: string): SafetensorsHeader {
  const cursor = new Cursor(bytes)
  cursor.take(4)
  const version = cursor.uint32()
  if (version > 0xffff) throw refused(file, 'it is big-endian; only little-endian files are read')
  if (version !== 2 && version !== 3) {
    throw refused(file, `it is of version ${version}; versions 2 and 3 are read`)
  }
  const [tensorCount, valueCount] = [cursor.uint64(), cursor.uint64()]
  if (tensorCount > mostTensors || valueCount > mostTensors) {
    throw refused(file, `it claims ${tensorCount} tensors and ${valueCount} values`)
  }
  const metadata: Record<string, string> = Object.create(null) as Record<string, string>
  let alignment = 32
  for (let i = 0; i < valueCount; i++) {
    const key = cursor.text()
    const type = cursor.uint32()
    if (type === stringType) metadata[key] = cursor.text()
    else if (type === uint32Type && key === 'general.alignment') alignment = cursor.uint32()
    else skipValue(cursor, type, file, 0)
  }
  if (alignment < 1 || alignment % 8 !== 0) {
    throw refused(file, `its alignment is ${alignment}, which is no multiple of 8`)
  }
  const table = Array.from({ length: tensorCount }, () => readRow(cursor, file))
  const dataStart = Math.ceil(cursor.position / alignment) * alignment
  const tensors = new Map<string, TensorEntry>()
  for (const row of table) {
    if (tensors.has(row.name)) throw refused(file, `two of its tensors are named "${row.name}"`)
    tensors.set(row.name, placed(row, dataStart, fileSize, file))
  }
  return { tensors, metadata }
}

function skipValue(cursor: Cursor, type: number, file: string, depth: number): void {
  if (type === stringType) {
    cursor.take(cursor.uint64())
    return
  }
  if (type !== arrayType) {
    cursor.take(sizeOf(type, file))
    return
  }
  const of = cursor.uint32()
  const count = cursor.uint64()
  if (of !== stringType && of !== arrayType) {
    cursor.take(count * sizeOf(of, file))
    return
  }
  if (depth > 8) throw refused(file, 'its values are nested too deep')
  for (let i = 0; i < count; i++) skipValue(cursor, of, file, depth + 1)
}

function sizeOf(type: number, file: string): number {
  const size = valueBytes[type]
  if (size === undefined) throw refused(file, `a value has the unknown type ${type}`)
  return size
}

interface Row {
  name: string
  shape: number[]
  type: number
  offset: number
}

function readRow(cursor: Cursor, file: string): Row {
  const name = cursor.text()
  const axes = cursor.uint32()
  if (axes > mostAxes) throw refused(file, `tensor "${name}" has ${axes} axes`)
  // ggml counts axes from the fastest.
  const shape = Array.from({ length: axes }, () => cursor.uint64()).reverse()
  return { name, shape, type: cursor.uint32(), offset: cursor.uint64() }
}

function placed(
  { name, shape, type, offset }: Row,
  dataStart: number,
  fileSize: number,
  file: string
) {
  const known = types[type]
  if (!known) throw refused(file, `tensor "${name}" has the unknown ggml type ${type}`)
  const [dtype, codes, blockBytes] = known
  if ((shape.at(-1) ?? 1) % codes !== 0) {
    throw refused(file, `tensor "${name}" has rows of ${shape.at(-1)}, no whole blocks of ${dtype}`)
  }
  const count = shape.reduce((product, extent) => product * extent, 1)
  const start = dataStart + offset
  const end = start + (count / codes) * blockBytes
  if (!(end <= fileSize)) {
    throw refused(
      file,
      `it is cut off: tensor "${name}" ends at byte ${end} and the file at ${fileSize}`
    )
  }
  return { name, dtype, shape, start, end }
}

function refused(file: string, what: string): UserError {
  return new UserError('usage', `${file} is no usable .gguf file: ${what}.`)
}
