/** Values of one's own: pasted numbers, or a tensor of a .safetensors file. */
import {
  decodeSample,
  isFloatTensor,
  planSample,
  type TensorSample
} from '@shared/formats/floatTensor'
import type { TensorEntry } from '@shared/formats/safetensors'
import type { Checked } from '../../ground/fields'
import { bytesOf, tensorsOf } from '../../ground/safetensorsFile'

export const mostValues = 2 ** 20

export function parseNumbers(typed: string): Checked<Float64Array> {
  const words = typed.split(/[\s,;]+/).filter(Boolean)
  if (words.length === 0) return {}
  const wrong = words.find((word) => !Number.isFinite(Number(word)))
  if (wrong !== undefined) return { problem: `"${wrong}" is no finite number.` }
  if (words.length > mostValues) return { problem: `At most ${mostValues} numbers can be pasted.` }
  return { value: Float64Array.from(words, Number) }
}

/** The tensors of a file that hold real numbers. Throws a UserError for a file that is none. */
export async function listTensors(file: File): Promise<TensorEntry[]> {
  return (await tensorsOf(file)).filter(isFloatTensor)
}

/** Rows of a tensor, spread over it; the rest of the file is not read. */
export async function readSample(file: File, tensor: TensorEntry): Promise<TensorSample> {
  const plan = planSample(tensor)
  const pieces = plan.ranges.map(({ from, to }) =>
    bytesOf(file, tensor.start + from, tensor.start + to)
  )
  return decodeSample(plan, await Promise.all(pieces))
}
