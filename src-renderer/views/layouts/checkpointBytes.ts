/** Bytes of one matrix out of a checkpoint or an operand file: a file's header is no scales. */
import { readRowScales } from '@shared/checkpoints/arrangement'
import { findWeights, matrixCount, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { formatsOfPair, likelyWeights, saysScale } from '@shared/checkpoints/unknown'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import type { SafetensorsHeader, TensorEntry } from '@shared/formats/safetensors'
import { bytesOf, checkpointHeaderOf } from '../../ground/safetensorsFile'
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
  /** Where the scales lie among these codes. */
  among?: BlockScaledWeight
  /** Codes whose scales it may be, where the file does not say whose they are. */
  possibleCodes?: PossibleCodes[]
}

/** A tensor that fits as the codes of some scales. */
export interface PossibleCodes {
  name: string
  format: string
  title: string
}

/** Scales of block-scaled weights, then tensors named as scales, then all others of one byte a value. Throws a UserError. */
export async function byteTensors(file: File): Promise<ByteTensor[]> {
  const header = await checkpointHeaderOf(file)
  const weights = scalesOfWeights(header, file.name)
  const named = new Set(weights.map(({ entry }) => entry.name))
  const others = [...header.tensors.values()].filter(
    ({ name, dtype, start, end }) => byteTypes.includes(dtype) && end > start && !named.has(name)
  )
  const [scales, rest] = [true, false].map((wanted) =>
    others.filter(({ name }) => saysScale(name) === wanted)
  )
  const unknown = [...scales!.map(scaleTensor), ...rest!.map(plainTensor)]
  return [...weights, ...unknown.map((tensor) => withPossibleCodes(tensor, header))]
}

/** What looks like the scales of some codes says so, and what else could be their codes. */
function withPossibleCodes(tensor: ByteTensor, header: SafetensorsHeader): ByteTensor {
  const { entry } = tensor
  const possibleCodes = [...header.tensors.values()].flatMap((codes) =>
    codes.name === entry.name
      ? []
      : formatsOfPair(codes, entry).map((format) => ({
          name: codes.name,
          format,
          title: `${codes.name}, ${format}`
        }))
  )
  if (possibleCodes.length === 0) return tensor
  const likely = likelyWeights(header, [], []).find(({ scales }) => scales.name === entry.name)
  const looks =
    likely && ` (looks like scales of ${likely.codes.name}, ${likely.formats.join(' or ')})`
  return { ...tensor, title: `${tensor.title}${looks ?? ''}`, possibleCodes }
}

/** The matrix of scales, once a person has said whose they are; a tensor of other extents is one matrix of rows. */
export function namedScales({ entry }: ByteTensor, { format }: PossibleCodes): ScaleMatrix {
  const [rows = 1, columns = 1] = entry.shape.slice(-2)
  return { rows, columns, layout: 'linear', format }
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
  return found.flatMap((weight) => {
    const { name, convention, leading, rows, k, scales, layout } = weight
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
        entry: scales ?? weight.codes,
        ...(!scales && { among: weight }),
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
  { entry, matrices, among }: ByteTensor,
  matrix: number
): Promise<ByteEntry> {
  const { name, start, end } = entry
  const size = (end - start) / matrices
  const which = matrices > 1 ? `, matrix ${matrix} of ${count(matrices)}` : ''
  const shown = among ? (among.rows * among.k) / among.convention.scaleBlockSize : size
  if (shown > mostBytes) {
    const problem = `${name} has ${count(shown)} bytes a matrix; at most ${count(mostBytes)} are shown.`
    return { text: '', fileName: '', problem }
  }
  const from = start + matrix * size
  const stored = await bytesOf(file, from, from + size)
  // Apart from the codes between which they lie.
  const read = (_: TensorEntry, first: number, last: number) =>
    stored.subarray(first - matrix * size, last - matrix * size)
  const bytes = among ? readRowScales(among, matrix, 0, among.rows, read) : stored
  return { text: '', fileName: `${name}${which}`, bytes }
}
