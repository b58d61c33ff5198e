/**
 * numpy's .npy and .npz (numpy.lib.format, version 1.0 to 3.0): a magic, a version, the length of a header that is a Python
 * dict, and the values. Read defensively: no Python is evaluated, and a file may be hostile.
 */
import { unzipSync } from 'fflate'
import { UserError } from '../errors'

export interface NamedArray {
  name: string
  /** As .safetensors spells them: 'F16', 'U8', ... */
  dtype: string
  shape: number[]
  /** Row-major, little-endian. */
  bytes: Uint8Array<ArrayBuffer>
}

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] // \x93NUMPY
const zipMagic = [0x50, 0x4b, 0x03, 0x04]
const startsWith = (bytes: Uint8Array, wanted: readonly number[]) =>
  wanted.every((byte, i) => bytes[i] === byte)

export const isNpy = (bytes: Uint8Array) => startsWith(bytes, magic)
export const isNpz = (bytes: Uint8Array) => startsWith(bytes, zipMagic)

/** Without the byte order. numpy writes ml_dtypes' bfloat16 as 2 bytes of no type, its 8-bit floats as 1. */
const dtypes: Record<string, { name: string; bytes: number }> = {
  f2: { name: 'F16', bytes: 2 },
  f4: { name: 'F32', bytes: 4 },
  f8: { name: 'F64', bytes: 8 },
  V2: { name: 'BF16', bytes: 2 },
  u1: { name: 'U8', bytes: 1 },
  i1: { name: 'I8', bytes: 1 },
  V1: { name: 'U8', bytes: 1 },
  u2: { name: 'U16', bytes: 2 },
  u4: { name: 'U32', bytes: 4 },
  i4: { name: 'I32', bytes: 4 },
  i8: { name: 'I64', bytes: 8 }
}

/** Names in a zip archive, of which nothing is unpacked; none where it cannot be read. */
export function zipNames(bytes: Uint8Array): string[] {
  const names: string[] = []
  try {
    unzipSync(bytes, { filter: ({ name }) => (names.push(name), false) })
  } catch {
    // Damaged: whoever reads it says so.
  }
  return names
}

/** The arrays of a .npz by their names. Throws a UserError that names the file and what is wrong. */
export function readNpz(bytes: Uint8Array, path: string): NamedArray[] {
  let files: Record<string, Uint8Array>
  try {
    files = unzipSync(bytes)
  } catch {
    throw new UserError('usage', `${path} is no whole .npz: its zip archive cannot be read.`)
  }
  return Object.entries(files)
    .filter(([name]) => name.endsWith('.npy'))
    .map(([name, array]) => ({
      ...readNpy(array, `${path}, ${name}`),
      name: name.slice(0, -'.npy'.length)
    }))
}

/** The array of a .npy. Throws a UserError that names the file and what is wrong. */
export function readNpy(bytes: Uint8Array, path: string): Omit<NamedArray, 'name'> {
  const refused = (why: string) => new UserError('usage', `${path} cannot be read: ${why}.`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = bytes[6] === 1 ? 10 : 12
  if (bytes.length < start) throw refused(`it has ${bytes.length} bytes, less than a header`)
  const dataStart = start + (start === 10 ? view.getUint16(8, true) : view.getUint32(8, true))
  if (dataStart > bytes.length) throw refused('it is cut off within its header')
  const header = new TextDecoder().decode(bytes.subarray(start, dataStart))
  const descr = /'descr': *'([<>|=])([A-Za-z])(\d+)'/.exec(header)
  const order = /'fortran_order': *(True|False)/.exec(header)
  const shapeText = /'shape': *\(([\d, ]*)\)/.exec(header)
  if (!descr || !order || !shapeText) throw refused('its header is none that numpy writes')
  const [, endian, kind, size] = descr
  const dtype = dtypes[`${kind}${size}`]
  if (!dtype) throw refused(`values of type "${kind}${size}" are not taken`)
  if (endian === '>' && dtype.bytes > 1) throw refused('its values are big-endian')
  const shape = shapeText[1]!
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number)
  const count = shape.reduce((product, extent) => product * extent, 1)
  const wanted = count * dtype.bytes
  const found = bytes.length - dataStart
  if (found !== wanted)
    throw refused(
      `${shape.join(' x ')} values of ${dtype.name} take ${wanted} bytes; it has ${found}`
    )
  const values = Uint8Array.from(bytes.subarray(dataStart))
  const isTurned = order[1] === 'True' && shape.length > 1
  return {
    dtype: dtype.name,
    shape,
    bytes: isTurned ? fromFortran(values, shape, dtype.bytes) : values
  }
}

/** First axis fastest, to last axis fastest. */
function fromFortran(
  values: Uint8Array,
  shape: readonly number[],
  size: number
): Uint8Array<ArrayBuffer> {
  const turned = new Uint8Array(values.length)
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1))
  const index = shape.map(() => 0)
  for (let at = 0; at < values.length; at += size) {
    const from = index.reduce((sum, i, axis) => sum + i * strides[axis]!, 0) * size
    turned.set(values.subarray(from, from + size), at)
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis]!++
      if (index[axis]! < shape[axis]!) break
      index[axis] = 0
    }
  }
  return turned
}
