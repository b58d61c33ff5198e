/** Bytes of one matrix out of a checkpoint or an operand file: a file's header is no scales. */
import { findWeights, matrixCount } from '@shared/checkpoints/conventions'
import { saysScale } from '@shared/checkpoints/unknown'
import { UserError } from '@shared/errors'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import type { SafetensorsHeader, TensorEntry } from '@shared/formats/safetensors'
import { bytesOf, headerOf } from '../../ground/safetensorsFile'
import { count } from '@shared/units'
import type { ByteEntry } from './byteEntry'
import { mostBytes } from './scaleBytes'

export const isCheckpoint = ({ name }: File) => /\.(safetensors|gguf)$/i.test(name)

/** What a file tells of a matrix of scales. */
export interface ScaleMatrix {
  rows: number
  columns: number
  layout?: string
  /** Block-scaled format whose scales these are. */
  format?: string
}

export interface ByteTensor {
  entry: TensorEntry
  title: string
  /** How many lie one after another. */
  matrices: number
  scales?: ScaleMatrix
}

/** Scales of block-scaled weights, then tensors named as scales, then all others of one byte a value. Throws a UserError. */
export async function byteTensors(file: File): Promise<ByteTensor[]> {
  if (/\.gguf$/i.test(file.name)) {
    throw new UserError(
      'usage',
      `${file.name} keeps each block's scale beside its codes, so it has no matrix of scales; ` +
        'blockscope checkpoint convert writes one that has.'
    )
  }
  const header = await headerOf(file)
  const weights = scalesOfWeights(header, file.name)
  const named = new Set(weights.map(({ entry }) => entry.name))
  const others = [...header.tensors.values()].filter(
    ({ name, dtype, start, end }) => byteTypes.includes(dtype) && end > start && !named.has(name)
  )
  const [scales, rest] = [true, false].map((wanted) =>
    others.filter(({ name }) => saysScale(name) === wanted)
  )
  return [...weights, ...scales!.map(scaleTensor), ...rest!.map(plainTensor)]
}

const byteTypes = ['U8', 'I8', 'F8_E8M0', 'F8_E4M3']

/** Of weights whose convention is known: where the file says how its scales lie. */
function scalesOfWeights(header: SafetensorsHeader, file: string): ByteTensor[] {
  let found: ReturnType<typeof findWeights>['weights']
  try {
    found = findWeights(header, file, {}).weights
  } catch {
    // Tensors that do not fit together can be looked at one by one all the same.
    return []
  }
  return found.flatMap(({ name, convention, leading, rows, k, scales, layout }) => {
    if (!scales) return []
    const { element, scale, scaleBlockSize } = convention
    const format = everyBlockFormat.find(
      ({ a, b, scale: own, scaleBlockSize: size }) =>
        a.name === element.name &&
        b.name === element.name &&
        own.name === scale.name &&
        size === scaleBlockSize
    )
    return [
      {
        entry: scales,
        title: `${name} [${[...leading, rows, k].join(', ')}]: scales, ${convention.name}, ${layout.name}`,
        matrices: matrixCount({ leading }),
        scales: {
          rows,
          columns: k / scaleBlockSize,
          layout: layout.name,
          ...(format && { format: format.id })
        }
      }
    ]
  })
}

const titleOf = ({ name, dtype, shape }: TensorEntry) => `${name}, ${dtype} [${shape.join(', ')}]`
const matrixSize = ({ shape }: TensorEntry) =>
  shape.slice(-2).reduce((product, extent) => product * extent, 1)

function plainTensor(entry: TensorEntry): ByteTensor {
  return {
    entry,
    title: titleOf(entry),
    matrices: (entry.end - entry.start) / matrixSize(entry)
  }
}

/** Of an operand file (docs/operands.md) the scales lie linear; of another, its last two extents are taken as the matrix. */
function scaleTensor(entry: TensorEntry): ByteTensor {
  const [rows, columns] = entry.shape.slice(-2)
  const isOperand = /^[ab]_scales$/.test(entry.name)
  return {
    ...plainTensor(entry),
    ...(columns !== undefined && {
      scales: { rows: rows!, columns, ...(isOperand && { layout: 'linear' }) }
    })
  }
}

/** One matrix of the tensor. */
export async function matrixBytes(
  file: File,
  { entry, matrices }: ByteTensor,
  matrix: number
): Promise<ByteEntry> {
  const { name, start, end } = entry
  const size = (end - start) / matrices
  const which = matrices > 1 ? `, matrix ${matrix} of ${count(matrices)}` : ''
  if (size > mostBytes) {
    const problem = `${name} has ${count(size)} bytes a matrix; at most ${count(mostBytes)} are shown.`
    return { text: '', fileName: '', problem }
  }
  const from = start + matrix * size
  return { text: '', fileName: `${name}${which}`, bytes: await bytesOf(file, from, from + size) }
}
