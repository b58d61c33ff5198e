/** What a buffer of packed scales may be: each known layout, and each with one of the usual mistakes made. */
import { packedMap, paddedShape, type ScaleLayout, type ScaleShape } from './layout'

export const defects = {
  transposed: 'the transposed matrix was packed: scale columns took the place of rows',
  'major-mix-up': 'the linear scales were read K-major where they are MN-major, or the reverse',
  'row-order': 'the row digits within a tile were taken in the reverse order',
  unpadded: 'the padding was left out: the bytes follow one another without gaps',
  'vector-size-half': 'packed for half the scale block size: every scale appears twice along K',
  'vector-size-double': 'packed for twice the scale block size: every second scale along K is lost'
} as const
export type Defect = keyof typeof defects

export interface NamedCandidate {
  layout: string
  defect?: Defect
}

export interface Candidate {
  layout: ScaleLayout
  defect?: Defect
  /** Linear index at each position, -1 for padding. */
  map: Int32Array
}

export const nameOf = ({ layout, defect }: Candidate): NamedCandidate => ({
  layout: layout.name,
  ...(defect ? { defect } : {})
})

/** The layout itself, or each of its mistaken forms. */
export function candidatesOf(
  layout: ScaleLayout,
  shape: ScaleShape,
  withDefects: boolean
): Candidate[] {
  if (!withDefects) return [{ layout, map: packedMap(layout, shape) }]
  return (Object.keys(defects) as Defect[]).flatMap((defect) => {
    const map = mistakenMap(layout, shape, defect)
    return map ? [{ layout, defect, map }] : []
  })
}

/** The map of the layout with one mistake made; undefined where the mistake changes nothing. */
export function mistakenMap(
  layout: ScaleLayout,
  shape: ScaleShape,
  defect: Defect
): Int32Array | undefined {
  const { rows, columns } = shape
  switch (defect) {
    case 'transposed': {
      const turned = { rows: columns, columns: rows }
      return remap(layout, turned, (row, column) => column * columns + row)
    }
    case 'major-mix-up':
      return remap(layout, shape, (row, column) => column * rows + row)
    case 'row-order': {
      const [outer, ...inner] = layout.rowDigits
      if (inner.length < 2) return undefined
      const rowDigits = [outer!, ...inner.toReversed()]
      return packedMap({ ...layout, rowDigits }, shape)
    }
    case 'unpadded': {
      const padded = paddedShape(layout, shape)
      if (padded.rows === rows && padded.columns === columns) return undefined
      return packedMap(layout, shape).filter((index) => index >= 0)
    }
    case 'vector-size-half': {
      const wide = { rows, columns: columns * 2 }
      return remap(layout, wide, (row, column) => row * columns + Math.floor(column / 2))
    }
    case 'vector-size-double': {
      if (columns < 2) return undefined
      const narrow = { rows, columns: Math.floor(columns / 2) }
      return remap(layout, narrow, (row, column) => row * columns + column * 2)
    }
  }
}

function remap(
  layout: ScaleLayout,
  shape: ScaleShape,
  linearIndex: (row: number, column: number) => number
): Int32Array {
  return packedMap(layout, shape).map((index) =>
    index < 0 ? -1 : linearIndex(Math.floor(index / shape.columns), index % shape.columns)
  )
}
