/**
 * Scale layouts as data. A layout splits the two axes of a (rows, columns) scale matrix, one byte a scale, into named
 * digits and says in which order the digits lie in memory. Index function, inverse, padded size, views, formula and
 * generated code all come from that one description.
 */

/** One digit of an axis: its extent; one digit of each axis takes what is left after the others. */
export interface Digit {
  axis: 'row' | 'column'
  name: string
  /** 0: as many as the padded axis needs; in all but a few layouts the outermost digit. */
  extent: number
}

export interface View {
  name: string
  /** Names of the digits merged into each coordinate, outermost first; '' is a coordinate that is always 0. */
  coordinates: string[][]
}

export interface ScaleLayout {
  name: string
  title: string
  source: string
  /** Digits of the row index, most significant first. */
  rowDigits: Digit[]
  /** Digits of the column index (column: which scale along K), most significant first. */
  columnDigits: Digit[]
  /** All digit names from slowest to fastest in memory. */
  order: string[]
  views: View[]
}

export interface ScaleShape {
  rows: number
  columns: number
}

/** Product of the fixed digits: the axis is padded to a multiple of it. */
export function tileExtent(digits: readonly Digit[]): number {
  return digits.reduce((product, digit) => product * (digit.extent || 1), 1)
}

const roundUp = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

export function paddedShape(layout: ScaleLayout, { rows, columns }: ScaleShape): ScaleShape {
  return {
    rows: roundUp(rows, tileExtent(layout.rowDigits)),
    columns: roundUp(columns, tileExtent(layout.columnDigits))
  }
}

/** Bytes that a rows x columns scale matrix takes in this layout. */
export function paddedSize(layout: ScaleLayout, rows: number, columns: number): number {
  const padded = paddedShape(layout, { rows, columns })
  return padded.rows * padded.columns
}

/** Shapes of a packed tensor of the layout: (rows, columns) padded, and those of its views. */
export function packedShapes(layout: ScaleLayout, shape: ScaleShape): number[][] {
  const padded = paddedShape(layout, shape)
  const views = layout.views.map((view) => viewCoordinates(layout, shape, view, 0, 0).shape)
  return [[padded.rows, padded.columns], ...views]
}

export interface PlacedDigit extends Digit {
  /** What one step of this digit is worth on its axis. */
  weight: number
  /** Extent for a given shape. */
  count: number
  /** What one step of this digit is worth in memory. */
  stride: number
}

type PlacedDigits = readonly Readonly<PlacedDigit>[]

/** Of each layout the shape it was asked for last: callers go through a matrix scale by scale. */
const lastPlaced = new WeakMap<ScaleLayout, ScaleShape & { digits: PlacedDigits }>()

/** The digits of a layout for one shape, in memory order, slowest first. */
export function placeDigits(layout: ScaleLayout, { rows, columns }: ScaleShape): PlacedDigits {
  const last = lastPlaced.get(layout)
  if (last?.rows === rows && last.columns === columns) return last.digits
  const digits = place(layout, { rows, columns })
  lastPlaced.set(layout, { rows, columns, digits })
  return digits
}

function place(layout: ScaleLayout, shape: ScaleShape): PlacedDigit[] {
  const padded = paddedShape(layout, shape)
  const placed = [
    ...weigh(layout.rowDigits, padded.rows),
    ...weigh(layout.columnDigits, padded.columns)
  ]
  const byName = new Map(placed.map((digit) => [digit.name, digit]))
  const ordered = layout.order.map((name) => byName.get(name)!)
  let stride = 1
  for (const digit of ordered.toReversed()) {
    digit.stride = stride
    stride *= digit.count
  }
  return ordered
}

function weigh(digits: readonly Digit[], extent: number): PlacedDigit[] {
  const rest = extent / tileExtent(digits)
  let weight = 1
  return digits
    .toReversed()
    .map(({ name, axis, extent: own }) => {
      const count = own || rest
      // Member by member, so that all digits are objects of one shape: these are what the loops over scales read.
      const placed = { name, axis, extent: own, weight, count, stride: 0 }
      weight *= count
      return placed
    })
    .toReversed()
}

/** The digit's value in an index of its axis. */
export const digitValue = (digit: Readonly<PlacedDigit>, index: number) =>
  Math.floor(index / digit.weight) % digit.count

/** Byte offset of scale (row, column). */
export function packedOffset(
  layout: ScaleLayout,
  shape: ScaleShape,
  row: number,
  column: number
): number {
  return offsetOf(placeDigits(layout, shape), row, column)
}

function offsetOf(digits: PlacedDigits, row: number, column: number): number {
  let offset = 0
  for (const digit of digits) {
    offset += digitValue(digit, digit.axis === 'row' ? row : column) * digit.stride
  }
  return offset
}

/** Whether two layouts put the scales of a matrix at the same bytes: every scale of a small one, many of a large one. */
export function sameOffsets(
  a: ScaleLayout,
  b: ScaleLayout,
  { rows, columns }: ScaleShape
): boolean {
  const count = rows * columns
  // A step that shares no factor with tiles.
  const step = Math.max(1, Math.floor(count / 4096) | 1)
  const [offsetA, offsetB] = [a, b].map((layout) => offsetFinder(layout, { rows, columns }))
  for (let i = 0; i < count; i += step) {
    const [row, column] = [Math.floor(i / columns), i % columns]
    if (offsetA!(row, column) !== offsetB!(row, column)) return false
  }
  return true
}

/** Byte offsets of the scales of one shape. */
export function offsetFinder(
  layout: ScaleLayout,
  shape: ScaleShape
): (row: number, column: number) => number {
  const digits = placeDigits(layout, shape)
  return (row, column) => offsetOf(digits, row, column)
}

export interface FoundScale {
  row: number
  column: number
  /** Outside the matrix. */
  padding: boolean
}

/** Which scale lies at a byte offset. */
export function scaleFinder(
  layout: ScaleLayout,
  shape: ScaleShape
): (offset: number) => FoundScale {
  const digits = placeDigits(layout, shape)
  return (offset) => {
    let row = 0
    let column = 0
    for (const { axis, stride, count, weight } of digits) {
      const value = (Math.floor(offset / stride) % count) * weight
      if (axis === 'row') row += value
      else column += value
    }
    return { row, column, padding: row >= shape.rows || column >= shape.columns }
  }
}

/** The same for one offset. */
export function scaleAt(layout: ScaleLayout, shape: ScaleShape, offset: number): FoundScale {
  return scaleFinder(layout, shape)(offset)
}

/**
 * Offset of the same scale of one matrix of a batch: matrices follow one another, each padded by itself (FlashInfer,
 * get_sf_out_offset_128x4 and _8x4 with a batch index).
 */
export function batchedOffset(
  layout: ScaleLayout,
  shape: ScaleShape,
  batch: number,
  row: number,
  column: number
): number {
  const oneMatrix = paddedSize(layout, shape.rows, shape.columns)
  return batch * oneMatrix + packedOffset(layout, shape, row, column)
}

/** Calls `visit` with the packed offset and the index row * columns + column of every scale. */
function forScales(
  layout: ScaleLayout,
  shape: ScaleShape,
  visit: (offset: number, index: number) => void
): void {
  const digits = placeDigits(layout, shape)
  // An offset is the sum of a part that depends on the row and one that depends on the column.
  const columnPart = Float64Array.from({ length: shape.columns }, (_, c) => offsetOf(digits, 0, c))
  let index = 0
  for (let row = 0; row < shape.rows; row++) {
    const rowPart = offsetOf(digits, row, 0)
    for (const part of columnPart) visit(rowPart + part, index++)
  }
}

/** For every packed position the index row * columns + column of its scale, or -1 where there is padding. */
export function packedMap(layout: ScaleLayout, shape: ScaleShape): Int32Array {
  const map = new Int32Array(paddedSize(layout, shape.rows, shape.columns)).fill(-1)
  forScales(layout, shape, (offset, index) => (map[offset] = index))
  return map
}

/** Linear scales (row-major) into the layout; padding takes `fill`. */
export function packScales(
  layout: ScaleLayout,
  shape: ScaleShape,
  linear: Uint8Array,
  fill = 0
): Uint8Array {
  const packed = new Uint8Array(paddedSize(layout, shape.rows, shape.columns)).fill(fill)
  forScales(layout, shape, (offset, index) => (packed[offset] = linear[index]!))
  return packed
}

/** packScales of items of several bytes. */
export function packItems(
  layout: ScaleLayout,
  shape: ScaleShape,
  linear: Uint8Array,
  itemBytes: number
): Uint8Array {
  const packed = new Uint8Array(paddedSize(layout, shape.rows, shape.columns) * itemBytes)
  forScales(layout, shape, (offset, index) => {
    for (let i = 0; i < itemBytes; i++)
      packed[offset * itemBytes + i] = linear[index * itemBytes + i]!
  })
  return packed
}

/** The reverse of packItems. */
export function unpackItems(
  layout: ScaleLayout,
  shape: ScaleShape,
  packed: Uint8Array,
  itemBytes: number
): Uint8Array {
  const linear = new Uint8Array(shape.rows * shape.columns * itemBytes)
  forScales(layout, shape, (offset, index) => {
    for (let i = 0; i < itemBytes; i++)
      linear[index * itemBytes + i] = packed[offset * itemBytes + i]!
  })
  return linear
}

/** The reverse of packScales. */
export function unpackScales(
  layout: ScaleLayout,
  shape: ScaleShape,
  packed: Uint8Array
): Uint8Array {
  const linear = new Uint8Array(shape.rows * shape.columns)
  forScales(layout, shape, (offset, index) => (linear[index] = packed[offset]!))
  return linear
}

/** The inverse of batchedOffset. */
export function batchedScaleAt(layout: ScaleLayout, shape: ScaleShape, offset: number) {
  const oneMatrix = paddedSize(layout, shape.rows, shape.columns)
  const batch = Math.floor(offset / oneMatrix)
  return { batch, ...scaleAt(layout, shape, offset - batch * oneMatrix) }
}

/** packScales of every matrix of a batch; `linear` holds them one after another. */
export function packBatch(
  layout: ScaleLayout,
  shape: ScaleShape,
  linear: Uint8Array,
  fill = 0
): Uint8Array {
  const pack = (matrix: Uint8Array) => packScales(layout, shape, matrix, fill)
  return eachMatrix(linear, shape.rows * shape.columns, pack)
}

/** The reverse of packBatch. */
export function unpackBatch(
  layout: ScaleLayout,
  shape: ScaleShape,
  packed: Uint8Array
): Uint8Array {
  const unpack = (matrix: Uint8Array) => unpackScales(layout, shape, matrix)
  return eachMatrix(packed, paddedSize(layout, shape.rows, shape.columns), unpack)
}

function eachMatrix(
  bytes: Uint8Array,
  oneMatrix: number,
  change: (matrix: Uint8Array) => Uint8Array
): Uint8Array {
  const count = bytes.length / oneMatrix
  let changed: Uint8Array | undefined
  for (let i = 0; i < count; i++) {
    const matrix = change(bytes.subarray(i * oneMatrix, (i + 1) * oneMatrix))
    changed ??= new Uint8Array(count * matrix.length)
    changed.set(matrix, i * matrix.length)
  }
  return changed ?? new Uint8Array(0)
}

/** Coordinates of scale (row, column) in one of the layout's views, and the view's shape. */
export function viewCoordinates(
  layout: ScaleLayout,
  shape: ScaleShape,
  view: View,
  row: number,
  column: number
): { shape: number[]; coordinates: number[] } {
  const digits = new Map(placeDigits(layout, shape).map((digit) => [digit.name, digit]))
  const offset = packedOffset(layout, shape, row, column)
  let block = 1
  const extents = view.coordinates.map((names) =>
    names.reduce((product, name) => product * (digits.get(name)?.count ?? Number(name)), 1)
  )
  const coordinates = extents
    .toReversed()
    .map((extent) => {
      const coordinate = Math.floor(offset / block) % extent
      block *= extent
      return coordinate
    })
    .toReversed()
  return { shape: extents, coordinates }
}
