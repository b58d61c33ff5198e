/**
 * A product of groups (the experts of a layer): rows of A in runs, one matrix of B for each. Scales of a group are padded on
 * their own (flashinfer#3562), so where a group's scales begin depends on the rows of every earlier one.
 */
import type { OperandsAs } from '../contract/jobs'
import { UserError } from '../errors'
import { counted } from '../units'
import type { ArrayFile } from '../formats/arrayFiles'
import { isScaled } from '../formats/numberFormat'
import type { NamedArray } from '../formats/npy'
import { groupScales } from '../layouts/groups'
import { offsetFinder, unpackScales, type ScaleLayout } from '../layouts/layout'
import { findLayout } from '../layouts/registry'
import { codesForms } from '../operands/codes'
import { formatSaid } from '../operands/forms'
import { findArray, takeArray } from '../operands/names'

/** Scales of A, (M, K / V), as a kernel reads them that takes them to lie otherwise. */
export interface Misread {
  kind: string
  /** Ends the sentence "C is what these operands give when ...". */
  when: string
  aScales: Uint8Array
}

export interface GroupPart {
  index: number
  firstRow: number
  rows: number
  /** The operands of this group alone; its scales of A are packed in `layoutA`. */
  file: ArrayFile
  misread: Misread[]
}

export interface Groups {
  parts: GroupPart[]
  layoutA: string
  note: string
}

/** Undefined for a file without groups. Throws a UserError for groups that do not add up. */
export function groupsOf(file: ArrayFile, said: OperandsAs = {}): Groups | undefined {
  const counts = rowCounts(file)
  if (!counts) return undefined
  const { path } = file
  const format = formatSaid(file, said)
  if (!format)
    throw new UserError(
      'usage',
      `${path} does not say its formats, which a file of groups must: name one with --format, or write the metadata a, b, scale and vec.`
    )
  if (!isScaled(format.a))
    throw new UserError(
      'usage',
      `${path} is ${format.id}: groups are told apart by the padding of A's scales, which it has not; check its groups one by one.`
    )
  const [aCodes, bCodes] = [takeArray(file, 'aCodes'), takeArray(file, 'bCodes')]
  const [aScales, bScales] = [takeArray(file, 'aScales'), takeArray(file, 'bScales')]
  const [total, k] = codesForms(aCodes, format.a, said.packings ?? [], path)[0]!.shape
  const sum = counts.reduce((all, rows) => all + rows, 0)
  if (sum !== total)
    throw new UserError('usage', `${path}: the groups have ${sum} rows; A has ${total}.`)
  for (const array of [bCodes, bScales]) {
    if (array.shape[0] === counts.length && array.shape.length > 2) continue
    throw new UserError(
      'usage',
      `${path}: tensor "${array.name}" is ${array.shape.join(' x ')}; B is a matrix for each of ${counted(counts.length, 'group')}.`
    )
  }
  const columns = k / format.scaleBlockSize
  const isLinear = aScales.shape.join() === [total, columns].join()
  const layout = findLayout(said.scaleLayoutA ?? (isLinear ? 'linear' : 'nvidia_32_4_4'))
  const scales = scalesOfGroups(aScales, { layout, counts, columns, path })
  let firstRow = 0
  const parts = counts.map((rows, index) => {
    const arrays = [
      rowsOf(aCodes, firstRow, rows),
      matrixAt(bCodes, index),
      matrixAt(bScales, index),
      { ...aScales, shape: [scales[index]!.bytes.length], bytes: scales[index]!.bytes },
      ...['aTensorScale', 'bTensorScale'].flatMap(
        (role) => findArray(file, role as 'aTensorScale') ?? []
      )
    ]
    const part: GroupPart = {
      ...{ index, firstRow, rows, file: { path, metadata: file.metadata, arrays } },
      misread: scales[index]!.misread
    }
    firstRow += rows
    return part
  })
  return {
    ...{ parts, layoutA: layout.name },
    note: `${counted(counts.length, 'group')} of ${counts.join(', ')} rows; scales of A are ${layout.name}, each group padded on its own.`
  }
}

/** Rows of each group, from counts or from cumulative ends (torch's grouped_mm). */
function rowCounts(file: ArrayFile): number[] | undefined {
  const counts = findArray(file, 'groupRows')
  const ends = findArray(file, 'groupEnds')
  if (!counts && !ends) return undefined
  const array = (counts ?? ends)!
  const values = integersOf(array, file.path)
  const rows = counts ? values : values.map((end, at) => end - (values[at - 1] ?? 0))
  const negative = rows.findIndex((count) => count < 0)
  if (negative < 0) return rows
  const why = counts
    ? `gives group ${negative} ${rows[negative]} rows`
    : `ends group ${negative} at row ${values[negative]}, before it begins at ${values[negative - 1] ?? 0}`
  throw new UserError('usage', `${file.path}: tensor "${array.name}" ${why}.`)
}

function integersOf({ name, dtype, bytes }: NamedArray, path: string): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (dtype === 'I32')
    return Array.from({ length: bytes.length / 4 }, (_, at) => view.getInt32(4 * at, true))
  if (dtype === 'I64')
    return Array.from({ length: bytes.length / 8 }, (_, at) =>
      Number(view.getBigInt64(8 * at, true))
    )
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" is ${dtype}; I32 or I64 is needed for rows of groups.`
  )
}

interface GroupScales {
  bytes: Uint8Array<ArrayBuffer>
  misread: Misread[]
}

function scalesOfGroups(
  { name, bytes }: NamedArray,
  of: { layout: ScaleLayout; counts: readonly number[]; columns: number; path: string }
): GroupScales[] {
  const { layout, counts, columns, path } = of
  const places = groupScales(layout, counts, columns)
  const needed = places.reduce((sum, { bytes: size }) => sum + size, 0)
  if (bytes.length !== needed)
    throw new UserError(
      'usage',
      `${path}: tensor "${name}" has ${bytes.length} bytes; these groups in ${layout.name}, each padded on its own, take ${needed}.`
    )
  const total = counts.reduce((sum, rows) => sum + rows, 0)
  const offsetOf = offsetFinder(layout, { rows: total, columns })
  return places.map(({ rows, firstRow, firstByte, bytes: size }) => {
    const own = bytes.slice(firstByte, firstByte + size)
    // A kernel that pads once for all looks for a row where it would lie among all rows.
    const once = Uint8Array.from(
      { length: rows * columns },
      (_, at) => bytes[offsetOf(firstRow + Math.floor(at / columns), at % columns)] ?? 0
    )
    const right = unpackScales(layout, { rows, columns }, own)
    const isSame = right.every((scale, at) => scale === once[at])
    const misread: Misread = {
      kind: 'group-padding',
      when: 'the scales of A are padded once for all groups instead of each on its own',
      aScales: once
    }
    return { bytes: own, misread: isSame ? [] : [misread] }
  })
}

function rowsOf(array: NamedArray, first: number, rows: number): NamedArray {
  const [total, ...rest] = array.shape as [number, ...number[]]
  const size = array.bytes.length / total
  return {
    ...array,
    shape: [rows, ...rest],
    bytes: array.bytes.slice(first * size, (first + rows) * size)
  }
}

function matrixAt(array: NamedArray, index: number): NamedArray {
  const [count, ...shape] = array.shape as [number, ...number[]]
  const size = array.bytes.length / count
  return { ...array, shape, bytes: array.bytes.slice(index * size, (index + 1) * size) }
}
