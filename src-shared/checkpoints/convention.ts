/** What one convention of storing block-scaled weights says: a row of the table. */
import type { NumberFormat } from '../formats/numberFormat'
import type { ScaleLayout } from '../layouts/layout'

/** multiply: value = element * scale * s; divide: element * scale / s; amax: element * scale * s / (6 * 448). */
export type TensorScaleUse = 'multiply' | 'divide' | 'amax'

export interface Convention {
  name: string
  title: string
  /** Repository and file where it was read. */
  source: string
  codesSuffix: string
  codesDtypes: readonly string[]
  /** rows: (..., rows, bytes of a row); blocks: (..., rows, K / V, bytes of a block); columns: (..., bytes of a row, rows). */
  codesShape: 'rows' | 'blocks' | 'columns'
  /** Left out where the scales lie among the codes. */
  scalesSuffix?: string
  scalesDtypes: readonly string[]
  /** How the scales of a matrix lie where the file does not say; linear where it is left out. */
  scalesLayout?: ScaleLayout
  /** The tensor of scales is of any shape with that many bytes. */
  scalesOfAnyShape?: true
  tensorScaleSuffix?: string
  tensorScaleUse?: TensorScaleUse
  /** Without the tensor its value is 1. */
  tensorScaleOptional?: true
  element: NumberFormat
  scale: NumberFormat
  scaleBlockSize: number
  /** Name of an element packing; left out: fp4_low_first for fp4, one code a byte for others. */
  order?: string
  /** Where the pairs of bits of a group of that order lie, from its lowest pair on: codes that are stored in two parts. */
  bitPairs?: readonly number[]
  /** Items of so many bytes in another order than row-major. */
  codesLayout?: { layout: ScaleLayout; itemBytes: number }
  /** So many scales stand before the codes of as many blocks. */
  interleaved?: number
  /** What is added to a stored byte, modulo 256, to make it a code of `scale`: 127 where it is an exponent. */
  scaleCodeOffset?: number
  /** Words of the file's description without which it is not this one: its tensors could be anything. */
  described?: readonly RegExp[]
  /** A word of the file's description that tells it from a convention of the same tensors. */
  hint?: string
  /** Words of the description that say the scales are in another layout. */
  hintedLayout?: { word: RegExp; layout: ScaleLayout }
  /** Files of its kind are not written here. */
  readOnly?: true
}
