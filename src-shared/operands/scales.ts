/** Scales as a file holds them: as a plain matrix, or packed for a kernel. */
import { UserError } from '../errors'
import type { NamedArray } from '../formats/npy'
import type { NumberFormatName } from '../formats/numberFormat'
import { matricesOf } from '../batch'
import { layoutsOfShape, layoutsOfSize } from '../layouts/byShape'
import { packedMap, paddedSize, type ScaleLayout, type ScaleShape } from '../layouts/layout'
import { findLayout } from '../layouts/registry'

const scaleOfDtype: Record<string, NumberFormatName | undefined> = {
  F8_E8M0: 'e8m0',
  F8_E4M3: 'ue4m3',
  U8: undefined,
  I8: undefined,
  // Four scales a word, as DeepGEMM keeps them.
  U32: undefined,
  I32: undefined
}

/** The scale that a dtype holds; undefined for plain bytes. Throws a UserError for values that are no codes of scales. */
export function scaleOf({ name, dtype }: NamedArray, path: string): NumberFormatName | undefined {
  if (Object.hasOwn(scaleOfDtype, dtype)) return scaleOfDtype[dtype]
  const known = Object.keys(scaleOfDtype).join(', ')
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" is ${dtype}, which holds no codes of scales; one of ${known} is needed.`
  )
}

/** What the scales of an operand have to be. */
export interface ScalesWanted {
  matrix: ScaleShape
  batch: readonly number[]
  /** The plain matrix is (columns, rows): B is (K, N). */
  isTurned: boolean
  /** Of the layout; undefined: not said. */
  named: string | undefined
}

export interface ScalesForm {
  /** Layouts that the scales may be in, likeliest first; the plain matrix is `linear`. */
  layouts: ScaleLayout[]
  /** How the likeliest was told: said by a person, or by the shape, of which it is the usual reading. */
  by: 'name' | 'shape'
  /** The shape is that of the plain matrix: others of `layouts` are meant only where the data say so. */
  isPlain: boolean
}

/** Throws a UserError when no layout has the array's shape, or the one named takes another number of bytes. */
export function scalesForm(array: NamedArray, wanted: ScalesWanted, path: string): ScalesForm {
  const { name, shape, bytes } = array
  const { matrix, batch, isTurned, named } = wanted
  const { rows, columns } = matrix
  const matrices = matricesOf(batch)
  const plain = [...batch, ...(isTurned ? [columns, rows] : [rows, columns])]
  const isPlain = shape.join() === plain.join()
  const linear = findLayout('linear')
  if (named !== undefined) {
    const layout = findLayout(named)
    const size = matrices * paddedSize(layout, rows, columns)
    if (bytes.length === size) return { layouts: [layout], by: 'name', isPlain }
    throw new UserError(
      'usage',
      `${path}: tensor "${name}" has ${bytes.length} bytes; ${plain.join(' x ')} scales in ${layout.name} take ${size}.`
    )
  }
  const ofShape = layoutsOfShape(matrix, shape, batch)
  if (isPlain) {
    const others = ofShape.filter((layout) => layout !== linear)
    return { layouts: [linear, ...others], by: 'shape', isPlain }
  }
  const isFlat = shape.length === 1 && bytes.length % matrices === 0
  const layouts = isFlat ? layoutsOfSize(matrix, bytes.length / matrices) : ofShape
  if (layouts.length > 0) return { layouts, by: 'shape', isPlain }
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" is ${shape.join(' x ')}; ${plain.join(' x ')} is needed, or the shape of a packed layout ` +
      '(blockscope layout list).'
  )
}

/** Layouts whose padding holds one value throughout, as no scales do; all of them where that tells none from another. */
export function withQuietPadding(
  { bytes }: NamedArray,
  layouts: readonly ScaleLayout[],
  matrix: ScaleShape
): ScaleLayout[] {
  const quiet = layouts.filter((layout) => {
    const map = packedMap(layout, matrix)
    let fill: number | undefined
    return bytes.every((byte, i) => {
      if (map[i % map.length]! >= 0) return true
      fill ??= byte
      return byte === fill
    })
  })
  return quiet.length > 0 ? quiet : [...layouts]
}
