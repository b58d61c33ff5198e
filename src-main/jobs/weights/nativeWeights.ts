/** Weights of checkpoints as the native addon is told of them. */
import { readCodes, readRowScales, type ReadTensor } from '@shared/checkpoints/arrangement'
import type { Convention } from '@shared/checkpoints/convention'
import { isPlain, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { readTensorScales, tensorScaleAt } from '@shared/checkpoints/tensorScale'
import { bytesPerRow, totalRows, type WeightSource } from '@shared/checkpoints/weightSource'
import { layoutText } from '@shared/layouts/describe'
import type { ScaleLayout } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import type {
  NativeFilePlace,
  NativeRowRange,
  NativeStoredScales,
  NativeStoredValues
} from '../../engine/nativeQuantizing'
import type { Scratch } from '../../ground/scratch'

/** Where a weight is: what reads its tensors, and where they begin. */
export interface WeightFile {
  read: ReadTensor
  placeOf(tensor: BlockScaledWeight['codes']): NativeFilePlace
}

export function storedScales(
  { scale, scaleBlockSize }: Convention,
  layout: ScaleLayout,
  place: NativeFilePlace
): NativeStoredScales {
  return { place, format: scale.name, scaleBlockSize, layout: layoutText(layout) }
}

/** Rows of a weight, where the engine can read them: `first` of them is row 0 of what it is told of. */
export interface ReadableRows {
  values: NativeStoredValues
  range: NativeRowRange
  first: number
}

/**
 * Rows of a weight for the engine: the file itself, or, where codes are not in the plain form or `copy` asks for it, a copy of
 * the rows in it. The rows are of one matrix where matrices have scales of their own.
 */
export async function readableRows(
  source: WeightSource,
  range: NativeRowRange,
  file: WeightFile,
  scratch: Scratch,
  copy = false
): Promise<ReadableRows> {
  const { rows, k, stored } = source
  const shape = { rowsPerMatrix: rows, k }
  if ('real' in stored) {
    const { path, position } = file.placeOf(stored.real)
    const real = stored.real.dtype
    if (!copy) return { values: { ...shape, place: { path, position }, real }, range, first: 0 }
    // Counted from the rows' own start, as a copy is.
    const place = { path, position: position + range.from * bytesPerRow(source) }
    const count = range.to - range.from
    return { values: { ...shape, place, real }, range: { from: 0, to: count }, first: range.from }
  }
  const { blocks } = stored
  const { convention } = blocks
  const matrix = Math.floor(range.from / rows)
  const tensorScale = tensorScaleAt(readTensorScales(blocks, file.read), matrix)
  const values = (codes: NativeFilePlace, scales: NativeStoredScales): NativeStoredValues => ({
    ...shape,
    place: codes,
    blockScaled: { element: convention.element.name, scales, tensorScale }
  })
  if (!copy && isPlain(convention)) {
    return { values: values(file.placeOf(blocks.codes), scalesOf(blocks, file)), range, first: 0 }
  }
  const plain = readPlainRows(blocks, range, file.read)
  const [codes, scales] = await scratch.hold([plain.codes, plain.scales])
  return {
    values: values(codes!, storedScales(convention, findLayout('linear'), scales!)),
    range: { from: 0, to: range.to - range.from },
    first: range.from
  }
}

/** Codes and linear scales of rows, counted through all matrices, in the plain form. */
export function readPlainRows(
  weight: BlockScaledWeight,
  { from, to }: NativeRowRange,
  read: ReadTensor
): { codes: Uint8Array; scales: Uint8Array } {
  const codes: Uint8Array[] = []
  const scales: Uint8Array[] = []
  for (let row = from; row < to;) {
    const matrix = Math.floor(row / weight.rows)
    const first = row - matrix * weight.rows
    const last = Math.min(weight.rows, first + to - row)
    codes.push(readCodes(weight, matrix, first, last, read))
    scales.push(readRowScales(weight, matrix, first, last, read))
    row += last - first
  }
  const whole = (parts: Uint8Array[]) => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))
  return { codes: whole(codes), scales: whole(scales) }
}

/** Of a weight with a tensor of scales. */
export function scalesOf(weight: BlockScaledWeight, file: WeightFile): NativeStoredScales {
  return storedScales(weight.convention, weight.layout, file.placeOf(weight.scales!))
}

/** Bytes of input that one call of the engine works on: what cancelling waits for, and a kill costs, at most. */
const slabBytes = 256 * 2 ** 20
/** The same where rows are copied on the way: they are in memory. */
const copiedBytes = 32 * 2 ** 20

export interface SlabRules {
  /** Scales are written in a layout that mixes rows. */
  wholeMatrices?: boolean
  /** Rows that are written together. */
  tile?: number
  /** Other weights of the same shape that the rows are read from or written to. */
  with?: readonly WeightSource[]
}

/** Rows of a weight, part by part: of one matrix each where matrices have scales of their own, else of several. */
export function slabsOf(source: WeightSource, rules: SlabRules = {}): NativeRowRange[] {
  const { wholeMatrices = false, tile = 1, with: others = [] } = rules
  const all = [source, ...others]
  const most = all.some(isCopied) || tile > 1 ? copiedBytes : slabBytes
  const fitting = Math.max(1, Math.floor(most / bytesPerRow(source)))
  const { rows } = source
  const total = totalRows(source)
  if (!all.some(hasOwnScales) && tile === 1) {
    const step = wholeMatrices ? Math.max(1, Math.floor(fitting / rows)) * rows : fitting
    return partsOf(total, step)
  }
  const step = wholeMatrices ? rows : Math.max(1, Math.floor(fitting / tile)) * tile
  const parts = partsOf(rows, step)
  return Array.from({ length: total / rows }, (_, matrix) =>
    parts.map(({ from, to }) => ({ from: matrix * rows + from, to: matrix * rows + to }))
  ).flat()
}

/** Whether the engine reads a copy of the weight's rows. */
export function isCopied({ stored }: WeightSource): boolean {
  return 'blocks' in stored && !isPlain(stored.blocks.convention)
}

/** Whether each matrix may have a scale of its own. */
function hasOwnScales(source: WeightSource): boolean {
  const { stored, rows } = source
  return 'blocks' in stored && stored.blocks.tensorScale !== undefined && totalRows(source) > rows
}

/** Bytes of a copy, part by part. */
export const partsOfBytes = (count: number): NativeRowRange[] => partsOf(count, slabBytes)

function partsOf(count: number, step: number): NativeRowRange[] {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => ({
    from: i * step,
    to: Math.min((i + 1) * step, count)
  }))
}
