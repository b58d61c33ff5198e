/** What a kernel's manifest row says about the time it takes: the constants of the cost model (src-shared/choice). */
import * as v from 'valibot'
import { expression, list, object, text } from './rowFields'

/**
 * A launch, or a part of one: `units` of work of which `slots` are done at a time. A unit takes `ns` nanoseconds, its `bytes`
 * at this share of what a plain read of memory reaches, and its `flop` at this share of the instruction's peak; both rates are
 * the device's, and shared by the slots. Bytes come beside the rest or in turn with it: of whichever takes less, `percentInTurn`
 * is added to the other (100: one after the other, 0: the longer of the two).
 */
const stageSchema = object({
  name: text,
  units: v.optional(expression, '1'),
  slots: v.optional(expression, '1'),
  ns: v.optional(expression, '0'),
  bytes: v.optional(expression, '0'),
  percentOfRead: v.optional(expression, '100'),
  flop: v.optional(expression, '0'),
  percentOfPeak: v.optional(expression, '100'),
  percentInTurn: v.optional(expression, '100')
})

export const kernelCostSchema = object({
  /** Which run the constants were taken from, or that they are estimated. */
  source: text,
  /** Of launches that find nothing to do, and the gaps between launches. */
  fixedNs: v.optional(
    v.pipe(v.number('must be a number'), v.minValue(0, 'must not be negative')),
    0
  ),
  stages: v.pipe(list(stageSchema), v.nonEmpty('must name a stage'))
})
export type KernelCost = v.InferOutput<typeof kernelCostSchema>
export type CostStage = KernelCost['stages'][number]

/** A stage that no manifest row has, with what a row may leave out. */
export const stageOf = (given: v.InferInput<typeof stageSchema>): CostStage =>
  v.parse(stageSchema, given)

export const requirementSchema = object({ that: expression, message: text })

/** Expressions by name, in the order in which they may use one another. */
export const namedValuesSchema = v.array(v.object({ name: v.string(), expression: v.string() }))
export type NamedValues = v.InferOutput<typeof namedValuesSchema>

/** What of a manifest row says on which problems a kernel can be used, and how long it takes. */
export const kernelModelSchema = v.object({
  constants: v.record(v.string(), v.number()),
  values: v.optional(namedValuesSchema),
  requires: v.array(requirementSchema),
  cost: v.optional(kernelCostSchema)
})
export type KernelModel = v.InferOutput<typeof kernelModelSchema>

/** What `auto` chose for a problem, and why: kept with the step. */
export const kernelChoiceSchema = v.object({
  /** Id of the kernel; '' where none can do it. */
  kernel: v.string(),
  /** 'the fastest of 3 exact kernels by the cost model: 124 us, 143 us with wgmma-fp8-p32' */
  why: v.string(),
  /** Nanoseconds of one operation, as the model tells them beforehand; absent: it cannot. */
  predictedNs: v.optional(v.number()),
  /** Best first; then those that were left out. */
  candidates: v.array(
    v.object({
      kernel: v.string(),
      level: v.string(),
      predictedNs: v.optional(v.number()),
      /** Why it was left out, or why its time cannot be told; empty otherwise. */
      reason: v.string()
    })
  )
})
export type KernelChoice = v.InferOutput<typeof kernelChoiceSchema>
