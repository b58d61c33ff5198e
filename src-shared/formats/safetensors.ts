/**
 * The safetensors container (huggingface/safetensors, "Format"): 8 bytes little-endian header length, a JSON header that
 * gives each tensor's dtype, shape and byte range, then the bytes. Read defensively: a file may be hostile.
 */
import * as v from 'valibot'
import { UserError } from '../errors'
import { describeIssues } from '../schemaWords'

/** Bits of one element; most files store those of less than a byte as U8. */
const bitsOf: Record<string, number> = {
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E4M3: 8,
  F8_E5M2: 8,
  F8_E8M0: 8,
  U16: 16,
  I16: 16,
  F16: 16,
  BF16: 16,
  U32: 32,
  I32: 32,
  F32: 32,
  U64: 64,
  I64: 64,
  F64: 64,
  C64: 64
}

/** Bits of one element of a dtype that such a file can have. */
export const dtypeBits = (dtype: string) => bitsOf[dtype]!

export const isSafetensorsDtype = (dtype: string) => Object.hasOwn(bitsOf, dtype)

/** The format's own limit: a header is at most 100 MB. */
const maxHeaderBytes = 100_000_000

export interface TensorEntry {
  name: string
  dtype: string
  shape: number[]
  /** Byte range in the file. */
  start: number
  end: number
}

export interface SafetensorsHeader {
  tensors: Map<string, TensorEntry>
  metadata: Record<string, string>
  /** What stands beside the file about how it was quantised. */
  description?: string
}

const size = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const tensorSchema = v.object({
  dtype: v.string(),
  shape: v.array(size),
  data_offsets: v.tuple([size, size])
})

/** How many bytes from the start of the file the header needs, from the file's first 8 bytes. */
export function headerEnd(first8: Uint8Array, fileSize: number, file: string): number {
  if (fileSize < 8 || first8.length < 8) {
    throw refused(file, `it has ${fileSize} bytes, less than the 8 of a header length`)
  }
  const length = new DataView(first8.buffer, first8.byteOffset, 8).getBigUint64(0, true)
  if (length > BigInt(maxHeaderBytes)) {
    throw refused(file, `its header claims ${length} bytes; at most ${maxHeaderBytes} are allowed`)
  }
  const end = 8 + Number(length)
  if (end > fileSize) {
    throw refused(file, `it is cut off: the header ends at byte ${end} and the file at ${fileSize}`)
  }
  return end
}

/** Reads the header from the first `headerEnd` bytes of a file. Throws a UserError that says what is wrong. */
export function parseSafetensorsHeader(
  bytes: Uint8Array,
  fileSize: number,
  file: string
): SafetensorsHeader {
  const dataStart = headerEnd(bytes, fileSize, file)
  let json: unknown
  try {
    json = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, dataStart))
    )
  } catch {
    throw refused(file, 'its header is not JSON')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw refused(file, 'its header is not a JSON object')
  }
  const metadata: Record<string, string> = Object.create(null) as Record<string, string>
  const tensors = new Map<string, TensorEntry>()
  for (const [name, value] of Object.entries(json)) {
    if (name === '__metadata__') {
      for (const [key, text] of Object.entries(value ?? {})) metadata[key] = String(text)
    } else tensors.set(name, readEntry(name, value, dataStart, fileSize, file))
  }
  refuseOverlaps([...tensors.values()], file)
  return { tensors, metadata }
}

function readEntry(
  name: string,
  value: unknown,
  dataStart: number,
  fileSize: number,
  file: string
): TensorEntry {
  const parsed = v.safeParse(tensorSchema, value)
  if (!parsed.success) {
    throw refused(file, `tensor "${name}": ${describeIssues([parsed.issues[0]])}`)
  }
  const { dtype, shape, data_offsets } = parsed.output
  if (!isSafetensorsDtype(dtype)) {
    throw refused(file, `tensor "${name}" has the unknown dtype ${dtype}`)
  }
  const [from, to] = data_offsets
  const wanted = shape.reduce((product, extent) => product * extent, dtypeBits(dtype)) / 8
  if (to - from !== wanted) {
    const shown = `[${shape.join(', ')}] of ${dtype}`
    throw refused(file, `tensor "${name}", ${shown}, needs ${wanted} bytes and has ${to - from}`)
  }
  const end = dataStart + to
  if (end > fileSize) {
    throw refused(
      file,
      `it is cut off: tensor "${name}" ends at byte ${end} and the file at ${fileSize}`
    )
  }
  return { name, dtype, shape, start: dataStart + from, end }
}

function refuseOverlaps(entries: TensorEntry[], file: string): void {
  const sorted = entries.filter((e) => e.end > e.start).sort((a, b) => a.start - b.start)
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i]!.start < sorted[i - 1]!.end) {
      throw refused(file, `tensors "${sorted[i - 1]!.name}" and "${sorted[i]!.name}" overlap`)
    }
  }
}

function refused(file: string, what: string): UserError {
  return new UserError('usage', `${file} is no usable .safetensors file: ${what}.`)
}

export interface NewTensor {
  name: string
  dtype: string
  shape: number[]
  byteLength: number
}

export interface NewFile {
  /** Header length and header: the file's first bytes. */
  head: Uint8Array
  /** Byte in the file at which each tensor begins, by name. */
  positions: Map<string, number>
  /** Of the whole file. */
  bytes: number
}

/** A file of these tensors, one after the other. Throws a UserError when two bear one name. */
export function planFile(
  file: string,
  tensors: readonly NewTensor[],
  metadata: Record<string, string>
): NewFile {
  const header: Record<string, unknown> = { __metadata__: metadata }
  let offset = 0
  for (const { name, dtype, shape, byteLength } of tensors) {
    if (Object.hasOwn(header, name)) {
      throw new UserError('usage', `Two tensors of ${file} would be named "${name}".`)
    }
    header[name] = { dtype, shape, data_offsets: [offset, offset + byteLength] }
    offset += byteLength
  }
  const json = new TextEncoder().encode(JSON.stringify(header))
  // Tensors start at a multiple of 8, as the format asks; spaces fill the header up.
  const length = Math.ceil(json.length / 8) * 8
  const head = new Uint8Array(8 + length).fill(0x20)
  new DataView(head.buffer).setBigUint64(0, BigInt(length), true)
  head.set(json, 8)
  const positions = new Map<string, number>()
  let position = head.length
  for (const { name, byteLength } of tensors) {
    positions.set(name, position)
    position += byteLength
  }
  return { head, positions, bytes: position }
}
