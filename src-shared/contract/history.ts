/** The history of a point over runs: what `runs.history` takes and answers. */
import * as v from 'valibot'
import { groupsSchema } from './groups'

const extent = v.pipe(v.number(), v.integer(), v.minValue(1))

export const historyPointSchema = v.object({
  /** Name of the device: 'NVIDIA H200'. */
  device: v.string(),
  format: v.string(),
  kernel: v.string(),
  m: extent,
  n: extent,
  k: extent,
  groups: v.optional(groupsSchema),
  /** 'cold', 'hot' */
  mode: v.string()
})
export type HistoryPoint = v.InferOutput<typeof historyPointSchema>

/** Rates in TFLOP/s. */
const rate = v.union([v.number(), v.nan()])

export const historyEntrySchema = v.object({
  runId: v.string(),
  title: v.string(),
  /** Where the kernel comes from: its hue. */
  provider: v.string(),
  createdAt: v.string(),
  /** Of the kernel's sources: another one is another kernel. */
  sourceHash: v.string(),
  driver: v.string(),
  median: v.number(),
  /** NaN where they are not known. */
  q1: rate,
  q3: rate,
  least: rate,
  most: rate,
  samples: v.number(),
  meanMHz: v.number(),
  badges: v.array(v.string()),
  /** Over the last run that was not noisy, as a share: 0.14 is 14 % more. */
  change: v.number(),
  verdict: v.picklist(['first', 'same', 'faster', 'slower', 'noisy'])
})
export type HistoryEntry = v.InferOutput<typeof historyEntrySchema>
