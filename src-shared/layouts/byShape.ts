/** Which layouts a tensor of packed scales may be in, by its shape alone. */
import { packedShapes, paddedSize, sameOffsets, type ScaleLayout, type ScaleShape } from './layout'
import { layouts as knownLayouts } from './registry'

const isSame = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((extent, i) => extent === b[i])

/** Whether a tensor of this shape is one of the layout's own: padded rows and columns or one of its views, matrix by matrix. */
export function hasShapeOf(
  layout: ScaleLayout,
  matrix: ScaleShape,
  shape: readonly number[],
  leading: readonly number[]
): boolean {
  return packedShapes(layout, matrix).some((own) => isSame(shape, [...leading, ...own]))
}

/** Layouts of that shape; of several that put every scale at the same byte, the first. */
export function layoutsOfShape(
  matrix: ScaleShape,
  shape: readonly number[],
  leading: readonly number[]
): ScaleLayout[] {
  return distinct(
    knownLayouts.filter((layout) => hasShapeOf(layout, matrix, shape, leading)),
    matrix
  )
}

/** Layouts in which one matrix takes so many bytes, for a tensor that has lost its shape. */
export function layoutsOfSize(matrix: ScaleShape, bytes: number): ScaleLayout[] {
  const { rows, columns } = matrix
  return distinct(
    knownLayouts.filter((layout) => paddedSize(layout, rows, columns) === bytes),
    matrix
  )
}

function distinct(layouts: readonly ScaleLayout[], matrix: ScaleShape): ScaleLayout[] {
  const found: ScaleLayout[] = []
  for (const layout of layouts)
    if (!found.some((other) => sameOffsets(other, layout, matrix))) found.push(layout)
  return found
}
