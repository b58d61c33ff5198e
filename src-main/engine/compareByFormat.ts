/** The quantiser lab with the addon's quantiser: answers formats.compare of the contract. */
import type { FormatComparison } from '@shared/contract/formats'
import { findBlockFormat } from '@shared/formats/blockFormat'
import {
  compareFormats,
  compareTensor,
  compareValues,
  type ComparisonRow,
  type Quantize
} from '@shared/formats/compare'

/** Throws a UserError for values that are less than a block, and for a K that has no whole ones. */
export async function compareByFormat(
  { formats, rules, ks, values, profiled }: FormatComparison,
  quantize: Quantize
): Promise<ComparisonRow[]> {
  const chosen = formats.map(findBlockFormat)
  switch (values.kind) {
    case 'drawn':
      return compareFormats(
        chosen,
        rules,
        values.distributions,
        ks,
        values.seed,
        quantize,
        profiled
      )
    case 'tensor':
      return compareTensor(
        chosen,
        rules,
        { ...values, values: numbersOf(values.bytes) },
        ks,
        quantize,
        profiled
      )
    case 'numbers': {
      const numbers = numbersOf(values.bytes)
      const rows: ComparisonRow[] = []
      for (const format of chosen) {
        for (const rule of rules) {
          const error = await compareValues(format, rule, numbers, quantize, profiled)
          rows.push({ format: format.id, rule, distribution: 'numbers', ...error, product: [] })
        }
      }
      return rows
    }
  }
}

/** A copy: bytes of a message may lie anywhere. */
const numbersOf = (bytes: Uint8Array) => new Float64Array(bytes.slice().buffer)
