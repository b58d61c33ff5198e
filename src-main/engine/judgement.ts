import { findBlockFormat } from '@shared/formats/blockFormat'
import { decodeFloats } from '@shared/formats/floatTensor'
import { decodeTable, numberFormats } from '@shared/formats/numberFormat'
import { findMistake, type Judgement } from '@shared/judge/findMistake'
import type { NativeOpenRequest, NativeOperands, NativeValidation } from './nativeBinding'

/** Which mistake gives this C, (M, N) in the problem's output type. */
export function judgementOf(
  { format, m, n, k, output }: NativeOpenRequest,
  operands: NativeOperands,
  result: Uint8Array,
  { failures }: NativeValidation
): Judgement {
  const product =
    output === 'e4m3'
      ? Float64Array.from(result, (code) => decodeTable(numberFormats.e4m3)[code]!)
      : decodeFloats(output.toUpperCase(), result)
  return findMistake({ format: findBlockFormat(format), m, n, k, ...operands }, product, failures)
}
