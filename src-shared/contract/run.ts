/**
 * run.json: what was asked, where, when, on what device, with which kernels, and the result of each step. A run is a
 * folder: run.json, samples.jsonl (every timing), profile.hatchet (opens in proton-viewer), trace.json (Perfetto).
 */
import * as v from 'valibot'
import { deviceSchema, librarySchema } from './devices'
import { dispositionSchema, jobSpecSchema, runStatusSchema } from './jobs'

export const currentRunFormatVersion = 1

/** NaN and infinities, which JSON has no numbers for, are written as the strings 'NaN', 'Infinity', '-Infinity'. */
const number = v.union([
  v.number(),
  v.nan(),
  v.pipe(v.picklist(['NaN', 'Infinity', '-Infinity']), v.transform(Number))
])

const failedElementSchema = v.object({
  batch: v.number(),
  row: v.number(),
  col: v.number(),
  got: number,
  reference: number,
  absoluteError: number,
  /** The scale block along K that contributes most to this element, with its codes and scales. */
  block: v.number(),
  aCodes: v.array(v.number()),
  bCodes: v.array(v.number()),
  aScale: v.number(),
  bScale: v.number()
})
export type FailedElement = v.InferOutput<typeof failedElementSchema>

const perturbationSchema = v.object({
  passed: v.boolean(),
  row: v.number(),
  block: v.number(),
  reason: v.string()
})

export const validationSchema = v.object({
  status: v.picklist(['passed', 'incorrect', 'proves-nothing']),
  reason: v.string(),
  atol: v.number(),
  rtol: v.number(),
  elements: v.number(),
  elementsOutside: v.number(),
  nonFinite: v.number(),
  maxAbs: number,
  maxRel: number,
  normwise: number,
  maxScaled: number,
  referenceRms: number,
  referenceNonZero: number,
  ulpHistogram: v.array(v.number()),
  /** Largest error / tolerance per tile, mapRows x mapCols row-major; tiles of tileRows x tileCols elements. */
  errorMap: v.array(number),
  mapRows: v.number(),
  mapCols: v.number(),
  tileRows: v.number(),
  tileCols: v.number(),
  failures: v.array(failedElementSchema),
  perturbationA: perturbationSchema,
  perturbationB: perturbationSchema,
  oracle: v.string(),
  oracleSeconds: v.number(),
  kernelSeconds: v.number()
})
export type Validation = v.InferOutput<typeof validationSchema>

export const launchSchema = v.object({
  name: v.string(),
  startNs: v.number(),
  endNs: v.number(),
  stream: v.number(),
  grid: v.tuple([v.number(), v.number(), v.number()]),
  block: v.tuple([v.number(), v.number(), v.number()]),
  registersPerThread: v.number(),
  sharedMemoryBytes: v.number()
})
export type Launch = v.InferOutput<typeof launchSchema>

/** Times in nanoseconds per operation, over all samples of all rounds. */
export const statisticsSchema = v.object({
  samples: v.number(),
  discarded: v.number(),
  min: v.number(),
  q1: v.number(),
  median: v.number(),
  q3: v.number(),
  p95: v.number(),
  max: v.number(),
  mean: v.number(),
  standardDeviation: v.number()
})
export type Statistics = v.InferOutput<typeof statisticsSchema>

export const measurementSchema = v.object({
  /** 'bs-1 standard': see docs/measurement.md. */
  method: v.string(),
  timeNs: statisticsSchema,
  /** Medians of the rounds, in order. */
  roundMediansNs: v.array(v.number()),
  meanMHz: v.number(),
  meanWatts: v.number(),
  meanTemperatureC: v.number(),
  launchesPerSample: v.number(),
  operandSets: v.number(),
  cacheMode: v.string(),
  timingSource: v.string(),
  stopReason: v.string(),
  warmupNs: v.number(),
  compileSeconds: v.number(),
  badges: v.array(v.string()),
  launches: v.array(launchSchema),
  cuptiNs: v.number(),
  sustainedNs: v.number(),
  sustainedCount: v.number(),
  sustainedWatts: v.number(),
  joulesPerLaunch: v.number(),
  /** 2 M N K */
  flops: v.number(),
  /** Operands, logical scales and C, each once. */
  bytes: v.number(),
  /** With scales padded as the kernel's layout pads them. */
  paddedBytes: v.number(),
  /** From the median. */
  tflops: v.number(),
  gbytesPerSecond: v.number()
})
export type Measurement = v.InferOutput<typeof measurementSchema>

export const stepSchema = v.object({
  index: v.number(),
  format: v.string(),
  kernel: v.string(),
  provider: v.string(),
  baseline: v.boolean(),
  level: v.string(),
  m: v.number(),
  n: v.number(),
  k: v.number(),
  disposition: dispositionSchema,
  /** One sentence; empty when there is nothing to say. */
  reason: v.string(),
  seconds: v.number(),
  sourceHash: v.string(),
  compileOptions: v.string(),
  validation: v.optional(validationSchema),
  measurement: v.optional(measurementSchema)
})
export type Step = v.InferOutput<typeof stepSchema>

export const runSchema = v.object({
  formatVersion: v.literal(currentRunFormatVersion),
  id: v.string(),
  kind: v.picklist(['validate', 'sweep']),
  label: v.string(),
  notes: v.string(),
  /** ISO 8601 */
  createdAt: v.string(),
  finishedAt: v.optional(v.string()),
  status: runStatusSchema,
  /** Why it failed or was interrupted; empty otherwise. */
  reason: v.string(),
  appVersion: v.string(),
  host: v.object({ name: v.string(), system: v.string(), node: v.string() }),
  /** Command line that repeats this run. */
  command: v.string(),
  spec: jobSpecSchema,
  device: v.optional(deviceSchema),
  libraries: v.array(librarySchema),
  /** Things that happened on the way: an engine that ended, a drifted clock. */
  events: v.array(v.object({ at: v.string(), message: v.string() })),
  steps: v.array(stepSchema)
})
export type Run = v.InferOutput<typeof runSchema>

/** A line of the run list: run.json without its steps. */
export const runSummarySchema = v.object({
  id: v.string(),
  kind: v.picklist(['validate', 'sweep']),
  label: v.string(),
  notes: v.string(),
  createdAt: v.string(),
  status: runStatusSchema,
  device: v.string(),
  formats: v.array(v.string()),
  steps: v.number(),
  passed: v.number(),
  failed: v.number(),
  /** A folder that could not be read: what is wrong with it. The folder is left untouched. */
  problem: v.optional(v.string())
})
export type RunSummary = v.InferOutput<typeof runSummarySchema>
