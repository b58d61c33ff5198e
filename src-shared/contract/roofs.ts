import * as v from 'valibot'

/** A limit of a device: a rate of arithmetic per class of instruction, or of reading memory per level. */
export const roofSchema = v.object({
  kind: v.picklist(['compute', 'memory']),
  /** Of compute the instruction as kernels name theirs: 'bf16', 'int8:avx512-vnni'; of memory the level: 'dram', 'l2'. */
  of: v.string(),
  /** FLOP/s or byte/s */
  rate: v.number(),
  basis: v.picklist(['measured', 'data sheet']),
  /** How it was measured, or which data sheet: a sentence. */
  source: v.string(),
  /**
   * Of a GPU's 'dram': nanoseconds that plain reads of so many bytes take, none of which a cache holds, timed as kernels are; from
   * few bytes to many. Runs of before 29 November 2026 have none.
   */
  reads: v.optional(v.array(v.object({ bytes: v.number(), ns: v.number() })))
})
export type Roof = v.InferOutput<typeof roofSchema>
