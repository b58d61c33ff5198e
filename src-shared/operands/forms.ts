/** Which format, order of B, packings and layouts the arrays of a product can be in: by names, dtypes and shapes alone. */
import { broadcastBatch } from '../batch'
import type { OperandsAs } from '../contract/jobs'
import type { BOrder } from '../contract/operation'
import { UserError } from '../errors'
import { counted } from '../units'
import type { ArrayFile } from '../formats/arrayFiles'
import {
  blockFormats,
  checkShape,
  everyBlockFormat,
  findBlockFormat,
  matchBlockFormat,
  type BlockFormat
} from '../formats/blockFormat'
import { isScaled, numberFormats } from '../formats/numberFormat'
import type { NamedArray } from '../formats/npy'
import { codesForms, elementOf, type CodesForm } from './codes'
import { findArray, takeArray } from './names'
import { scaleOf, scalesForm, type ScalesForm } from './scales'

export interface OperandArrays {
  aCodes: NamedArray
  bCodes: NamedArray
  /** Absent: A carries none. */
  aScales?: NamedArray
  bScales: NamedArray
}

export interface OperandForm {
  codes: CodesForm
  /** Absent: the operand carries none. */
  scales?: ScalesForm
}

export interface OperandsForm {
  format: BlockFormat
  bOrder: BOrder
  m: number
  n: number
  k: number
  batchA: number[]
  batchB: number[]
  a: OperandForm
  b: OperandForm
}

/** Throws a UserError when the arrays are those of no format, or of several that nothing tells apart. */
export function formOf(file: ArrayFile, said: OperandsAs): OperandsForm & OperandArrays {
  const { path } = file
  const known = formatSaid(file, said)
  const aCodes = takeArray(file, 'aCodes')
  const arrays: OperandArrays = {
    aCodes,
    bCodes: takeArray(file, 'bCodes'),
    ...scalesOfA(file, aCodes),
    bScales: takeArray(file, 'bScales')
  }
  const order = orderSaid(file, said)
  if (known) return { ...arrays, ...formAs(arrays, known, order, said, path) }
  const possible = formatsOf(arrays, path)
  const fitting = likeliest(
    possible.flatMap((format) => {
      try {
        return [formAs(arrays, format, order, said, path)]
      } catch (error) {
        if (error instanceof UserError && possible.length > 1) return []
        throw error
      }
    })
  )
  if (fitting.length === 1) return { ...arrays, ...fitting[0]! }
  throw new UserError(
    'usage',
    `${path} does not say its formats: its dtypes and shapes ${fittingText(fitting)}. Name one with --format, or write the metadata a, b, scale and vec, such as ` +
      '{"a": "e2m1", "b": "e2m1", "scale": "e4m3", "vec": "16"}.'
  )
}

function scalesOfA(file: ArrayFile, aCodes: NamedArray): Pick<OperandArrays, 'aScales'> {
  const element = elementOf(aCodes, file.path)
  if (element === undefined || isScaled(numberFormats[element]))
    return { aScales: takeArray(file, 'aScales') }
  const scales = findArray(file, 'aScales')
  if (!scales) return {}
  throw new UserError(
    'usage',
    `${file.path}: tensor "${scales.name}" holds scales of A, and "${aCodes.name}" is ${aCodes.dtype}, whose elements carry none.`
  )
}

/** 'may be nvfp4, mxfp4_b16' */
function fittingText(fitting: readonly OperandsForm[]): string {
  if (fitting.length === 0) return 'are those of none'
  const short = fitting.filter(({ format }) => blockFormats.includes(format))
  const pairs = fitting.length - short.length
  const others =
    pairs > 0 ? [counted(pairs, 'other pair of elements', 'other pairs of elements')] : []
  return `may be ${[...short.map(({ format }) => format.id), ...others].join(', ')}`
}

/** Scales that only a padded shape speaks for are less likely than those that are plain matrices. */
function likeliest(fitting: OperandsForm[]): OperandsForm[] {
  const plain = fitting.filter(({ a, b }) => (a.scales?.isPlain ?? true) && b.scales!.isPlain)
  return plain.length > 0 ? plain : fitting
}

/** By a person or the metadata a, b, scale and vec; undefined where neither says. */
export function formatSaid(
  { metadata, path }: ArrayFile,
  said: OperandsAs
): BlockFormat | undefined {
  const { a, b, scale, vec } = metadata
  const ofFile = a && b && scale && vec ? matchBlockFormat(a, b, scale, Number(vec)) : undefined
  const named = said.format === undefined ? undefined : findBlockFormat(said.format)
  if (!ofFile || !named || ofFile === named) return named ?? ofFile
  throw new UserError('usage', `--format ${named.id}: ${path} says that it is ${ofFile.id}.`)
}

function orderSaid({ metadata, path }: ArrayFile, said: OperandsAs): BOrder | undefined {
  const order = metadata['b_order']
  if (order === undefined) return said.bOrder
  if (order !== 'nk' && order !== 'kn')
    throw new UserError('usage', `${path}: b_order is "${order}"; nk or kn is needed.`)
  if (said.bOrder === undefined || said.bOrder === order) return order
  throw new UserError('usage', `--b-order ${said.bOrder}: ${path} says that it is ${order}.`)
}

/** Formats that the dtypes allow. */
function formatsOf(arrays: OperandArrays, path: string): BlockFormat[] {
  const [a, b] = [elementOf(arrays.aCodes, path), elementOf(arrays.bCodes, path)]
  const scales = scaleArrays(arrays).map((array) => scaleOf(array, path))
  const allows = (said: string | undefined, { name }: { name: string }) => (said ?? name) === name
  return everyBlockFormat.filter(
    (format) =>
      allows(a, format.a) &&
      allows(b, format.b) &&
      scales.every((scale) => allows(scale, format.scale))
  )
}

const scaleArrays = ({ aScales, bScales }: OperandArrays) => [
  ...(aScales ? [aScales] : []),
  bScales
]

/** Throws a UserError when the arrays are not of this format; an order of B that is not said is (N, K) where that fits. */
function formAs(
  arrays: OperandArrays,
  format: BlockFormat,
  order: BOrder | undefined,
  said: OperandsAs,
  path: string
): OperandsForm {
  if (order !== undefined) return formInOrder(arrays, format, order, said, path)
  try {
    return formInOrder(arrays, format, 'nk', said, path)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    try {
      return formInOrder(arrays, format, 'kn', said, path)
    } catch {
      throw error
    }
  }
}

function formInOrder(
  arrays: OperandArrays,
  format: BlockFormat,
  bOrder: BOrder,
  said: OperandsAs,
  path: string
): OperandsForm {
  const { packings = [] } = said
  const formsA = codesForms(arrays.aCodes, format.a, packings, path)
  const formsB = codesForms(arrays.bCodes, format.b, packings, path)
  let refused: unknown
  for (const a of formsA) {
    for (const b of formsB) {
      try {
        return formOfCodes(arrays, { format, bOrder, a, b }, said, path)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        refused ??= error
      }
    }
  }
  throw refused
}

interface CodesOfBoth {
  format: BlockFormat
  bOrder: BOrder
  a: CodesForm
  b: CodesForm
}

function formOfCodes(
  arrays: OperandArrays,
  { format, bOrder, a, b }: CodesOfBoth,
  said: OperandsAs,
  path: string
): OperandsForm {
  const [m, k] = a.shape
  const isTurned = bOrder === 'kn'
  const [n, kOfB] = isTurned ? b.shape.toReversed() : b.shape
  checkShape(format, m, n!, k)
  if (kOfB !== k) {
    const has = [...b.batch, ...b.shape].join(' x ')
    const needed = [...b.batch, ...(isTurned ? [k, n] : [n, k])].join(' x ')
    throw new UserError(
      'usage',
      `${path}: tensor "${arrays.bCodes.name}" holds ${has} codes; ${needed} is needed.`
    )
  }
  if (!broadcastBatch(a.batch, b.batch))
    throw new UserError(
      'usage',
      `${path}: the batch (${b.batch.join(', ')}) of B does not broadcast with (${a.batch.join(', ')}) of A.`
    )
  const columns = k / format.scaleBlockSize
  for (const scales of scaleArrays(arrays)) requireScale(scales, format, path)
  const scalesOf = (scales: NamedArray, rows: number, batch: number[], onB: boolean) => {
    const named = onB ? said.scaleLayoutB : said.scaleLayoutA
    const wanted = { matrix: { rows, columns }, batch, isTurned: onB && isTurned, named }
    return scalesForm(scales, wanted, path)
  }
  return {
    ...{ format, bOrder, m, n: n!, k, batchA: a.batch, batchB: b.batch },
    a: {
      codes: a,
      ...(arrays.aScales && { scales: scalesOf(arrays.aScales, m, a.batch, false) })
    },
    b: { codes: b, scales: scalesOf(arrays.bScales, n!, b.batch, true) }
  }
}

function requireScale(scales: NamedArray, { scale, id }: BlockFormat, path: string): void {
  const own = scaleOf(scales, path)
  if (own === undefined || own === scale.name) return
  throw new UserError(
    'usage',
    `${path}: tensor "${scales.name}" is ${scales.dtype}; scales of ${id} are ${scale.name}.`
  )
}
