import * as v from 'valibot'
import { anyNumber } from './numbers'

/** What cuBLASLt or hipBLASLt chose for a product, in its own words; native/core/matmulAlgorithm.h says what each means. */
export const matmulAlgorithmSchema = v.object({
  id: v.number(),
  /** Empty where the library does not tell: cuBLASLt has no names, hipBLASLt's tile and the rest are parts of the name. */
  name: v.string(),
  tile: v.string(),
  stages: v.string(),
  cluster: v.string(),
  splitK: v.optional(v.number()),
  swizzle: v.optional(v.number()),
  customOption: v.optional(v.number()),
  reduction: v.string(),
  workspaceBytes: v.number(),
  waves: anyNumber,
  /** 1 is the best of those that the library's heuristic proposed. */
  rank: v.number(),
  proposed: v.number()
})
export type MatmulAlgorithm = v.InferOutput<typeof matmulAlgorithmSchema>
