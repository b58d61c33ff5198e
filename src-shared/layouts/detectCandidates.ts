/** What a buffer of packed scales may be: each known layout, and each with one of the usual mistakes made. */
import {
  packedMap,
  paddedShape,
  paddedSize,
  scaleFinder,
  tileExtent,
  type ScaleLayout,
  type ScaleShape
} from './layout'

export const defects = {
  transposed: 'the transposed matrix was packed: scale columns took the place of rows',
  'major-mix-up': 'the linear scales were read K-major where they are MN-major, or the reverse',
  'row-order': 'the row digits within a tile were taken in the reverse order',
  unpadded: 'the padding was left out: the bytes follow one another without gaps',
  'vector-size-half': 'packed for half the scale block size: every scale appears twice along K',
  'vector-size-double': 'packed for twice the scale block size: every second scale along K is lost'
} as const
export type Defect = keyof typeof defects

/** Those of one matrix, and what befalls several (detectGroups.ts). */
export const defectWords = {
  ...defects,
  'group-padding': 'the groups were padded once for all instead of each on its own'
} as const
export type AnyDefect = keyof typeof defectWords

export interface NamedCandidate {
  layout: string
  defect?: AnyDefect
  /** Extents that the matrix was padded to, where they are not the layout's own. */
  padded?: ScaleShape
}

export interface Candidate extends NamedCandidate {
  placed: ScaleLayout
  /** Positions of the packed buffer, and how many of them hold a scale. */
  size: number
  scales: number
  /** Linear index at a position, -1 for padding: for a few positions. */
  indexAt(position: number): number
  /** The same for every position; made when it is first asked for. */
  readonly map: Int32Array
}

export const nameOf = ({ layout, defect, padded }: NamedCandidate): NamedCandidate => ({
  layout,
  ...(defect ? { defect } : {}),
  ...(padded ? { padded } : {})
})

/** The layout itself, or each of its mistaken forms. */
export function candidatesOf(
  layout: ScaleLayout,
  shape: ScaleShape,
  withDefects: boolean
): Candidate[] {
  if (!withDefects) return [candidateOf(layout, { layout, shape })]
  return (Object.keys(defects) as Defect[]).flatMap((defect) => {
    const form = mistakenForm(layout, shape, defect)
    return form ? [candidateOf(layout, form, defect)] : []
  })
}

/**
 * The layout with more padding than its own, so that it takes `size` bytes: whole tiles more of rows, of columns or of both.
 * aiter, for one, pads the rows of cdna4_mfma16 to 256. The least padding of rows first.
 */
export function paddedCandidates(
  layout: ScaleLayout,
  shape: ScaleShape,
  size: number
): Candidate[] {
  const own = paddedShape(layout, shape)
  if (size <= own.rows * own.columns) return []
  const tile = { rows: tileExtent(layout.rowDigits), columns: tileExtent(layout.columnDigits) }
  const found: Candidate[] = []
  for (let rows = own.rows; rows * own.columns <= size; rows += tile.rows) {
    const columns = size / rows
    if (!Number.isInteger(columns) || columns % tile.columns !== 0) continue
    const padded = { rows, columns }
    found.push(candidateOf(layout, { layout, shape: padded, within: shape }))
  }
  return found
}

/** Those that say what most bytes are: one that leaves a byte open agrees with whatever is there. */
export function sayingMost<T>(
  all: readonly T[],
  candidateOf: (one: T) => Pick<Candidate, 'map'>
): T[] {
  const said = all.map((one) => candidateOf(one).map.filter((index) => index >= 0).length)
  const most = Math.max(...said)
  return all.filter((_, i) => said[i] === most)
}

/** The map of the layout with one mistake made; undefined where the mistake changes nothing. */
export function mistakenMap(
  layout: ScaleLayout,
  shape: ScaleShape,
  defect: AnyDefect
): Int32Array | undefined {
  // Of several matrices: one has nothing of it.
  if (defect === 'group-padding') return undefined
  const form = mistakenForm(layout, shape, defect)
  return form && candidateOf(layout, form, defect).map
}

/** A matrix packed in a layout. */
interface Form {
  layout: ScaleLayout
  shape: ScaleShape
  /** Which of the linear scales its (row, column) is; left out: the one at row * columns + column. */
  linearIndex?(row: number, column: number): number
  /** The bytes follow one another without gaps. */
  unpadded?: boolean
  /** The matrix that `shape` is padded from. */
  within?: ScaleShape
}

function candidateOf(named: ScaleLayout, form: Form, defect?: Defect): Candidate {
  const { layout, shape, linearIndex, unpadded, within } = form
  const matrix = within ?? shape
  const scales = matrix.rows * matrix.columns
  const find = scaleFinder(layout, shape)
  let map: Int32Array | undefined
  return {
    layout: named.name,
    ...(defect ? { defect } : {}),
    ...(within ? { padded: shape } : {}),
    placed: named,
    size: unpadded ? scales : paddedSize(layout, shape.rows, shape.columns),
    scales,
    indexAt(position) {
      if (unpadded || map) return this.map[position]!
      const { row, column } = find(position)
      if (row >= matrix.rows || column >= matrix.columns) return -1
      return linearIndex ? linearIndex(row, column) : row * matrix.columns + column
    },
    get map() {
      return (map ??= mapOf(form))
    }
  }
}

function mapOf({ layout, shape, linearIndex, unpadded, within }: Form): Int32Array {
  const map = packedMap(layout, shape)
  if (within) {
    return map.map((index) => {
      const row = Math.floor(index / shape.columns)
      const column = index % shape.columns
      return row < within.rows && column < within.columns ? row * within.columns + column : -1
    })
  }
  const filled = unpadded ? withoutPadding(map, shape) : map
  if (!linearIndex) return filled
  const { columns } = shape
  for (let i = 0; i < filled.length; i++) {
    const index = filled[i]!
    if (index >= 0) filled[i] = linearIndex(Math.floor(index / columns), index % columns)
  }
  return filled
}

function withoutPadding(map: Int32Array, { rows, columns }: ScaleShape): Int32Array {
  const filled = new Int32Array(rows * columns)
  let count = 0
  for (const index of map) if (index >= 0) filled[count++] = index
  return filled
}

function mistakenForm(layout: ScaleLayout, shape: ScaleShape, defect: Defect): Form | undefined {
  const { rows, columns } = shape
  switch (defect) {
    case 'transposed':
      return {
        layout,
        shape: { rows: columns, columns: rows },
        linearIndex: (row, column) => column * columns + row
      }
    case 'major-mix-up':
      return { layout, shape, linearIndex: (row, column) => column * rows + row }
    case 'row-order': {
      const rest = layout.rowDigits.findIndex((digit) => digit.extent === 0)
      const [outer, inner] = [layout.rowDigits.slice(0, rest + 1), layout.rowDigits.slice(rest + 1)]
      if (inner.length < 2) return undefined
      return { layout: { ...layout, rowDigits: [...outer, ...inner.toReversed()] }, shape }
    }
    case 'unpadded': {
      const padded = paddedShape(layout, shape)
      if (padded.rows === rows && padded.columns === columns) return undefined
      return { layout, shape, unpadded: true }
    }
    case 'vector-size-half':
      return {
        layout,
        shape: { rows, columns: columns * 2 },
        linearIndex: (row, column) => row * columns + Math.floor(column / 2)
      }
    case 'vector-size-double':
      if (columns < 2) return undefined
      return {
        layout,
        shape: { rows, columns: Math.floor(columns / 2) },
        linearIndex: (row, column) => row * columns + column * 2
      }
  }
}
