/** Products that a model is made of: explicit shapes, each with how often it is done. */
import * as v from 'valibot'

const extent = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_048_576))
/** As many as one sweep may have. */
export const mostShapeRows = 10_000

export const shapeRowSchema = v.strictObject({
  /** 'qkv', 'expert down'. */
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  m: extent,
  n: extent,
  k: extent,
  /** Products of this shape beside one another, as the experts of a layer are. */
  groups: v.optional(extent, 1),
  /** How often the model does it in one step: its layers. 0: it is measured and counts for nothing. */
  weight: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)), 1),
  /** Tokens of the step that it is of; rows of one number of tokens are summed together. */
  tokens: v.optional(extent)
})
export type ShapeRow = v.InferOutput<typeof shapeRowSchema>

export const shapesSchema = v.strictObject({
  /** Where the rows come from: a bundled model's name, or a file's path. */
  source: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  /** What rows of a model were made for; absent where a file holds the rows themselves. */
  tokens: v.optional(v.array(extent)),
  tp: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1024))),
  rows: v.pipe(
    v.array(shapeRowSchema),
    v.minLength(1, 'Name at least one shape.'),
    v.maxLength(mostShapeRows)
  )
})
export type Shapes = v.InferOutput<typeof shapesSchema>
