/** What the layout inspector shows of one position, as pure functions of layout, shape and position. */
import { filledFormula, formulaText } from '@shared/layouts/formula'
import {
  packedMap,
  packedOffset,
  paddedShape,
  paddedSize,
  viewCoordinates,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import { scaleReaders, type ScaleReader } from '@shared/layouts/scaleReaders'

export interface Position {
  row: number
  column: number
}

/** A position of the padded matrix; the same numbers as `blockscope layout locate`. */
export interface Located extends Position {
  /** Undefined where there is padding. */
  linearIndex: number | undefined
  offset: number
  formula: string
  filled: string
  views: { name: string; shape: number[]; coordinates: number[] }[]
  /** Elements along K that share the scale: first and last. */
  elements: [number, number]
  /** Instructions that read the scale from this layout, and from where. */
  readers: ScaleReader[]
}

export function isPadding(shape: ScaleShape, { row, column }: Position): boolean {
  return row >= shape.rows || column >= shape.columns
}

export function locate(
  layout: ScaleLayout,
  shape: ScaleShape,
  position: Position,
  scaleBlockSize: number
): Located {
  const { row, column } = position
  return {
    row,
    column,
    linearIndex: isPadding(shape, position) ? undefined : row * shape.columns + column,
    offset: packedOffset(layout, shape, row, column),
    formula: formulaText(layout, shape),
    filled: filledFormula(layout, shape, row, column),
    views: layout.views.map((view) => ({
      name: view.name,
      ...viewCoordinates(layout, shape, view, row, column)
    })),
    elements: [column * scaleBlockSize, (column + 1) * scaleBlockSize - 1],
    readers: scaleReaders(layout.name, row, column)
  }
}

/** What the instructions that read this layout cannot take, as a sentence. */
export function refusalOf(layoutName: string, scaleBlockSize: number): string | undefined {
  if (!layoutName.startsWith('cdna4_') || scaleBlockSize === 32) return undefined
  return (
    `v_mfma_scale takes one scale for 32 elements along K; a format with one for ${scaleBlockSize} is laid out here, ` +
    'but no CDNA4 instruction reads it.'
  )
}

/** The nearest position inside the padded matrix. */
export function clampPosition(layout: ScaleLayout, shape: ScaleShape, at: Position): Position {
  const padded = paddedShape(layout, shape)
  const clamp = (value: number, extent: number) => Math.min(extent - 1, Math.max(0, value))
  return { row: clamp(at.row, padded.rows), column: clamp(at.column, padded.columns) }
}

export interface LayoutDifference {
  bytes: [number, number]
  /** Bytes that hold another scale, or none, in the second layout. */
  different: number
  first?: { offset: number; scales: [Position | undefined, Position | undefined] }
}

/** Two layouts of one matrix byte by byte; undefined when they are too large to compare at once. */
export function compareLayouts(
  one: ScaleLayout,
  other: ScaleLayout,
  shape: ScaleShape
): LayoutDifference | undefined {
  const bytes: [number, number] = [
    paddedSize(one, shape.rows, shape.columns),
    paddedSize(other, shape.rows, shape.columns)
  ]
  if (Math.max(...bytes) > mostComparedBytes) return undefined
  const maps = [packedMap(one, shape), packedMap(other, shape)] as const
  const found: LayoutDifference = { bytes, different: 0 }
  const scaleOf = (index: number | undefined): Position | undefined =>
    index === undefined || index < 0
      ? undefined
      : { row: Math.floor(index / shape.columns), column: index % shape.columns }
  for (let offset = 0; offset < Math.max(...bytes); offset++) {
    if (maps[0][offset] === maps[1][offset]) continue
    found.different++
    found.first ??= { offset, scales: [scaleOf(maps[0][offset]), scaleOf(maps[1][offset])] }
  }
  return found
}

export const mostComparedBytes = 4 * 2 ** 20
