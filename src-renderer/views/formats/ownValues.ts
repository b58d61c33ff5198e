/** Values of one's own: pasted numbers, or a tensor of a .safetensors file. */
import { headerEnd, parseSafetensorsHeader, type TensorEntry } from '@shared/formats/safetensors'
import type { Checked } from '../../app/fields'

export const mostValues = 2 ** 20

export function parseNumbers(typed: string): Checked<Float64Array> {
  const words = typed.split(/[\s,;]+/).filter(Boolean)
  if (words.length === 0) return {}
  const wrong = words.find((word) => !Number.isFinite(Number(word)))
  if (wrong !== undefined) return { problem: `"${wrong}" is no finite number.` }
  if (words.length > mostValues) return { problem: `At most ${mostValues} numbers can be pasted.` }
  return { value: Float64Array.from(words, Number) }
}

const decoders: Record<string, { bytes: number; read: (view: DataView, at: number) => number }> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => float16(view.getUint16(at, true)) },
  BF16: { bytes: 2, read: (view, at) => bfloat16(view.getUint16(at, true)) }
}

const bits = new DataView(new ArrayBuffer(4))

function bfloat16(code: number): number {
  bits.setUint32(0, code << 16)
  return bits.getFloat32(0)
}

/** IEEE 754 binary16. */
function float16(code: number): number {
  const sign = code & 0x8000 ? -1 : 1
  const exponent = (code >> 10) & 31
  const mantissa = code & 1023
  if (exponent === 31) return mantissa ? NaN : sign * Infinity
  if (exponent === 0) return sign * mantissa * 2 ** -24
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15)
}

/** The tensors of a file that hold real numbers. Throws a UserError for a file that is none. */
export async function listTensors(file: File): Promise<TensorEntry[]> {
  const read = async (end: number) => new Uint8Array(await file.slice(0, end).arrayBuffer())
  const end = headerEnd(await read(8), file.size, file.name)
  const { tensors } = parseSafetensorsHeader(await read(end), file.size, file.name)
  return [...tensors.values()].filter(({ dtype, start, end }) => dtype in decoders && end > start)
}

/** The first values of a tensor, at most 2^20; the rest of the file is not read. */
export async function readTensor(file: File, tensor: TensorEntry): Promise<Float64Array> {
  const decoder = decoders[tensor.dtype]!
  const count = Math.min(mostValues, (tensor.end - tensor.start) / decoder.bytes)
  const part = file.slice(tensor.start, tensor.start + count * decoder.bytes)
  const view = new DataView(await part.arrayBuffer())
  return Float64Array.from({ length: count }, (_, i) => decoder.read(view, i * decoder.bytes))
}
