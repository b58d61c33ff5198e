/**
 * run.json: what was asked, where, when, on what device, with which kernels, and the result of each step. A run is a
 * folder: run.json, samples.jsonl (every timing), profile.hatchet (opens in proton-viewer), trace.json (Perfetto).
 */
import * as v from 'valibot'
import { deviceSchema, librarySchema } from './devices'
import { bringSpecUpToDate, bringUpToDate } from './olderRuns'
import { groupsSchema } from './groups'
import { kernelChoiceSchema } from './kernelCost'
import { matmulAlgorithmSchema } from './matmulAlgorithm'
import { anyNumber as number } from './numbers'
import { roofSchema } from './roofs'
import { dispositionSchema, jobSpecSchema, passRuleSchema, runStatusSchema } from './jobs'
import { runIdSchema } from './runId'

export const currentRunFormatVersion = 1

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
  /** Absent: A has no scales. */
  aScale: v.optional(v.number()),
  bScale: v.number()
})
export type FailedElement = v.InferOutput<typeof failedElementSchema>

/** 'not-run' with the reason why; 'no-scales' of an operand that has none. Runs of version 0.1.0 said only whether it passed. */
const perturbationSchema = v.pipe(
  v.object({
    state: v.optional(v.picklist(['not-run', 'passed', 'failed', 'no-scales'])),
    passed: v.optional(v.boolean()),
    row: v.number(),
    block: v.number(),
    reason: v.string()
  }),
  v.transform(({ state, passed, row, block, reason }) => {
    const before = passed
      ? ('passed' as const)
      : reason
        ? ('failed' as const)
        : ('not-run' as const)
    return { state: state ?? before, row, block, reason }
  })
)

/** What a kernel counted on the device while it made its product, in the words of its manifest row. */
const countedSchema = v.object({
  /** 'intervals proved' */
  of: v.string(),
  /** Empty: it counts nothing. */
  labels: v.array(v.string()),
  counts: v.array(v.number())
})
export type Counted = v.InferOutput<typeof countedSchema>

/** What the engine finds out about one kernel's product; native/core/backend.h says what each figure means. */
const judgedEntries = {
  status: v.picklist(['passed', 'incorrect', 'proves-nothing']),
  reason: v.string(),
  elements: v.number(),
  elementsOutside: v.number(),
  nonFinite: v.number(),
  /** Elements beyond the tolerance that passed by an allowance of the rule (docs/measurement.md) alone. */
  withinRounding: v.optional(v.number()),
  withinCancellation: v.optional(v.number()),
  /** Of a kernel that is judged by the error that it states: elements that pass by that alone. */
  withinStated: v.optional(v.number()),
  statedError: v.optional(v.number()),
  /** Norm-wise, without what rounding C to its type costs. */
  errorBeforeRounding: v.optional(number),
  /** Largest error / tolerance. */
  maxToleranceShare: v.optional(number),
  /** |got - reference| in units in the last place of the output type, less the half that rounding may cost. */
  maxUlpsAboveRounding: v.optional(number),
  meanUlpsAboveRounding: v.optional(number),
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
  /** Of the bytes of C: kernels with the same one agree bit for bit on this product. Runs before there was any have none. */
  outputDigest: v.optional(v.string()),
  counted: v.optional(countedSchema),
  /** Of a library's kernel. */
  algorithm: v.optional(matmulAlgorithmSchema),
  oracleSeconds: v.number(),
  /** Wall time of the first run of the kernel, with all that surrounds it. */
  kernelSeconds: v.number(),
  comparisonSeconds: v.optional(v.number()),
  perturbationSeconds: v.optional(v.number()),
  /** Time of the operation's own launches, each time it was run: once as it is, then with a scale raised. */
  launchNs: v.optional(v.array(v.number()))
}
export const judgedSchema = v.strictObject(judgedEntries)
export type Judged = v.InferOutput<typeof judgedSchema>

export const validationSchema = v.object({
  ...judgedEntries,
  atol: v.number(),
  rtol: v.number(),
  rule: v.optional(passRuleSchema, 'allowances'),
  /** Of a product that another program made: which mistakes give it (src-shared/judge). */
  judgement: v.optional(
    v.object({
      /** Shares of the sampled elements, 0..1: that the operands give as they are, and under a finding. */
      agrees: v.number(),
      sampled: v.number(),
      findings: v.array(
        v.object({
          kind: v.string(),
          sentence: v.string(),
          agrees: v.number(),
          alike: v.array(v.string())
        })
      )
    })
  )
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

/** A line of samples.jsonl: one round of a step. Runs of version 0.1.0 hold no more than this. */
const roundEntries = {
  step: v.pipe(v.number(), v.integer(), v.minValue(0)),
  round: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Nanoseconds per operation. */
  samplesNs: v.array(number),
  samplesMHz: v.array(number)
}
export const roundSchema = v.looseObject(roundEntries)
export type StoredRound = v.InferOutput<typeof roundSchema>

/** What a line has beside its step and round when all that was measured is in it: a run that resumes this one takes it over. */
export const measuredRoundSchema = v.object({
  samplesNs: roundEntries.samplesNs,
  samplesMHz: roundEntries.samplesMHz,
  discarded: number,
  launchesPerSample: number,
  operandSets: number,
  cacheMode: v.string(),
  timingSource: v.string(),
  stopReason: v.string(),
  warmupNs: number,
  compileSeconds: number,
  meanWatts: number,
  meanTemperatureC: number,
  badges: v.array(v.string()),
  launches: v.array(launchSchema),
  launchSource: v.optional(v.string(), ''),
  sustainedNs: number,
  sustainedCount: number,
  sustainedWatts: number,
  joulesPerLaunch: number,
  algorithm: v.optional(matmulAlgorithmSchema)
})

/**
 * Times in nanoseconds per operation, over all samples of all rounds. All but the median are NaN where another program
 * measured and did not say (`measuredBy`).
 */
export const statisticsSchema = v.object({
  samples: v.number(),
  discarded: v.number(),
  min: number,
  q1: number,
  median: v.number(),
  q3: number,
  p95: number,
  max: number,
  mean: number,
  standardDeviation: number
})
export type Statistics = v.InferOutput<typeof statisticsSchema>

/** What the engine finds out in one round, but its samples; native/core/backend.h says what each figure means. */
const measuredEntries = {
  launchesPerSample: v.number(),
  operandSets: v.number(),
  cacheMode: v.string(),
  timingSource: v.string(),
  stopReason: v.string(),
  warmupNs: v.number(),
  compileSeconds: v.number(),
  meanWatts: v.number(),
  meanTemperatureC: v.number(),
  badges: v.array(v.string()),
  launches: v.array(launchSchema),
  launchSource: v.optional(v.string(), ''),
  sustainedNs: v.number(),
  sustainedCount: v.number(),
  sustainedWatts: v.number(),
  joulesPerLaunch: v.number(),
  /** Of a library's kernel. */
  algorithm: v.optional(matmulAlgorithmSchema)
}
export const measuredSchema = v.strictObject(measuredEntries)
export type Measured = v.InferOutput<typeof measuredSchema>

export const measurementSchema = v.object({
  ...measuredEntries,
  /** 'bs-3 standard, cold': see docs/measurement.md. */
  method: v.string(),
  timeNs: statisticsSchema,
  /** Medians of the rounds, in order. */
  roundMediansNs: v.array(v.number()),
  /** The time in which any of the launches ran, by CUPTI; 0 without it. */
  cuptiNs: v.number(),
  meanMHz: v.number(),
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

export const workSchema = v.object({
  /** 2 M N K */
  flops: v.number(),
  /** What it reads and writes at least: operands, logical scales and C, each once. */
  bytes: v.number(),
  /** With scales padded as the kernel's layout pads them. */
  paddedBytes: v.number()
})

/** One of the places where a point of a collected run was measured (blockscope fleet). */
export const placeSchema = v.object({
  /** Id of the run that it comes from. */
  run: v.string(),
  host: v.string(),
  /** 'cuda:0' */
  deviceId: v.string(),
  device: v.string(),
  /** As the driver names it; empty where it does not. */
  uuid: v.string(),
  timeNs: statisticsSchema,
  meanMHz: v.number(),
  meanWatts: v.number(),
  meanTemperatureC: v.number(),
  sourceHash: v.string(),
  compileOptions: v.string()
})
export type Place = v.InferOutput<typeof placeSchema>

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
  /** Of a grouped product, whose m is all of their rows. */
  groups: v.optional(groupsSchema),
  disposition: dispositionSchema,
  /** One sentence; empty when there is nothing to say. */
  reason: v.string(),
  seconds: v.number(),
  sourceHash: v.string(),
  compileOptions: v.string(),
  /** Class of the instruction that multiplies (devices.ts); empty where it is not known. */
  instruction: v.optional(v.string(), ''),
  /** Where the kernel was chosen by `auto`. */
  choice: v.optional(kernelChoiceSchema),
  /** Of one operation, as this kernel does it: every reader takes it from here. */
  work: v.optional(workSchema),
  validation: v.optional(validationSchema),
  measurement: v.optional(measurementSchema),
  /** Of a collected run: where the point was measured, one entry a run; `measurement` is over all their samples. */
  places: v.optional(v.array(placeSchema))
})
export type Step = v.InferOutput<typeof stepSchema>

const runEntries = v.object({
  formatVersion: v.literal(currentRunFormatVersion),
  id: runIdSchema,
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
  /** Another program, whose file this was made from; when it measured and on which host the file does not say. */
  measuredBy: v.optional(
    v.object({ program: v.picklist(['nvbench']), version: v.string(), file: v.string() })
  ),
  host: v.object({ name: v.string(), system: v.string(), node: v.string() }),
  /** Command line that repeats this run. */
  command: v.string(),
  spec: v.pipe(v.unknown(), v.transform(bringSpecUpToDate), jobSpecSchema),
  device: v.optional(deviceSchema),
  libraries: v.array(librarySchema),
  /** Things that happened on the way: an engine that ended, a drifted clock. */
  events: v.array(v.object({ at: v.string(), message: v.string() })),
  /** How many steps the job was to have; absent in runs of version 0.1.0. */
  stepsPlanned: v.optional(v.number()),
  /** How the arrays of a file of operands were read, a sentence for each operand. */
  operandsRead: v.optional(v.array(v.string())),
  /** Limits of the device that were measured on it. */
  roofs: v.optional(v.array(roofSchema)),
  steps: v.array(stepSchema)
})
/** Runs of earlier versions are brought up to date as they are read. */
export const runSchema = v.pipe(runEntries, v.transform(bringUpToDate))
export type Run = v.InferOutput<typeof runSchema>

/** What became of a run (src-shared/measurement/outcome.ts). */
export const runOutcomeSchema = v.object({
  verdict: v.picklist([
    'running',
    'passed',
    'failed',
    /** Cancelled or cut off before all that was planned was done. */
    'incomplete',
    /** Agreeing with the reference proves nothing. */
    'unproven',
    /** Baselines alone were timed: nothing was to pass or fail. */
    'reference',
    /** Nothing here can do what was asked. */
    'unsupported',
    /** Nothing was judged. */
    'nothing'
  ]),
  planned: v.number(),
  passed: v.number(),
  failed: v.number(),
  references: v.number(),
  unsupported: v.number(),
  unproven: v.number(),
  undone: v.number(),
  measured: v.number(),
  /** '18 of 36 passed, 18 failed' */
  sentence: v.string()
})
export type RunOutcome = v.InferOutput<typeof runOutcomeSchema>

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
  /** 'M = N = 8,192, K 512–8,192'; '' where no step tells. */
  shape: v.string(),
  /** What differs from the defaults, in words. */
  options: v.string(),
  outcome: runOutcomeSchema,
  /** A folder that could not be read: what is wrong with it. The folder is left untouched. */
  problem: v.optional(v.string())
})
export type RunSummary = v.InferOutput<typeof runSummarySchema>
