/** Bytes of one matrix out of a .safetensors file: its header is no scales. */
import { saysScale } from '@shared/checkpoints/unknown'
import type { TensorEntry } from '@shared/formats/safetensors'
import { bytesOf, tensorsOf } from '../../ground/safetensorsFile'
import { count } from '../../format/units'
import type { ByteEntry } from './byteEntry'
import { mostBytes } from './scaleBytes'

export const isCheckpoint = ({ name }: File) => name.toLowerCase().endsWith('.safetensors')

const byteTypes = ['U8', 'I8', 'F8_E8M0', 'F8_E4M3']
/** Tensors of one byte a value, those named as scales first. Throws a UserError for a file that is none. */
export async function byteTensors(file: File): Promise<TensorEntry[]> {
  const found = (await tensorsOf(file)).filter(
    ({ dtype, start, end }) => byteTypes.includes(dtype) && end > start
  )
  const [first, rest] = [true, false].map((scales) =>
    found.filter(({ name }) => saysScale(name) === scales)
  )
  return [...first!, ...rest!]
}

/** The first matrix of the tensor: its last two extents. */
export async function matrixBytes(file: File, tensor: TensorEntry): Promise<ByteEntry> {
  const { name, shape, start, end } = tensor
  const matrix = shape.slice(-2).reduce((product, extent) => product * extent, 1)
  const matrices = (end - start) / matrix
  const fileName = `${name} [${shape.slice(-2).join(', ')}]${matrices > 1 ? `, first of ${count(matrices)} matrices` : ''}`
  if (matrix > mostBytes) {
    const problem = `${name} has ${count(matrix)} bytes a matrix; at most ${count(mostBytes)} are shown.`
    return { text: '', fileName: '', problem }
  }
  return { text: '', fileName, bytes: await bytesOf(file, start, start + matrix) }
}
