/** How the scales of one tile of an operand come from memory: the byte ranges, one load after the other. */
import {
  packedOffset,
  paddedShape,
  scaleFinder,
  tileExtent,
  viewCoordinates,
  type ScaleLayout,
  type ScaleShape
} from './layout'

/** First and last index, both included. */
export type Span = [number, number]

export interface LoadStep {
  rows: Span
  columns: Span
  /** What one instruction does with these bytes, where one is known. */
  instruction: string | undefined
}

export interface TileLoad {
  /** The tile's scales, widened to whole tiles of the layout: no load splits one. */
  rows: Span
  columns: Span
  /** Byte range of each load. */
  steps: Span[]
  /** The tile as one TMA box of the layout's 5D view. */
  tmaBox: { start: number[]; box: number[] } | undefined
}

/** Scales of one tile that are walked at most; a tile of 1,024 x 1,024 elements has at most 65,536. */
export const mostTileScales = 65_536

function tileSpan(at: number, tile: number, unit: number, padded: number): Span {
  const first = Math.floor(at / tile) * tile
  const last = Math.min(first + tile, padded)
  return [Math.floor(first / unit) * unit, Math.min(padded, Math.ceil(last / unit) * unit) - 1]
}

const length = ([first, last]: Span) => last - first + 1

/** The spans that tileLoad walks for a tile of `tile` scales that holds the scale at (row, column). */
export function tileSpans(
  layout: ScaleLayout,
  shape: ScaleShape,
  at: { row: number; column: number },
  tile: ScaleShape
): { rows: Span; columns: Span } {
  const padded = paddedShape(layout, shape)
  return {
    rows: tileSpan(at.row, tile.rows, tileExtent(layout.rowDigits), padded.rows),
    columns: tileSpan(at.column, tile.columns, tileExtent(layout.columnDigits), padded.columns)
  }
}

/** Bytes that one load brings: what one instruction takes, else a whole tile of the layout, else a row. */
function bytesPerStep(layout: ScaleLayout, columns: Span): number {
  if (isCopiedToTensorMemory(layout)) return 512
  const tile = tileExtent(layout.rowDigits) * tileExtent(layout.columnDigits)
  return tile > 1 ? tile : length(columns)
}

/** Whether tcgen05.cp takes blocks of this layout as they lie. */
export const isCopiedToTensorMemory = ({ name }: ScaleLayout) =>
  name === 'nvidia_32_4_4' || name === 'triton_blackwell'

/** Loads of the scales in these spans, in the order of memory. The spans hold mostTileScales scales at most. */
export function tileLoad(
  layout: ScaleLayout,
  shape: ScaleShape,
  { rows, columns }: { rows: Span; columns: Span }
): TileLoad {
  const unit = bytesPerStep(layout, columns)
  const steps = runsOf(layout, shape, rows, columns).flatMap(([first, last]) =>
    Array.from({ length: Math.ceil((last - first + 1) / unit) }, (_, i): Span => {
      const start = first + i * unit
      return [start, Math.min(last, start + unit - 1)]
    })
  )
  return {
    rows,
    columns,
    steps,
    tmaBox: boxOf(layout, shape, rows, columns)
  }
}

/** Contiguous byte ranges of all scales in the spans. An offset is the sum of a row's and a column's part. */
function runsOf(layout: ScaleLayout, shape: ScaleShape, rows: Span, columns: Span): Span[] {
  const rowParts = indices(rows).map((row) => packedOffset(layout, shape, row, 0))
  const columnParts = indices(columns).map((column) => packedOffset(layout, shape, 0, column))
  const offsets = Int32Array.from(
    rowParts.flatMap((rowPart) => columnParts.map((columnPart) => rowPart + columnPart))
  ).sort()
  const runs: Span[] = []
  for (const offset of offsets) {
    const run = runs.at(-1)
    if (run && run[1] === offset - 1) run[1] = offset
    else runs.push([offset, offset])
  }
  return runs
}

const indices = ([first, last]: Span) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** What the index-th load of a tile brings. */
export function describeStep(
  layout: ScaleLayout,
  shape: ScaleShape,
  load: TileLoad,
  index: number
): LoadStep {
  const scales = indices(load.steps[index]!).map(scaleFinder(layout, shape))
  const span = (values: number[]): Span => [Math.min(...values), Math.max(...values)]
  const columns = span(scales.map(({ column }) => column))
  return {
    rows: span(scales.map(({ row }) => row)),
    columns,
    instruction: instructionOf(layout, columns[0] - load.columns[0])
  }
}

/** Tensor-memory columns count from the first of these 128 rows' scales in the tile. */
function instructionOf(layout: ScaleLayout, columnInTile: number): string | undefined {
  if (isCopiedToTensorMemory(layout)) {
    return (
      `tcgen05.cp 32x128b.warpx4: 16 bytes to each of lanes 0 to 31, and the same to lanes 32 to 127; ` +
      `tensor-memory columns ${columnInTile} to ${columnInTile + 3}`
    )
  }
  if (layout.name === 'cdna4_mfma16' || layout.name === 'cdna4_mfma32') {
    return 'one 32-bit load per lane: lane L takes bytes 4 L to 4 L + 3 of the range'
  }
  return undefined
}

function boxOf(
  layout: ScaleLayout,
  shape: ScaleShape,
  rows: Span,
  columns: Span
): TileLoad['tmaBox'] {
  const view = layout.views.find(({ name }) => name === 'TMA 5D')
  if (!view) return undefined
  const at = (end: 0 | 1) =>
    viewCoordinates(layout, shape, view, rows[end], columns[end]).coordinates
  const start = at(0)
  return { start, box: at(1).map((last, i) => last - start[i]! + 1) }
}
