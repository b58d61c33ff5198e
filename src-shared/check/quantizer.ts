/** Whether codes are what quantising their values gives, at the scales that they have. */
import type { BlockFormat } from '../formats/blockFormat'
import { encode } from '../formats/encode'
import { decodeTable } from '../formats/numberFormat'
import { counted, percent } from '../units'
import type { Finding } from '../judge/findMistake'
import type { Side } from '../judge/operandReading'

export interface QuantizedOperand {
  format: BlockFormat
  side: Side
  /** (rows, K). */
  values: Float64Array
  codes: Uint8Array
  /** Linear, (rows, K / V). */
  scales: Uint8Array
  tensorScale?: number
}

/** How a quantiser brings a value to the size of its element; `step`: scale of the block times that of the tensor. */
const ways = {
  division: (value: number, step: number) => value / step,
  'division in float32': (value: number, step: number) => Math.fround(value / Math.fround(step)),
  /** Rounded twice: TransformerEngine#2639. */
  reciprocal: (value: number, step: number) =>
    Math.fround(value * Math.fround(1 / Math.fround(step)))
}
type Way = keyof typeof ways

/** Undefined where every code is the nearest to its value; infinite and NaN values are left out. */
export function quantizerFinding(operand: QuantizedOperand): Finding | undefined {
  const { side, values } = operand
  const tried = (Object.keys(ways) as Way[]).map((way) => ({ way, ...differences(operand, way) }))
  const best = tried.reduce((least, one) => (one.count < least.count ? one : least))
  const of = side.toUpperCase()
  const [asDivided] = tried
  if (best.count === 0 && best.way !== 'reciprocal') return undefined
  const far = `${counted(asDivided!.count, 'code')} of ${counted(values.length, 'value')}`
  const agrees = 1 - best.count / values.length
  if (best.way === 'reciprocal' && best.count < asDivided!.count / 2)
    return {
      ...{ kind: 'quantizer-reciprocal', agrees, alike: [] },
      sentence: `The codes of ${of} come from a product with the reciprocal of the scale instead of a division: ${far} are not the nearest.`
    }
  const { first } = asDivided!
  return {
    ...{ kind: 'quantizer', agrees, alike: [] },
    sentence: `${percent(asDivided!.count / values.length)} of the codes of ${of} are not the nearest to their values, the first of value ${first}.`
  }
}

function differences(
  { format, side, values, codes, scales, tensorScale = 1 }: QuantizedOperand,
  way: Way
): { count: number; first: number } {
  const element = format[side]
  const ofScale = decodeTable(format.scale)
  let count = 0
  let first = -1
  for (let at = 0; at < values.length; at++) {
    const step = ofScale[scales[Math.floor(at / format.scaleBlockSize)]!]! * tensorScale
    const value = values[at]!
    if (!Number.isFinite(value) || !(step > 0)) continue
    if (encode(element, ways[way](value, step)) === codes[at]) continue
    // Both zeros are nearest to a value that becomes one.
    if (isZero(element, codes[at]!) && isZero(element, encode(element, value / step))) continue
    if (first < 0) first = at
    count++
  }
  return { count, first }
}

const isZero = (element: BlockFormat['a'], code: number) => decodeTable(element)[code] === 0
