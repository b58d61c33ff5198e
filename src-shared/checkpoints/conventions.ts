/** The block-scaled weights of a file, found by the conventions of the table. */
import { UserError } from '../errors'
import { knownName } from '../knownName'
import type { SafetensorsHeader, TensorEntry } from '../formats/safetensors'
import { hasShapeOf, layoutsOfShape } from '../layouts/byShape'
import { paddedShape, paddedSize, type ScaleLayout, type ScaleShape } from '../layouts/layout'
import { findElementPacking, type ElementPacking } from '../layouts/elementPacking'
import { findLayout } from '../layouts/registry'
import type { Convention } from './convention'
import { conventions } from './conventionTable'

export { conventions }

/** Metadata key that names the layout of all block scales of a file; without it they are as their convention has them. */
export const scaleLayoutKey = 'scale_layout'

/** Throws a UserError for a name that is none. */
export function findConvention(name: string): Convention {
  const names = conventions.map((convention) => convention.name)
  const found = knownName(name, names, 'checkpoint convention', 'Conventions')
  return conventions.find((convention) => convention.name === found)!
}

/** A weight and the tensors that make it up. */
export interface BlockScaledWeight {
  name: string
  convention: Convention
  /** Extents before the rows, experts for instance. */
  leading: number[]
  rows: number
  k: number
  codes: TensorEntry
  /** Left out where the scales lie among the codes. */
  scales?: TensorEntry
  /** Layout of each matrix of scales. */
  layout: ScaleLayout
  /** One value, or one a matrix. */
  tensorScale?: TensorEntry
}

/** What a person said about a file that does not say enough itself. */
export interface Named {
  /** The convention of tensors that fit several. */
  convention?: Convention
  /** The layout of all block scales. */
  scaleLayout?: ScaleLayout
  /** Another convention besides: tensors that a person named. */
  own?: Convention
}

/** A weight whose tensors are those of several conventions. */
export interface UnsureWeight {
  name: string
  conventions: Convention[]
}

export function unsureText({ name, conventions: possible }: UnsureWeight): string {
  const names = possible.map((convention) => convention.name)
  return `"${name}" may be ${names.join(' or ')}; name it with --convention.`
}

export interface FoundWeights {
  weights: BlockScaledWeight[]
  unsure: UnsureWeight[]
}

export function findBlockScaledWeights(
  header: SafetensorsHeader,
  file: string,
  named: Named = {}
): BlockScaledWeight[] {
  return findWeights(header, file, named).weights
}

/** Throws a UserError when tensors that belong together do not fit together. */
export function findWeights(header: SafetensorsHeader, file: string, named: Named): FoundWeights {
  const found: FoundWeights = { weights: [], unsure: [] }
  const known = named.own ? [named.own] : conventions
  for (const codes of header.tensors.values()) {
    const tried = known.flatMap((convention) => weightOf(codes, convention, header, named) ?? [])
    const fitting = tried.flatMap((one) => ('misfit' in one ? [] : [one]))
    const misfit = tried.find((one) => 'misfit' in one)
    if (fitting.length === 0) {
      if (misfit) throw misfitError(file, misfit)
      continue
    }
    const told = toldApart(fitting, header, named)
    if (told.length === 1) found.weights.push(told[0]!)
    else found.unsure.push({ name: told[0]!.name, conventions: told.map((w) => w.convention) })
  }
  return found
}

/** Those that remain when the file's description, or a person, has spoken. */
function toldApart(
  fitting: BlockScaledWeight[],
  { metadata, description = '' }: SafetensorsHeader,
  { convention }: Named
): BlockScaledWeight[] {
  if (fitting.length === 1) return fitting
  const chosen = fitting.filter((weight) => weight.convention === convention)
  if (chosen.length > 0) return chosen
  // A layout that only the shape speaks for is less likely than scales as the convention has them.
  const usual = fitting.filter(
    ({ layout, convention: { scalesLayout } }) =>
      layout === scalesLayout || layout.name === 'linear'
  )
  const likely = usual.length > 0 ? usual : fitting
  const said = likely.filter(({ name, convention: { hint } }) => {
    return hint !== undefined && describes(name, metadata, description).includes(hint)
  })
  return said.length > 0 ? said : likely
}

/** What the file says of a weight: torchao describes each, others the whole model. */
const describes = (name: string, metadata: Record<string, string>, description: string) =>
  `${metadata[`${name}.weight`] ?? ''} ${description}`

interface Misfit {
  misfit: string
  tensor: string
}

function misfitError(file: string, { tensor, misfit }: Misfit): UserError {
  return new UserError('usage', `${file}: tensor "${tensor}" ${misfit}.`)
}

function weightOf(
  codes: TensorEntry,
  convention: Convention,
  { tensors, metadata, description = '' }: SafetensorsHeader,
  named: Named
): BlockScaledWeight | Misfit | undefined {
  const { codesSuffix, scalesSuffix, tensorScaleSuffix, described } = convention
  if (!codes.name.endsWith(codesSuffix) || !convention.codesDtypes.includes(codes.dtype)) return
  const prefix = codes.name.slice(0, codes.name.length - codesSuffix.length)
  const words = describes(prefix, metadata, description)
  // With scales beside it, it is of another convention.
  if (
    described?.some((word) => !word.test(words)) ||
    (described && tensors.has(`${codes.name}_scale`))
  )
    return
  const scales = scalesSuffix === undefined ? undefined : tensors.get(prefix + scalesSuffix)
  if (scalesSuffix !== undefined && !convention.scalesDtypes.includes(scales?.dtype ?? '')) return
  const tensorScale =
    tensorScaleSuffix === undefined ? undefined : tensors.get(prefix + tensorScaleSuffix)
  if (tensorScaleSuffix && !tensorScale && !convention.tensorScaleOptional) return
  const matrix = matrixOf(codes, convention)
  if (!matrix && described) return
  if (!matrix) {
    return {
      tensor: codes.name,
      misfit: `is [${codes.shape.join(', ')}], which is no ${convention.name}`
    }
  }
  const name = prefix || codes.name
  const part = { name, convention, ...matrix, codes }
  const matrices = matrixCount(matrix)
  if (tensorScale && !isTensorScale(tensorScale, matrices)) {
    const shown = `[${tensorScale.shape.join(', ')}] of ${tensorScale.dtype}`
    const one = matrices > 1 ? `one F32 or one a matrix (${matrices})` : 'one F32'
    return { tensor: tensorScale.name, misfit: `is ${shown}; ${one} is needed` }
  }
  const withScale = tensorScale ? { tensorScale } : {}
  if (!scales) return { ...part, layout: findLayout('linear'), ...withScale }
  const said =
    named.scaleLayout ??
    (metadata[scaleLayoutKey] === undefined ? undefined : findLayout(metadata[scaleLayoutKey])) ??
    hintedLayout(convention, describes(name, metadata, description))
  const layout = layoutOf(part, scales, said)
  if ('misfit' in layout) return layout
  return { ...part, scales, layout, ...withScale }
}

function hintedLayout({ hintedLayout }: Convention, words: string): ScaleLayout | undefined {
  return hintedLayout?.word.test(words) ? hintedLayout.layout : undefined
}

const tensorScaleBytes: Record<string, number> = { F32: 4, BF16: 2, F16: 2 }

function isTensorScale({ dtype, start, end }: TensorEntry, matrices: number): boolean {
  const bytes = Object.hasOwn(tensorScaleBytes, dtype) ? tensorScaleBytes[dtype]! : NaN
  const count = (end - start) / bytes
  return count === 1 || count === matrices
}

/** Rows and K from the shape of the codes; undefined when the shape is none of the convention. */
function matrixOf(
  { shape, start, end }: TensorEntry,
  convention: Convention
): { leading: number[]; rows: number; k: number } | undefined {
  const { codesShape, scaleBlockSize, interleaved = 0, codesLayout } = convention
  const axes = codesShape === 'blocks' ? 3 : 2
  if (shape.length < axes || end === start) return undefined
  const leading = shape.slice(0, -axes)
  const rows = shape.at(codesShape === 'columns' ? -1 : -axes)!
  const bytes = (end - start) / leading.reduce((product, extent) => product * extent, rows)
  const group = storedGroup(convention)
  const k = (bytes / group.bytes) * group.codes
  if (!Number.isInteger(bytes) || !Number.isInteger(k) || k % scaleBlockSize !== 0) return undefined
  if (codesShape === 'blocks' && shape.at(-1) !== bytes / (k / scaleBlockSize)) return undefined
  if (interleaved && k % (interleaved * scaleBlockSize) !== 0) return undefined
  if (codesLayout) {
    const items = { rows, columns: bytes / codesLayout.itemBytes }
    const padded = paddedShape(codesLayout.layout, items)
    if (padded.rows !== rows || padded.columns !== items.columns) return undefined
  }
  return { leading, rows, k }
}

/** How the scales lie: as was said, as the convention has them, or as their shape tells. */
function layoutOf(
  { convention, leading, rows, k, codes }: Omit<BlockScaledWeight, 'layout'>,
  { name, shape, start, end }: TensorEntry,
  said: ScaleLayout | undefined
): ScaleLayout | Misfit {
  const matrix: ScaleShape = { rows, columns: k / convention.scaleBlockSize }
  const bytes = (end - start) / matrixCount({ leading })
  const holds = (layout: ScaleLayout) => paddedSize(layout, rows, matrix.columns) === bytes
  const own = convention.scalesLayout ?? findLayout('linear')
  const misfit = (what: string): Misfit => {
    const has = `is [${shape.join(', ')}]; ${codes.name} of [${codes.shape.join(', ')}]`
    return { tensor: name, misfit: `${has} ${what}` }
  }
  if (said) {
    if (holds(said)) return said
    const padded = paddedShape(said, matrix)
    const wanted = [...leading, padded.rows, padded.columns].join(', ')
    return misfit(`needs [${wanted}] in layout ${said.name}`)
  }
  if (convention.codesShape === 'columns') {
    return sameShape(shape, [...leading, matrix.columns, rows])
      ? own
      : misfit(`needs [${[...leading, matrix.columns, rows].join(', ')}]`)
  }
  if (convention.scalesOfAnyShape && holds(own)) return own
  if (sameShape(shape, [...leading, matrix.rows, matrix.columns])) {
    return holds(own) ? own : findLayout('linear')
  }
  if (hasShapeOf(own, matrix, shape, leading)) return own
  const likely = layoutsOfShape(matrix, shape, leading)
  if (likely.length === 1) return likely[0]!
  if (likely.length === 0) {
    const padded = paddedShape(own, matrix)
    const wanted = [...leading, padded.rows, padded.columns].join(', ')
    return misfit(`needs [${wanted}] in layout ${own.name}`)
  }
  const names = likely.map((layout) => layout.name).join(', ')
  return misfit(`may be in any of these layouts: ${names}; name it with --input-layout`)
}

const sameShape = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((extent, i) => extent === b[i])

/** Matrices along the leading extents. */
export function matrixCount({ leading }: Pick<BlockScaledWeight, 'leading'>): number {
  return leading.reduce((product, extent) => product * extent, 1)
}

/** The order of a convention's codes; undefined where they are bytes. */
export function orderOf({ order, element }: Convention): ElementPacking | undefined {
  if (order !== undefined) return findElementPacking(order)
  if (element.storageBits === 4) return findElementPacking('fp4_low_first')
  return undefined
}

/** Bytes that repeat along K, the scales among them counted, and the codes they hold. */
export function storedGroup(convention: Convention): { bytes: number; codes: number } {
  const { interleaved, scaleBlockSize } = convention
  const order = orderOf(convention)
  const group = order
    ? { bytes: order.groupBytes, codes: order.bits.length }
    : { bytes: 1, codes: 1 }
  if (!interleaved) return group
  const codes = interleaved * scaleBlockSize
  return { bytes: interleaved + (codes / group.codes) * group.bytes, codes }
}

/** Bytes of one row as the file has them. */
export function storedRowBytes({
  k,
  convention
}: Pick<BlockScaledWeight, 'k' | 'convention'>): number {
  const { bytes, codes } = storedGroup(convention)
  return (k / codes) * bytes
}

/** Bytes of one row's codes in the plain form: fp4 two a byte, low nibble first, all others one a byte. */
export function rowBytes({ k, convention }: Pick<BlockScaledWeight, 'k' | 'convention'>): number {
  return convention.element.storageBits === 4 ? k / 2 : k
}

/** Codes row after row in the plain form, and scales apart from them: what the engine reads where it lies. */
export function isPlain(convention: Convention): boolean {
  const { interleaved, codesLayout, order, element } = convention
  const plain = element.storageBits === 4 ? 'fp4_low_first' : undefined
  return !interleaved && !codesLayout && (order ?? plain) === plain
}
