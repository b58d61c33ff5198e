/**
 * How checkpoints keep block-scaled weights: which tensors belong together and what they mean. All pack fp4 two a byte,
 * low nibble first. Sources: gpt-oss (`*_blocks`, `*_scales`); compressed-tensors compressors nvfp4 and mxfp4, and its
 * converter modelopt_nvfp4.py (weight_scale_2 is the reciprocal of weight_global_scale).
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'
import { numberFormats, type NumberFormat } from '../formats/numberFormat'
import type { SafetensorsHeader, TensorEntry } from '../formats/safetensors'
import { paddedShape, type ScaleLayout } from '../layouts/layout'
import { findLayout } from '../layouts/registry'

/** Metadata key that names the layout of all block scales of a file; without it they are linear. */
export const scaleLayoutKey = 'scale_layout'

export interface Convention {
  name: string
  title: string
  codesSuffix: string
  scalesSuffix: string
  tensorScaleSuffix?: string
  /** multiply: value = element * scale * s; divide: value = element * scale / s. */
  tensorScaleUse?: 'multiply' | 'divide'
  codesDtypes: string[]
  scalesDtypes: string[]
  element: NumberFormat
  scale: NumberFormat
  scaleBlockSize: number
  /** True: codes are (..., rows, K / V, bytes of a block); false: (..., rows, bytes of a row). */
  blocked: boolean
}

const { e2m1, e4m3, e8m0, ue4m3 } = numberFormats

export const conventions: readonly Convention[] = [
  {
    name: 'gpt-oss',
    title: 'MXFP4 of gpt-oss: *_blocks (..., rows, K / 32, 16) and *_scales',
    codesSuffix: '_blocks',
    scalesSuffix: '_scales',
    codesDtypes: ['U8'],
    scalesDtypes: ['U8'],
    element: e2m1,
    scale: e8m0,
    scaleBlockSize: 32,
    blocked: true
  },
  {
    name: 'compressed-tensors-nvfp4',
    title: 'NVFP4 of compressed-tensors: .weight_packed, .weight_scale, / .weight_global_scale',
    codesSuffix: '.weight_packed',
    scalesSuffix: '.weight_scale',
    tensorScaleSuffix: '.weight_global_scale',
    tensorScaleUse: 'divide',
    codesDtypes: ['U8'],
    scalesDtypes: ['F8_E4M3'],
    element: e2m1,
    scale: ue4m3,
    scaleBlockSize: 16,
    blocked: false
  },
  {
    name: 'compressed-tensors-mxfp4',
    title: 'MXFP4 of compressed-tensors: .weight_packed, .weight_scale',
    codesSuffix: '.weight_packed',
    scalesSuffix: '.weight_scale',
    codesDtypes: ['U8'],
    scalesDtypes: ['U8', 'F8_E8M0'],
    element: e2m1,
    scale: e8m0,
    scaleBlockSize: 32,
    blocked: false
  },
  {
    name: 'modelopt-nvfp4',
    title: 'NVFP4 of ModelOpt: .weight, .weight_scale, x .weight_scale_2',
    codesSuffix: '.weight',
    scalesSuffix: '.weight_scale',
    tensorScaleSuffix: '.weight_scale_2',
    tensorScaleUse: 'multiply',
    codesDtypes: ['U8'],
    scalesDtypes: ['F8_E4M3'],
    element: e2m1,
    scale: ue4m3,
    scaleBlockSize: 16,
    blocked: false
  },
  {
    name: 'mxfp8',
    title: 'MXFP8: .weight (E4M3), .weight_scale (E8M0)',
    codesSuffix: '.weight',
    scalesSuffix: '.weight_scale',
    codesDtypes: ['F8_E4M3'],
    scalesDtypes: ['U8', 'F8_E8M0'],
    element: e4m3,
    scale: e8m0,
    scaleBlockSize: 32,
    blocked: false
  }
]

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
  scales: TensorEntry
  /** Layout of each matrix of scales; the shape of `scales` is its padded one. */
  layout: ScaleLayout
  tensorScale?: TensorEntry
}

/** The block-scaled weights of a file. Throws a UserError when tensors that belong together do not fit together. */
export function findBlockScaledWeights(
  { tensors, metadata }: SafetensorsHeader,
  file: string
): BlockScaledWeight[] {
  const layout = findLayout(metadata[scaleLayoutKey] ?? 'linear')
  const found: BlockScaledWeight[] = []
  for (const codes of tensors.values()) {
    for (const convention of conventions) {
      const weight = weightOf(codes, convention, tensors, layout, file)
      if (weight) found.push(weight)
    }
  }
  return found
}

function weightOf(
  codes: TensorEntry,
  convention: Convention,
  tensors: ReadonlyMap<string, TensorEntry>,
  layout: ScaleLayout,
  file: string
): BlockScaledWeight | undefined {
  const { codesSuffix, scalesSuffix, tensorScaleSuffix } = convention
  if (!codes.name.endsWith(codesSuffix) || !convention.codesDtypes.includes(codes.dtype)) return
  const name = codes.name.slice(0, -codesSuffix.length)
  const scales = tensors.get(name + scalesSuffix)
  if (!scales || !convention.scalesDtypes.includes(scales.dtype)) return
  const tensorScale = tensorScaleSuffix ? tensors.get(name + tensorScaleSuffix) : undefined
  if (tensorScaleSuffix && !tensorScale) return
  if (tensorScale && (tensorScale.dtype !== 'F32' || tensorScale.end - tensorScale.start !== 4)) {
    const shown = `[${tensorScale.shape.join(', ')}] of ${tensorScale.dtype}`
    throw misfit(file, tensorScale.name, `is ${shown}; one F32 is needed`)
  }
  const matrix = matrixOf(codes, convention)
  if (!matrix) {
    throw misfit(file, codes.name, `is [${codes.shape.join(', ')}], which is no ${convention.name}`)
  }
  const { leading, rows, k } = matrix
  const padded = paddedShape(layout, { rows, columns: k / convention.scaleBlockSize })
  const wanted = [...leading, padded.rows, padded.columns].join(', ')
  if (scales.shape.join(', ') !== wanted) {
    const has = `is [${scales.shape.join(', ')}]; ${codes.name} of [${codes.shape.join(', ')}]`
    throw misfit(file, scales.name, `${has} needs [${wanted}] in layout ${layout.name}`)
  }
  return {
    name,
    convention,
    leading,
    rows,
    k,
    codes,
    scales,
    layout,
    ...(tensorScale ? { tensorScale } : {})
  }
}

/** Rows and K from the shape of the codes; undefined when the shape is none of the convention. */
function matrixOf(
  { shape }: TensorEntry,
  { blocked, element, scaleBlockSize }: Convention
): { leading: number[]; rows: number; k: number } | undefined {
  const blockBytes = (scaleBlockSize * element.storageBits) / 8
  if (shape.length < (blocked ? 3 : 2)) return undefined
  const last = shape.at(-1)!
  if (blocked ? last !== blockBytes : last % blockBytes !== 0) return undefined
  const blocks = blocked ? shape.at(-2)! : last / blockBytes
  const fixed = blocked ? 3 : 2
  return { leading: shape.slice(0, -fixed), rows: shape.at(-fixed)!, k: blocks * scaleBlockSize }
}

function misfit(file: string, tensor: string, what: string): UserError {
  return new UserError('usage', `${file}: tensor "${tensor}" ${what}.`)
}

/** Matrices along the leading extents. */
export function matrixCount({ leading }: BlockScaledWeight): number {
  return leading.reduce((product, extent) => product * extent, 1)
}

/** Bytes of one row's codes. */
export function rowBytes({ k, convention }: BlockScaledWeight): number {
  return (k * convention.element.storageBits) / 8
}
