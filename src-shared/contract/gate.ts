/**
 * What a gate found: base and new, point by point, with every sample. The file `gate --output` writes, and of which its other
 * reports are made; a baseline that a repository keeps.
 */
import * as v from 'valibot'
import { deviceStateSchema } from './deviceState'
import { groupsSchema } from './groups'

export const currentGateVersion = 1

/**
 * 'failed': a kernel did not pass its validation, or failed when it was timed: its time decides nothing. Only 'same' and
 * 'faster' pass.
 */
export const gateVerdicts = ['faster', 'slower', 'same', 'insufficient', 'failed'] as const
export type GateVerdict = (typeof gateVerdicts)[number]

export const gateEstimateSchema = v.object({
  /** Pairs measured beside one another, or two samples that were not. */
  method: v.picklist(['pairs', 'samples']),
  observations: v.number(),
  /** Of this interval, 0..1. */
  confidence: v.number(),
  /** Time of new over base: above 1 is slower. Absent where nothing was observed, the interval where there was too little. */
  ratio: v.optional(v.number()),
  low: v.optional(v.number()),
  high: v.optional(v.number()),
  power: v.optional(
    v.object({
      /** How often an effect of `finds` (0.02: 2 %) is found, 0..1. */
      at: v.number(),
      finds: v.number(),
      /** Observations for which smaller ones would be found as often. */
      needs: v.array(v.object({ effect: v.number(), observations: v.number() }))
    })
  )
})
export type GateEstimate = v.InferOutput<typeof gateEstimateSchema>

const extent = v.pipe(v.number(), v.integer(), v.minValue(1))
/** Nanoseconds of an operation. */
const time = v.pipe(v.number(), v.finite(), v.gtValue(0))

/** What is timed, but by which kernel. */
export const gateProblemSchema = v.object({
  format: v.string(),
  m: extent,
  n: extent,
  k: extent,
  groups: v.optional(groupsSchema)
})
export type GateProblem = v.InferOutput<typeof gateProblemSchema>

const gateSideSchema = v.object({
  kernel: v.string(),
  /** Of its source: tells kernels of one name apart. */
  sourceHash: v.string(),
  /** Samples of each visit; a visit's median is one observation. In the order of visits; of pairs, one for each. */
  samplesNs: v.array(v.array(time)),
  meanMHz: v.number(),
  badges: v.array(v.string())
})
export type GateSide = v.InferOutput<typeof gateSideSchema>

export const gatePointSchema = v.object({
  ...gateProblemSchema.entries,
  base: gateSideSchema,
  new: gateSideSchema,
  estimate: gateEstimateSchema,
  verdict: v.picklist(gateVerdicts),
  /** One sentence. */
  reason: v.string()
})
export type GatePoint = v.InferOutput<typeof gatePointSchema>

export const gateResultSchema = v.object({
  blockscopeGate: v.literal(currentGateVersion),
  appVersion: v.string(),
  createdAt: v.string(),
  finishedAt: v.string(),
  /** As they were named. */
  base: v.string(),
  new: v.string(),
  /** How both were brought beside one another, in a sentence. */
  how: v.string(),
  device: v.object({ ...deviceStateSchema.entries, host: v.string() }),
  mode: v.string(),
  output: v.string(),
  seed: v.number(),
  /** Of all points together: a gate that finds nothing wrong anywhere is right this often. */
  confidence: v.number(),
  margin: v.number(),
  points: v.array(gatePointSchema),
  /** What only one of the two has, and what else a person should know. */
  notes: v.array(v.string()),
  passed: v.boolean(),
  /** '3 of 4 passed: 2 same, 1 faster, 1 slower' */
  sentence: v.string()
})
export type GateResult = v.InferOutput<typeof gateResultSchema>

const baselinePointSchema = v.object({
  ...gateProblemSchema.entries,
  kernel: v.string(),
  sourceHash: v.string(),
  /** Clock of the device while it was timed; 0: not known. */
  meanMHz: v.number(),
  /** Median of each visit. */
  visitsNs: v.pipe(v.array(time), v.minLength(1))
})
export type BaselinePoint = v.InferOutput<typeof baselinePointSchema>

/** Times of one device in one state. */
const baselineStateSchema = v.object({
  device: deviceStateSchema,
  recordedAt: v.string(),
  /** 'bs-3'; those of before do not say it. */
  method: v.optional(v.string(), 'bs-2'),
  mode: v.string(),
  output: v.string(),
  points: v.array(baselinePointSchema)
})
export type BaselineState = v.InferOutput<typeof baselineStateSchema>

export const baselineFileSchema = v.object({
  blockscopeBaseline: v.literal(1),
  states: v.array(baselineStateSchema)
})
export type BaselineFile = v.InferOutput<typeof baselineFileSchema>
