/** Tells layouts apart that a shape leaves open, by what the operands give with each: their own reference, or a C. */
import { offsetFinder, type ScaleLayout, type ScaleShape } from '../layouts/layout'
import { finishOf } from '../judge/finish'
import { readingOf, type JudgedOperands, type OperandReading } from '../judge/operandReading'
import {
  agreement,
  compareSample,
  resultToJudge,
  spread,
  type Product
} from '../judge/sampledProduct'

/** Rows and columns of C that are computed with each pair of layouts. */
const look = 8
/** As of findMistake: a C that is right but for a few elements still says how the scales lie. */
const enough = 0.97

export interface LayoutPair {
  a: ScaleLayout
  b: ScaleLayout
}

/**
 * The pairs that give the product, those that agree best; none where no pair does. `operands`: one matrix, with scales as they
 * are packed.
 */
export function pairsThatGive(
  operands: JudgedOperands,
  product: Product,
  layouts: { a: readonly ScaleLayout[]; b: readonly ScaleLayout[] },
  output?: string
): LayoutPair[] {
  const { m, n, k, format } = operands
  const result = resultToJudge(product, n, k, output)
  const sample = { rows: spread(m, look), columns: spread(n, look) }
  const finish = finishOf(operands)
  const columns = k / format.scaleBlockSize
  const readings = (side: 'a' | 'b', rows: number) =>
    layouts[side].map((layout) => ({
      layout,
      reading: packedReading(readingOf(operands, side), layout, { rows, columns })
    }))
  const ofB = readings('b', n)
  const tried = readings('a', m).flatMap((a) =>
    ofB.map((b) => {
      const compared = compareSample({ a: a.reading, b: b.reading }, result, sample, finish)
      return { a: a.layout, b: b.layout, agrees: agreement(compared, result) }
    })
  )
  const best = Math.max(...tried.map(({ agrees }) => agrees))
  if (best < enough) return []
  return tried.filter(({ agrees }) => agrees === best).map(({ a, b }) => ({ a, b }))
}

function packedReading(
  reading: OperandReading,
  layout: ScaleLayout,
  shape: ScaleShape
): OperandReading {
  return { ...reading, scaleAt: offsetFinder(layout, shape) }
}
