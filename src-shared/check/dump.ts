/** A file of operands and the product that a program made of them. */
import { broadcastBatch, matricesOf } from '../batch'
import type { OperandsAs, OutputType } from '../contract/jobs'
import { UserError } from '../errors'
import type { ArrayFile } from '../formats/arrayFiles'
import type { BlockFormat } from '../formats/blockFormat'
import { decodeFloats, isFloatDtype } from '../formats/floatTensor'
import type { NamedArray } from '../formats/npy'
import { matrixOf, productOf, type JudgedBatch } from '../judge/judgeBatch'
import type { JudgedOperands } from '../judge/operandReading'
import type { Product } from '../judge/sampledProduct'
import { bytesOfResult, outputTypeOf, valuesOfResult } from '../judge/resultBytes'
import { findArray, takeArray } from '../operands/names'
import { readOperands } from '../operands/readOperands'
import { groupsOf, type Misread } from './groups'

/** One matrix of C with what it is made of. */
export interface DumpMatrix {
  /** 'group 3', '(1, 0)'; empty where C is one matrix. */
  label: string
  operands: JudgedOperands
  /** (M, N). */
  product: Product
  /** The scales of A, (M, K / V), as a kernel reads them that takes them to lie otherwise. */
  misread: readonly Misread[]
}

export interface Dump {
  path: string
  format: BlockFormat
  /** Of all groups together. */
  m: number
  n: number
  k: number
  batch: number[]
  output: OutputType
  /** All of them, for questions about the whole; undefined for groups. */
  whole: { operands: JudgedBatch; product: Float64Array } | undefined
  matrices: DumpMatrix[]
  /** How the arrays were read, one sentence each. */
  notes: string[]
  /** What the codes were quantised from, (matrices x rows, K), where the file has it. */
  values: { a?: Float64Array; b?: Float64Array }
}

/** Throws a UserError that names the file, the array and what is needed. */
export function readDump(file: ArrayFile, said: OperandsAs | undefined): Dump {
  const c = takeArray(file, 'product')
  const output = outputTypeOf(c, file.path)
  const groups = groupsOf(file, said)
  return groups ? ofGroups(file, c, output, groups, said) : plainDump(file, c, output, said)
}

function plainDump(
  file: ArrayFile,
  c: NamedArray,
  output: OutputType,
  said: OperandsAs | undefined
): Dump {
  const product = valuesOfResult(bytesOfResult(c, output, file.path), output)
  const read = readOperands(file, {
    ...(said && { said }),
    product: () => ({ values: product, output })
  })
  const { format, m, n, k, batch, operation, notes } = read
  requireShape(file.path, c, [...batch, m, n])
  const { batchA, batchB } = operation
  const operands: JudgedBatch = { ...read.operands, format, m, n, k, batchA, batchB }
  const dims = broadcastBatch(batchA, batchB)!
  const matrices = Array.from({ length: matricesOf(dims) }, (_, at) => ({
    label: dims.length === 0 ? '' : `matrix ${at}`,
    operands: matrixOf(operands, dims, at),
    product: productOf(operands, product, at),
    misread: []
  }))
  const isTurned = operation.bOrder === 'kn'
  return {
    ...{ path: file.path, format, m, n, k, batch, output, notes, matrices },
    whole: { operands, product },
    values: {
      ...valuesOf(file, 'aValues', [...batchA, m, k]),
      ...(isTurned ? {} : valuesOf(file, 'bValues', [...batchB, n, k]))
    }
  }
}

function ofGroups(
  file: ArrayFile,
  c: NamedArray,
  output: OutputType,
  groups: NonNullable<ReturnType<typeof groupsOf>>,
  said: OperandsAs | undefined
): Dump {
  const { path } = file
  const all = valuesOfResult(bytesOfResult(c, output, path), output)
  const saidOfGroup = { ...said, scaleLayoutA: groups.layoutA }
  const read = groups.parts
    .filter(({ rows }) => rows > 0)
    .map((part) => ({ part, of: readOperands(part.file, { said: saidOfGroup }) }))
  const [first] = read
  if (!first) throw new UserError('usage', `${path}: no group has rows.`)
  const { format, n, k } = first.of
  const m = groups.parts.reduce((sum, { rows }) => sum + rows, 0)
  requireShape(path, c, [m, n])
  return {
    ...{ path, format, m, n, k, batch: [], output },
    whole: undefined,
    notes: [groups.note],
    matrices: read.map(({ part, of }) => ({
      label: `group ${part.index}`,
      operands: { ...of.operands, format, m: part.rows, n, k },
      product: all.subarray(part.firstRow * n, (part.firstRow + part.rows) * n),
      misread: part.misread
    })),
    values: {}
  }
}

function requireShape(path: string, { name, shape }: NamedArray, needed: readonly number[]): void {
  const plain = (extents: readonly number[]) =>
    extents.filter((extent, axis) => extent !== 1 || axis >= extents.length - 2).join(' x ')
  if (plain(shape) === plain(needed)) return
  throw new UserError(
    'usage',
    `${path}: "${name}" is ${shape.join(' x ')}; the operands give ${needed.join(' x ')}.`
  )
}

function valuesOf(
  file: ArrayFile,
  role: 'aValues' | 'bValues',
  needed: readonly number[]
): { a?: Float64Array; b?: Float64Array } {
  const array = findArray(file, role)
  if (!array) return {}
  if (!isFloatDtype(array.dtype))
    throw new UserError(
      'usage',
      `${file.path}: tensor "${array.name}" is ${array.dtype}; F32, BF16 or F16 is needed.`
    )
  requireShape(file.path, array, needed)
  const values = decodeFloats(array.dtype, array.bytes)
  return role === 'aValues' ? { a: values } : { b: values }
}
