/** Which tensors a weight becomes in a convention. Nothing is read or written here. */
import { UserError } from '../errors'
import { dtypeBits, type NewTensor, type TensorEntry } from '../formats/safetensors'
import { paddedShape, type ScaleLayout } from '../layouts/layout'
import { findLayout } from '../layouts/registry'
import type { Convention } from './convention'
import { storedRowBytes, type BlockScaledWeight } from './conventions'
import { totalRows, type WeightSource } from './weightSource'

/** Of the same elements, scales and block size: converting between them rounds nothing. */
export function sameFormat(a: Convention, b: Convention): boolean {
  return a.element === b.element && a.scale === b.scale && a.scaleBlockSize === b.scaleBlockSize
}

/** Throws a UserError when the weight cannot become one of the convention without being quantised anew. */
export function requireSameFormat(
  { name, convention }: BlockScaledWeight,
  to: Convention,
  tensorScales: readonly number[]
): void {
  const kind = (c: Convention) => `${c.element.name} with ${c.scale.name} per ${c.scaleBlockSize}`
  if (!sameFormat(convention, to)) {
    throw new UserError(
      'usage',
      `"${name}" is ${kind(convention)} and ${to.name} is ${kind(to)}; choose a convention of the same format, or --requantise.`
    )
  }
  const factor = tensorScales.find((scale) => scale !== 1)
  if (factor !== undefined && !to.tensorScaleUse) {
    throw new UserError(
      'usage',
      `"${name}" has a scale for the whole tensor, ${factor}, and ${to.name} has none; choose another convention.`
    )
  }
}

/** Throws a UserError for a convention that is only read. */
export function requireWritten({ name, readOnly }: Convention): void {
  if (!readOnly) return
  throw new UserError(
    'usage',
    `${name} is read and not written; name another convention with --to.`
  )
}

/** How scales are written where a person does not say. */
export const ownScaleLayout = ({ scalesLayout }: Convention) => scalesLayout ?? findLayout('linear')

/** What stands for one weight in the file. */
export interface WeightTensors {
  codes: NewTensor
  /** Left out where the scales lie among the codes. */
  scales?: NewTensor
  tensorScale?: NewTensor
}

/** Throws a UserError when K has no whole blocks, or the weight no whole tiles. */
export function weightTensors(
  source: WeightSource,
  to: Convention,
  layout: ScaleLayout
): WeightTensors {
  const { name, leading, rows, k, stored } = source
  const { scaleBlockSize, codesShape, scalesDtypes } = to
  requireWritten(to)
  if (k % scaleBlockSize !== 0) {
    throw new UserError(
      'usage',
      `"${name}" has K=${k}, which has no whole blocks of ${scaleBlockSize} for ${to.name}.`
    )
  }
  const blocks = k / scaleBlockSize
  const bytes = storedRowBytes({ k, convention: to })
  requireTiles(source, to, bytes)
  const matrices = totalRows({ leading, rows }) / rows
  const before = 'blocks' in stored ? stored.blocks : undefined
  // What is written in its own convention keeps its dtypes, and F8_E8M0 is kept where it is allowed: it says more than U8.
  const kept = (dtypes: readonly string[], was = '') =>
    dtypes.includes(was) && (before?.convention === to || was === 'F8_E8M0') ? was : dtypes[0]!
  const codesDtype = kept(to.codesDtypes, before?.codes.dtype)
  const extent = (count: number) => (count * 8) / dtypeBits(codesDtype)
  const shapes = {
    rows: [...leading, rows, extent(bytes)],
    blocks: [...leading, rows, blocks, bytes / blocks],
    columns: [...leading, bytes, rows]
  }
  const padded = paddedShape(layout, { rows, columns: blocks })
  const own = layout === ownScaleLayout(to)
  const scaleShape =
    own && codesShape === 'columns'
      ? [blocks, rows]
      : own && to.scalesOfAnyShape
        ? [padded.columns, padded.rows]
        : [padded.rows, padded.columns]
  return {
    codes: {
      name: name + to.codesSuffix,
      dtype: codesDtype,
      shape: shapes[codesShape],
      byteLength: matrices * rows * bytes
    },
    ...(to.scalesSuffix !== undefined && {
      scales: {
        name: name + to.scalesSuffix,
        dtype: kept(scalesDtypes, before?.scales?.dtype),
        shape: [...leading, ...scaleShape],
        byteLength: matrices * padded.rows * padded.columns
      }
    }),
    ...tensorScaleOf(name, to, before)
  }
}

function requireTiles({ name, rows }: WeightSource, to: Convention, bytes: number): void {
  if (!to.codesLayout) return
  const { layout, itemBytes } = to.codesLayout
  const items = { rows, columns: bytes / itemBytes }
  const padded = paddedShape(layout, items)
  if (padded.rows === rows && padded.columns === items.columns) return
  throw new UserError(
    'usage',
    `"${name}" has ${rows} rows of ${bytes} bytes; ${to.name} takes whole tiles, here ${padded.rows} rows of ${padded.columns * itemBytes}.`
  )
}

function tensorScaleOf(
  name: string,
  to: Convention,
  before: BlockScaledWeight | undefined
): { tensorScale?: NewTensor } {
  if (to.tensorScaleSuffix === undefined) return {}
  const was = before?.tensorScale
  const copied = was && before.convention.tensorScaleUse === to.tensorScaleUse
  const count = was ? (was.end - was.start) / (dtypeBits(was.dtype) / 8) : 1
  const dtype = copied ? was.dtype : 'F32'
  const byteLength = (count * dtypeBits(dtype)) / 8
  const tensorScale = {
    name: name + to.tensorScaleSuffix,
    dtype,
    shape: was?.shape ?? [1],
    byteLength
  }
  return { tensorScale }
}

/** The weight as it will be found in the new file, whose tensors begin at these positions. */
export function writtenWeight(
  { name, leading, rows, k }: WeightSource,
  convention: Convention,
  layout: ScaleLayout,
  { codes, scales, tensorScale }: WeightTensors,
  positions: ReadonlyMap<string, number>
): BlockScaledWeight {
  const entry = ({ byteLength, ...tensor }: NewTensor): TensorEntry => {
    const start = positions.get(tensor.name)!
    return { ...tensor, start, end: start + byteLength }
  }
  return {
    name,
    convention,
    leading: [...leading],
    rows,
    k,
    codes: entry(codes),
    layout,
    ...(scales ? { scales: entry(scales) } : {}),
    ...(tensorScale ? { tensorScale: entry(tensorScale) } : {})
  }
}
