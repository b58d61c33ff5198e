/** What the layout detective judges by, from raw files, one for each array. */
import { UserError } from '@shared/errors'
import { checkShape, findBlockFormat } from '@shared/formats/blockFormat'
import type { ProductOperands } from '@shared/layouts/detectTerms'
import { elementCodes, productValues } from '@shared/layouts/rawOperands'
import { readNamedSync } from '../ground/named'

export type Side = ProductOperands['side']

export interface RawOperandFlags {
  format?: string
  M?: number
  N?: number
  K?: number
  a?: string
  b?: string
  otherScales?: string
  product?: string
  packing?: string
}

/** Operands from files of raw bytes, one for each array. */
export function rawOperands(flags: RawOperandFlags, side: Side): ProductOperands {
  const { format: formatId, M: m, N: n, K: k, a, b, otherScales, product, packing } = flags
  if (!formatId || !m || !n || !k || !a || !b || !otherScales || !product) {
    const needed = {
      format: formatId,
      M: m,
      N: n,
      K: k,
      a,
      b,
      'other-scales': otherScales,
      product
    }
    const missing = Object.entries(needed)
      .filter(([, value]) => value === undefined)
      .map(([name]) =>
        name.length === 1 && name === name.toUpperCase() ? `-${name}` : `--${name}`
      )
    throw new UserError(
      'usage',
      `Operands as raw files also need ${missing.join(', ')}; or name one file with --operands.`
    )
  }
  const format = findBlockFormat(formatId)
  checkShape(format, m, n, k)
  return {
    ...{ format, m, n, k, side },
    aCodes: elementCodes(readNamedSync(a), m * k, format.a, a, packing),
    bCodes: elementCodes(readNamedSync(b), n * k, format.b, b, packing),
    otherScales: readNamedSync(otherScales),
    product: productValues(readNamedSync(product), m * n, product)
  }
}
