import { findBlockFormat } from '@shared/formats/blockFormat'
import type { Judgement } from '@shared/judge/findMistake'
import { judgeBatch } from '@shared/judge/judgeBatch'
import { valuesOfResult } from '@shared/judge/resultBytes'
import type { NativeOpenRequest, NativeOperands, NativeValidation } from './nativeBinding'

/** Which mistake gives this C, in the problem's output type, (M, N) for each matrix of its batch. */
export function judgementOf(
  { format, m, n, k, output, outputScale, batchA = [], batchB = [] }: NativeOpenRequest,
  operands: NativeOperands,
  result: Uint8Array,
  { failures }: NativeValidation
): Judgement {
  const problem = { format: findBlockFormat(format), m, n, k, outputScale, batchA, batchB }
  return judgeBatch({ ...problem, ...operands }, valuesOfResult(result, output), failures, output)
}
