/** What the quantiser lab is asked and answers. */
import * as v from 'valibot'
import { everyBlockFormat } from '../formats/blockFormat'
import { distributions } from '../formats/compare'
import { nvfp4Rules, scaleRules } from '../formats/quantize'

const formatIds = everyBlockFormat.map(({ id }) => id)
/** Of one product: made in a moment. */
export const mostK = 2 ** 20
/** Of values that are sent: 2^20 of them, with some room. */
const mostBytes = 16 * 2 ** 20
/** Float64, little-endian. */
const values = v.pipe(
  v.instance(Uint8Array),
  v.check(({ length }) => length % 8 === 0, 'Whole float64 values are needed.'),
  v.check(({ length }) => length <= mostBytes, 'These are too many values; take fewer rows.')
)
const size = v.pipe(v.number(), v.integer(), v.minValue(1))

export const formatComparisonSchema = v.strictObject({
  formats: v.array(v.picklist(formatIds)),
  rules: v.array(v.picklist(scaleRules)),
  /** K of the products. */
  ks: v.pipe(v.array(v.pipe(size, v.maxValue(mostK))), v.maxLength(64)),
  /** Whether rows say how the errors spread. */
  profiled: v.optional(v.boolean()),
  values: v.variant('kind', [
    v.strictObject({
      kind: v.literal('drawn'),
      distributions: v.array(v.picklist(distributions)),
      seed: v.pipe(v.number(), v.integer(), v.minValue(0))
    }),
    /** Rows of a tensor, (rows, k) of (ofRows, ofK). */
    v.strictObject({
      kind: v.literal('tensor'),
      name: v.string(),
      rows: size,
      k: size,
      ofRows: size,
      ofK: size,
      bytes: values
    }),
    /** Numbers without rows: no products. */
    v.strictObject({ kind: v.literal('numbers'), bytes: values })
  ])
})
export type FormatComparison = v.InferOutput<typeof formatComparisonSchema>

/** One row for each format, rule and distribution. */
export const comparisonRowSchema = v.object({
  format: v.string(),
  rule: v.picklist([...scaleRules, ...nvfp4Rules.filter((rule) => rule === 'two-level')]),
  distribution: v.string(),
  sqnr: v.number(),
  maxError: v.number(),
  clippedShare: v.number(),
  bad: v.number(),
  product: v.array(v.object({ k: v.number(), relativeError: v.number() })),
  profile: v.optional(
    v.object({
      unit: v.number(),
      rms: v.number(),
      counts: v.array(v.number()),
      squares: v.array(v.number())
    })
  )
})
