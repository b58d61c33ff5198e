/** Tensors of a file that are of no known convention and look as if they were codes and scales. */
import type { SafetensorsHeader, TensorEntry } from '../formats/safetensors'
import { groupedBy } from '../groupedBy'
import { conventions, type BlockScaledWeight } from './conventions'

/** Two tensors that look like the codes and the scales of one weight. */
export interface LikelyWeight {
  codes: TensorEntry
  scales: TensorEntry
  /** Block-scaled formats that the sizes allow, as --format names them. */
  formats: string[]
}

const codeTypes = ['U8', 'I8', 'U32', 'I32', 'F4', 'F8_E4M3', 'F8_E5M2']
const scaleTypes = ['U8', 'I8', 'F8_E8M0', 'F8_E4M3']

/** Formats by the bytes of codes that share a scale. */
const formatsOf: Record<number, string[]> = {
  8: ['nvfp4'],
  16: ['mxfp4'],
  24: ['mxfp6_e2m3', 'mxfp6_e3m2'],
  32: ['mxfp8', 'mxfp8_e5m2']
}

export function likelyWeights(
  { tensors }: SafetensorsHeader,
  found: readonly BlockScaledWeight[],
  unsure: readonly string[]
): LikelyWeight[] {
  const used = new Set(
    found.flatMap(({ codes, scales, tensorScale }) =>
      [codes, scales, tensorScale].flatMap((tensor) => tensor?.name ?? [])
    )
  )
  const rest = [...tensors.values()].filter(
    ({ name, shape }) =>
      !used.has(name) && shape.length >= 2 && !unsure.some((weight) => name.startsWith(weight))
  )
  const scales = rest.filter(({ dtype, name }) => scaleTypes.includes(dtype) && saysScale(name))
  const byPlace = groupedBy(scales, ({ name }) => placeOf(name))
  return rest.flatMap((codes) => {
    if (!codeTypes.includes(codes.dtype) || saysScale(codes.name)) return []
    const near = byPlace.get(placeOf(codes.name)) ?? []
    const fitting = near.flatMap((scales) => {
      const formats = formatsOfPair(codes, scales)
      return formats.length > 0 ? [{ codes, scales, formats }] : []
    })
    return fitting.toSorted((a, b) => alike(codes, b.scales) - alike(codes, a.scales)).slice(0, 1)
  })
}

/** Block-scaled formats that the sizes of two tensors allow; none where they are no codes and scales. */
export function formatsOfPair(codes: TensorEntry, scales: TensorEntry): string[] {
  const areTypes = codeTypes.includes(codes.dtype) && scaleTypes.includes(scales.dtype)
  return (areTypes && formatsOf[bytesOf(codes) / bytesOf(scales)]) || []
}

/** Whether a tensor's dtype could be that of codes, or of block scales. */
export const couldBeCodes = ({ dtype }: TensorEntry): boolean => codeTypes.includes(dtype)
export const couldBeScales = ({ dtype }: TensorEntry): boolean => scaleTypes.includes(dtype)

const bytesOf = ({ start, end }: TensorEntry) => end - start

const suffixes = [...new Set(conventions.flatMap(({ scalesSuffix }) => scalesSuffix ?? []))]
/** As those that are known name their scales, or by the word. */
export const saysScale = (name: string) =>
  suffixes.some((suffix) => name.endsWith(suffix)) || /scales?(_inv)?$|(^|[._])s$/.test(name)

/** The module that a tensor belongs to. */
const placeOf = (name: string) => name.slice(0, Math.max(name.lastIndexOf('.'), 0))

/** Letters that two names begin with alike. */
function alike(a: TensorEntry, b: TensorEntry): number {
  let count = 0
  while (count < a.name.length && a.name[count] === b.name[count]) count++
  return count
}

/** Weights of integers with a real scale and an offset for each group: MLX affine, GPTQ, AWQ. They are no floating point. */
export function integerWeights({ tensors }: SafetensorsHeader): string[] {
  const real = (name: string) => ['F16', 'BF16', 'F32'].includes(tensors.get(name)?.dtype ?? '')
  return [...tensors.values()].flatMap(({ name, dtype }) => {
    if (dtype !== 'U32' && dtype !== 'I32') return []
    const weight = name.replace(/\.q?weight$/, '')
    const offsets = tensors.has(`${weight}.biases`) || tensors.has(`${weight}.qzeros`)
    return weight !== name && offsets && real(`${weight}.scales`) ? [weight] : []
  })
}
