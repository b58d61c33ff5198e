/** Values of one's own: pasted numbers, a tensor of a .safetensors file, or a block-scaled weight of it or of a GGUF file. */
import { findWeights, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { ownConvention } from '@shared/checkpoints/ownConvention'
import {
  couldBeCodes,
  couldBeScales,
  formatsOfPair,
  likelyWeights,
  type LikelyWeight
} from '@shared/checkpoints/unknown'
import { planWeightSample, readSampledRow, weightSample } from '@shared/checkpoints/weightSample'
import { UserError } from '@shared/errors'
import { blockFormats, findBlockFormat } from '@shared/formats/blockFormat'
import {
  decodeSample,
  isFloatTensor,
  planSample,
  type TensorSample
} from '@shared/formats/floatTensor'
import type { SafetensorsHeader, TensorEntry } from '@shared/formats/safetensors'
import { elementPackings } from '@shared/layouts/elementPacking'
import { findLayout } from '@shared/layouts/registry'
import type { Checked } from '../../ground/fields'
import { bytesOf, checkpointHeaderOf, withBytesOf } from '../../ground/safetensorsFile'

export const mostValues = 2 ** 20

export function parseNumbers(typed: string): Checked<Float64Array> {
  const words = typed.split(/[\s,;]+/).filter(Boolean)
  if (words.length === 0) return {}
  const wrong = words.find((word) => !Number.isFinite(Number(word)))
  if (wrong !== undefined) return { problem: `"${wrong}" is no finite number.` }
  if (words.length > mostValues) return { problem: `At most ${mostValues} numbers can be pasted.` }
  return { value: Float64Array.from(words, Number) }
}

/** Something of a file that has values. */
export interface ValueSource {
  /** Unlike all others of the file. */
  id: string
  title: string
  of: TensorEntry | BlockScaledWeight
  /** What names it on the command line. */
  flags: string
}

export interface OpenedTensors {
  header: SafetensorsHeader
  sources: ValueSource[]
  /** Tensors of no known convention that look like codes and scales. */
  likely: LikelyWeight[]
  /** Whether there are tensors that a person could name as codes and scales. */
  canBeNamed: boolean
}

/** Tensors of real numbers and weights of known conventions. Throws a UserError for a file that is none. */
export async function openTensors(file: File): Promise<OpenedTensors> {
  const header = await checkpointHeaderOf(file)
  const tensors = [...header.tensors.values()]
  const { weights, unsure } = foundWeights(header, file.name)
  const possible = unsure.flatMap(({ name, conventions }) =>
    conventions.flatMap((convention) => {
      const all = findWeights(header, file.name, { convention }).weights
      const weight = all.find((one) => one.name === name)
      return weight ? [sourceOfWeight(weight, ` --convention ${convention.name}`)] : []
    })
  )
  const unsureNames = unsure.map(({ name }) => name)
  return {
    header,
    sources: [
      ...tensors.filter(isFloatTensor).map((of) => ({
        id: of.name,
        title: `${of.name}, ${of.dtype} [${of.shape.join(', ')}]`,
        of,
        flags: `--tensor ${of.name}`
      })),
      ...weights.map((weight) => sourceOfWeight(weight)),
      ...possible
    ],
    likely: likelyWeights(header, weights, unsureNames),
    canBeNamed: tensors.some(couldBeCodes) && tensors.some(couldBeScales)
  }
}

/** Tensors that do not fit together can be named one by one all the same. */
function foundWeights(header: SafetensorsHeader, file: string): ReturnType<typeof findWeights> {
  try {
    return findWeights(header, file, {})
  } catch (error) {
    if (error instanceof UserError) return { weights: [], unsure: [] }
    throw error
  }
}

function sourceOfWeight(weight: BlockScaledWeight, more = ''): ValueSource {
  const { name, convention, leading, rows, k } = weight
  return {
    id: `${name}${more} as ${convention.name}`,
    title: `${name}, ${convention.name} [${[...leading, rows, k].join(', ')}]`,
    of: weight,
    flags: `--tensor ${name}${more}`
  }
}

/** What a person says of two tensors. '' of order and layout: as most have it. */
export interface NamedByHand {
  codes: string
  scales: string
  format: string
  order: string
  layout: string
}

/** Tensors and formats that could be meant, given what has been said so far; those that the sizes allow, where they do. */
export function namedChoices({ header }: OpenedTensors, { codes, scales, format }: NamedByHand) {
  const tensors = [...header.tensors.values()]
  const [ofCodes, ofScales] = [codes, scales].map((name) => header.tensors.get(name))
  const fitting = tensors.filter(
    (tensor) => ofCodes && tensor !== ofCodes && formatsOfPair(ofCodes, tensor).length > 0
  )
  const allowed = ofCodes && ofScales ? formatsOfPair(ofCodes, ofScales) : []
  const bits = blockFormats.some(({ id }) => id === format)
    ? findBlockFormat(format).b.storageBits
    : 0
  return {
    codes: tensors.filter(couldBeCodes),
    scales: [
      ...fitting,
      ...tensors.filter((tensor) => couldBeScales(tensor) && !fitting.includes(tensor))
    ].filter(({ name }) => name !== codes),
    formats: allowed.length > 0 ? allowed : blockFormats.map(({ id }) => id),
    orders: elementPackings.filter(({ storageBits }) => storageBits === bits)
  }
}

/** The weight that those tensors are. Throws a UserError where they do not fit together. */
export function weightByHand(
  { header }: OpenedTensors,
  file: string,
  { codes, scales, format, order, layout }: NamedByHand
): ValueSource {
  const own = ownConvention({ codes, scales, format, ...(order !== '' && { order }) }, header, file)
  const named = { own, ...(layout !== '' && { scaleLayout: findLayout(layout) }) }
  const weight = findWeights(header, file, named).weights.find((one) => one.codes.name === codes)
  if (!weight)
    throw new UserError(
      'usage',
      `"${codes}" and "${scales}" are no codes and scales of one weight.`
    )
  const flags = [
    `--tensor ${weight.name} --codes ${codes} --scales ${scales} --format ${format}`,
    order && `--order ${order}`,
    layout && `--input-layout ${layout}`
  ]
  return { ...sourceOfWeight(weight), flags: flags.filter(Boolean).join(' ') }
}

/** Rows, spread over it; the rest of the file is not read. */
export async function readSample(file: File, { of }: ValueSource): Promise<TensorSample> {
  if ('convention' in of) {
    const plan = planWeightSample(of)
    const rows: Float64Array[] = []
    for (const row of plan.rows)
      rows.push(await withBytesOf(file, (read) => readSampledRow(plan, row, read)))
    return weightSample(plan, rows)
  }
  const plan = planSample(of)
  const pieces = plan.ranges.map(({ from, to }) => bytesOf(file, of.start + from, of.start + to))
  return decodeSample(plan, await Promise.all(pieces))
}
