/** A few neighbours along K under one format and rule, element by element: what is stored, what is lost, what clips. */
import type { BlockFormat } from './blockFormat'
import { clipLimits, quantizationError } from './compare'
import { decodeTable } from './numberFormat'
import {
  dequantize,
  finiteMaximum,
  nvfp4RuleFor,
  nvfp4TensorScale,
  quantizeMx,
  quantizeNvfp4,
  type ScaleRule
} from './quantize'

export interface StudiedElement {
  value: number
  code: number
  /** What the code stands for at its scale; NaN in a block with a NaN or an infinity. */
  stored: number
  /** stored - value */
  error: number
  /** Beyond the largest code. */
  clips: boolean
}

export interface StudiedScale {
  code: number
  /** Of the block, without the tensor's. */
  value: number
  /** One step of the element format's 1: block scale times tensor scale. */
  step: number
}

export interface BlockStudy {
  elements: StudiedElement[]
  /** One for each block of the values. */
  scales: StudiedScale[]
  tensorScale: number
  /** dB; Infinity without error, NaN when nothing is finite. */
  sqnr: number
  maxError: number
  maxErrorAt: number
  clips: number
}

/**
 * Operand A of the format on whole blocks of values. `restLargest`: largest magnitude of the tensor's other values, for the
 * tensor scale of NVFP4.
 */
export function studyBlock(
  format: BlockFormat,
  values: Float64Array,
  rule: ScaleRule,
  restLargest: number
): BlockStudy {
  const block = format.scaleBlockSize
  const quantized = format.tensorScale
    ? quantizeNvfp4(
        values,
        nvfp4RuleFor(rule),
        nvfp4TensorScale(Math.max(restLargest, finiteMaximum(values)))
      )
    : quantizeMx(values, format.a, block, rule)
  const stored = dequantize(quantized, format.a, format.scale, block)
  const limit = clipLimits(format, 'a', quantized)
  const elements = Array.from(values, (value, i): StudiedElement => {
    const error = stored[i]! - value
    return {
      value,
      code: quantized.codes[i]!,
      stored: stored[i]!,
      error,
      clips: Math.abs(value) > limit(i)
    }
  })
  const { sqnr, maxError } = quantizationError(format, 'a', values, quantized)
  const finite = elements.some(({ error }) => Number.isFinite(error))
  const scaleValues = decodeTable(format.scale)
  return {
    elements,
    scales: Array.from(quantized.scales, (code) => {
      const value = scaleValues[code] ?? NaN
      return { code, value, step: value * quantized.tensorScale }
    }),
    tensorScale: quantized.tensorScale,
    sqnr: finite ? sqnr : NaN,
    maxError,
    maxErrorAt: elements.findIndex(({ error }) => Math.abs(error) === maxError),
    clips: elements.filter(({ clips, error }) => clips && Number.isFinite(error)).length
  }
}

export interface Level {
  value: number
  /** Codes of this value: 0 has two. */
  codes: number[]
}

/** Every value that operand A can store at a step, from the highest to the lowest. */
export function levelsAt(format: BlockFormat, step: number): Level[] {
  const levels = new Map<number, number[]>()
  decodeTable(format.a).forEach((value, code) => {
    if (!Number.isFinite(value)) return
    // -0 is 0.
    const key = value === 0 ? 0 : value
    levels.set(key, [...(levels.get(key) ?? []), code])
  })
  return [...levels]
    .sort(([one], [other]) => other - one)
    .map(([value, codes]) => ({ value: value * step, codes }))
}
