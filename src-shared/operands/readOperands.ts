/** Operands of a product, from arrays as people hold them to one code a byte and linear scales. */
import { broadcastBatch } from '../batch'
import type { OperandsAs } from '../contract/jobs'
import type { Operation } from '../contract/operation'
import { UserError } from '../errors'
import type { ArrayFile } from '../formats/arrayFiles'
import type { BlockFormat } from '../formats/blockFormat'
import { decodeFloats } from '../formats/floatTensor'
import type { NamedArray } from '../formats/npy'
import type { Product } from '../judge/sampledProduct'
import { paddedSize, unpackBatch, type ScaleLayout } from '../layouts/layout'
import { pairsThatGive, type LayoutPair } from './evidence'
import { plainCodes } from './codes'
import { findLayout } from '../layouts/registry'
import { formOf, type OperandArrays, type OperandForm, type OperandsForm } from './forms'
import { findArray } from './names'
import { withQuietPadding, type ScalesForm } from './scales'
import { turned } from './turned'

/** One code a byte, of bf16 in two, (matrices, rows, K); scales linear, (matrices, rows, K / V), none of an A that carries none. */
export interface PlainOperands {
  aCodes: Uint8Array
  bCodes: Uint8Array
  aScales: Uint8Array
  bScales: Uint8Array
  tensorScaleA?: number
  tensorScaleB?: number
  /** (matrices of C, M, N). */
  accumulator?: Float32Array
  reference?: Float64Array
}

export interface OperandsRead {
  format: BlockFormat
  m: number
  n: number
  k: number
  /** Of C. */
  batch: number[]
  /** What the file says of the operation: its batch, B's order, and whether it brings an accumulator. */
  operation: Omit<Operation, 'outputScale'>
  operands: PlainOperands
  /** How the arrays were read, where that is not the plain form; said again it reads the same. */
  as: OperandsAs | undefined
  /** The same in sentences, one an operand. */
  notes: string[]
}

/** A product of the operands that someone else made, and what it is known to be of. */
export interface GivenProduct {
  values: Product
  output: string
}

export interface ReadContext {
  said?: OperandsAs | undefined
  /** Scale of C, for a reference or a product that has it in it. */
  outputScale?: number
  /** Asked for only where the shapes leave layouts open. */
  product?: (read: { m: number; n: number; batch: number[] }) => GivenProduct | undefined
}

/**
 * Throws a UserError that names the file, the array and what is needed; for layouts of scales that neither shape nor padding
 * nor a product tells apart, one that names the flag.
 */
export function readOperands(file: ArrayFile, context: ReadContext = {}): OperandsRead {
  const { said = {} } = context
  if (findArray(file, 'groupRows') ?? findArray(file, 'groupEnds'))
    throw new UserError(
      'usage',
      `${file.path} holds operands of groups: blockscope check judges them; validate generates its own with --groups.`
    )
  const form = formOf(file, said)
  const { format, m, n, k, bOrder, batchA, batchB } = form
  const batch = broadcastBatch(batchA, batchB)!
  const [aCodes, bCodes] = [plainCodes(form.aCodes, form.a.codes), codesOfB(form)]
  const operands: PlainOperands = {
    ...{
      aCodes,
      bCodes,
      aScales: form.aScales?.bytes ?? new Uint8Array(),
      bScales: form.bScales.bytes
    },
    ...tensorScales(file),
    ...productsOf(file, [...batch, m, n])
  }
  const told = layoutsOf(file.path, form, operands, batch, context)
  operands.aScales = linearScales(form, 'a', told.a.layout)
  operands.bScales = linearScales(form, 'b', told.b.layout)
  const accumulate = operands.accumulator !== undefined
  return {
    ...{ format, m, n, k, batch, operands },
    operation: { bOrder, accumulate, batchA, batchB },
    as: saidAgain(form, said, told),
    notes: [
      sentenceOf('A', format.a.name, form.aCodes, form.a, form.aScales, told.a),
      sentenceOf('B', format.b.name, form.bCodes, form.b, form.bScales, told.b)
    ]
  }
}

type Form = OperandsForm & OperandArrays
interface Told {
  layout: ScaleLayout
  /** How it is known: 'as was said', 'as their shape says', ... */
  how: string
}

/** The layout of the scales of each operand. */
function layoutsOf(
  path: string,
  form: Form,
  operands: PlainOperands,
  batch: number[],
  { outputScale = 1, product }: ReadContext
): { a: Told; b: Told } {
  const { m, n, k, format } = form
  const columns = k / format.scaleBlockSize
  const open = {
    a: openLayouts(form.aScales, form.a.scales, { rows: m, columns }),
    b: openLayouts(form.bScales, form.b.scales, { rows: n, columns })
  }
  const isTold = [open.a, open.b].every(({ layouts }) => layouts.length === 1)
  if (isTold) return { a: firstOf(open.a), b: firstOf(open.b) }
  const give = (
    given: GivenProduct,
    of: { a: readonly ScaleLayout[]; b: readonly ScaleLayout[] }
  ) => pairsThatGive(firstMatrix(form, operands, outputScale), given.values, of, given.output)
  const all = { a: open.a.layouts, b: open.b.layouts }
  if (operands.reference) {
    const values = operands.reference.subarray(0, m * n)
    const pairs = preferred(give({ values, output: 'f64' }, all), open)
    if (pairs.length === 1) return toldBy(pairs[0]!, open, 'as the reference of the file says')
  }
  // A plain matrix is what it seems to be: another product than the file's own may be wrong itself.
  const doubtful = { a: unlessPlain(form.a.scales, all.a), b: unlessPlain(form.b.scales, all.b) }
  if (doubtful.a.length > 1 || doubtful.b.length > 1) {
    const given = product?.({ m, n, batch })
    const pairs = given ? give(given, doubtful) : []
    if (pairs.length === 1) return toldBy(pairs[0]!, open, 'the ones of their shape that give C')
    if (form.aScales) refuseOpen(path, form.aScales, doubtful.a, 'a')
    refuseOpen(path, form.bScales, doubtful.b, 'b')
  }
  return { a: firstOf(open.a), b: firstOf(open.b) }
}

interface Open {
  layouts: ScaleLayout[]
  how: string
  isPlain: boolean
}

/** What shape and padding leave open, likeliest first. */
function openLayouts(
  array: NamedArray | undefined,
  form: ScalesForm | undefined,
  matrix: { rows: number; columns: number }
): Open {
  if (!array || !form) return { layouts: [findLayout('linear')], how: '', isPlain: true }
  const { layouts, by, isPlain } = form
  if (by === 'name') return { layouts, how: 'as was said', isPlain }
  const hasPadding =
    paddedSize(layouts[0]!, matrix.rows, matrix.columns) > matrix.rows * matrix.columns
  const ofShape = { how: 'as their shape says', isPlain }
  if (layouts.length === 1 || isPlain) return { layouts, ...ofShape }
  const isUniform = array.bytes.every((byte) => byte === array.bytes[0])
  if (isUniform)
    return { layouts: layouts.slice(0, 1), how: 'or any other: all are alike', isPlain }
  if (!hasPadding) return { layouts, ...ofShape }
  const quiet = withQuietPadding(array, layouts, matrix)
  if (quiet.length === layouts.length) return { layouts, ...ofShape }
  return { layouts: quiet, how: 'as their shape and padding say', isPlain }
}

const firstOf = ({ layouts, how }: Open): Told => ({ layout: layouts[0]!, how })

const unlessPlain = (form: ScalesForm | undefined, layouts: readonly ScaleLayout[]) =>
  !form || form.isPlain ? layouts.slice(0, 1) : layouts

/** Of pairs that agree alike the one that the shapes speak for, if it is among them. */
function preferred(
  pairs: readonly LayoutPair[],
  open: { a: Open; b: Open }
): readonly LayoutPair[] {
  const usual = pairs.filter(({ a, b }) => a === open.a.layouts[0] && b === open.b.layouts[0])
  return usual.length > 0 ? usual : pairs
}

/** What was open before is told by `how`; a layout that its shape alone says stays so. */
function toldBy(pair: LayoutPair, open: { a: Open; b: Open }, how: string): { a: Told; b: Told } {
  const told = (side: 'a' | 'b'): Told => {
    const { layouts, how: before, isPlain } = open[side]
    const isSame = layouts.length === 1 || (isPlain && pair[side] === layouts[0])
    return { layout: pair[side], how: isSame ? before : how }
  }
  return { a: told('a'), b: told('b') }
}

function refuseOpen(
  path: string,
  { name, shape }: NamedArray,
  layouts: readonly ScaleLayout[],
  side: 'a' | 'b'
): void {
  if (layouts.length < 2) return
  const names = layouts.map((layout) => layout.name).join(', ')
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" of ${shape.join(' x ')} may be in any of these layouts: ${names}; name it with ` +
      `--scale-layout, or --scale-layout-${side} for this operand alone.`
  )
}

/** The first matrix of C and what it is made of. */
function firstMatrix(form: Form, operands: PlainOperands, outputScale: number) {
  const { format, m, n, k } = form
  const { accumulator } = operands
  return {
    ...operands,
    ...{ format, m, n, k, outputScale },
    ...(accumulator && { accumulator: accumulator.subarray(0, m * n) })
  }
}

function linearScales(form: Form, side: 'a' | 'b', layout: ScaleLayout): Uint8Array {
  const { format, k, bOrder } = form
  const array = side === 'a' ? form.aScales : form.bScales
  if (!array) return new Uint8Array()
  const rows = side === 'a' ? form.m : form.n
  const columns = k / format.scaleBlockSize
  const isTurned = side === 'b' && bOrder === 'kn' && form.b.scales!.isPlain
  if (layout.name !== 'linear') return unpackBatch(layout, { rows, columns }, array.bytes)
  return isTurned ? turned(array.bytes, columns, rows) : array.bytes
}

function codesOfB({ bCodes, b, bOrder }: Form): Uint8Array {
  const plain = plainCodes(bCodes, b.codes)
  return bOrder === 'kn' ? turned(plain, ...b.codes.shape) : plain
}

/** Where it is not one code a byte and linear in a file that says its format. */
function saidAgain(
  { format, bOrder, a, b }: Form,
  said: OperandsAs,
  told: { a: Told; b: Told }
): OperandsAs | undefined {
  const packings = [...new Set([a, b].flatMap(({ codes }) => codes.packing?.name ?? []))]
  const [scaleLayoutA, scaleLayoutB] = [told.a, told.b].map(({ layout }) => layout.name)
  const isPlain =
    packings.length === 0 && [scaleLayoutA, scaleLayoutB].every((name) => name === 'linear')
  if (isPlain && said.format === undefined && said.bOrder === undefined) return undefined
  const withPackings = packings.length > 0 ? { packings } : {}
  return { format: format.id, bOrder, ...withPackings, scaleLayoutA, scaleLayoutB }
}

function sentenceOf(
  name: string,
  element: string,
  codes: NamedArray,
  { codes: { batch, shape, packing } }: OperandForm,
  scales: NamedArray | undefined,
  { layout, how }: Told
): string {
  const count = [...batch, ...shape].join(' x ')
  const order = packing ? `packed as ${packing.name}` : 'one a byte'
  if (!scales)
    return `${name}: ${count} numbers of ${element} in "${codes.name}" (${codes.dtype}), without scales.`
  return (
    `${name}: ${count} codes of ${element} in "${codes.name}" (${codes.dtype}), ${order}; scales in "${scales.name}" ` +
    `(${scales.dtype}, ${scales.shape.join(' x ')}) are ${layout.name}, ${how}.`
  )
}

function tensorScales(file: ArrayFile): Pick<PlainOperands, 'tensorScaleA' | 'tensorScaleB'> {
  const one = (role: 'aTensorScale' | 'bTensorScale') => {
    const array = findArray(file, role)
    if (!array) return undefined
    const [value, ...more] = array.dtype === 'F32' ? decodeFloats('F32', array.bytes) : []
    if (value === undefined || more.length > 0)
      throw new UserError('usage', `${file.path}: tensor "${array.name}" must be one F32.`)
    if (Number.isFinite(value)) return value
    throw new UserError('usage', `${file.path}: tensor "${array.name}" is ${value}.`)
  }
  return { tensorScaleA: one('aTensorScale'), tensorScaleB: one('bTensorScale') }
}

/** Accumulator and reference, where the file has them. */
function productsOf(
  file: ArrayFile,
  wanted: number[]
): Pick<PlainOperands, 'accumulator' | 'reference'> {
  const buffer = (role: 'accumulator' | 'reference', dtype: string) => {
    const array = findArray(file, role)
    if (!array) return undefined
    const [is, needed] = [array.shape.join(' x '), wanted.join(' x ')]
    const refused = (what: string) =>
      new UserError('usage', `${file.path}: tensor "${array.name}" is ${what} is needed.`)
    if (array.dtype !== dtype) throw refused(`${array.dtype}; ${dtype}`)
    if (is !== needed) throw refused(`${is}; ${needed}`)
    return array.bytes.buffer
  }
  const [accumulator, reference] = [buffer('accumulator', 'F32'), buffer('reference', 'F64')]
  return {
    ...(accumulator && { accumulator: new Float32Array(accumulator) }),
    ...(reference && { reference: new Float64Array(reference) })
  }
}
