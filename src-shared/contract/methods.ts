/**
 * The contract: every method that the page, the command line or another process may call on the main side, once, as
 * schema. Types derive from the schemas; a handler that is missing or returns the wrong thing does not compile.
 */
import * as v from 'valibot'
import { detectionSchema, targetSchema } from './devices'
import {
  captureEventSchema,
  captureIdSchema,
  captureSpecSchema,
  captureSummarySchema
} from './capture'
import { comparisonRowSchema, formatComparisonSchema } from './formats'
import { exampleIds } from './examples'
import { historyEntrySchema, historyPointSchema } from './history'
import { machineCodeSchema } from './machineCode'
import { jobSpecSchema, runStatusSchema, validateSpecSchema } from './jobs'
import { runSchema, runSummarySchema, stepSchema } from './run'
import { runIdSchema } from './runId'

const nothing = v.strictObject({})
const byId = v.strictObject({ id: runIdSchema })
const byCaptureId = v.strictObject({ id: captureIdSchema })
const bytes = v.instance(Uint8Array)

/** What a run can be written as (src-main/jobs/exportRun.ts). */
export const exportForms = [
  'json',
  'csv',
  'markdown',
  'html',
  'hatchet',
  'trace',
  'nvbench',
  'junit',
  'folder'
] as const
export type ExportForm = (typeof exportForms)[number]

/** Nine of ten jobs end within it. */
const secondsRange = v.tuple([v.number(), v.number()])

export const jobEventSchema = v.variant('type', [
  /** Always first: everything so far, so that a page that comes late or again has it all. */
  v.object({
    type: v.literal('snapshot'),
    run: runSchema,
    stepsPlanned: v.number(),
    secondsRange: v.optional(secondsRange)
  }),
  v.object({ type: v.literal('plan'), stepsPlanned: v.number(), secondsRange }),
  v.object({ type: v.literal('step'), step: stepSchema }),
  v.object({
    type: v.literal('progress'),
    stepsDone: v.number(),
    stepsPlanned: v.number(),
    /** Of the whole job, 0..1; below 1 until its end. */
    fraction: v.number(),
    /** What is being done: 'nvfp4 K=4096 wgmma: warm-up'. */
    activity: v.string(),
    secondsLeft: v.number()
  }),
  /** Something a person should know: the engine ended and was started again. */
  v.object({ type: v.literal('notice'), message: v.string() }),
  v.object({ type: v.literal('end'), status: runStatusSchema, reason: v.string() })
])
export type JobEvent = v.InferOutput<typeof jobEventSchema>

export const contract = {
  'app.info': {
    input: nothing,
    output: v.object({
      version: v.string(),
      host: v.string(),
      system: v.string(),
      storeFolder: v.string(),
      targets: v.array(targetSchema)
    })
  },
  'devices.detect': {
    input: v.strictObject({ refresh: v.optional(v.boolean(), false) }),
    output: detectionSchema
  },
  /**
   * Adds a file of Python kernels to those that are offered: this one, or one that the person chooses in a dialog. It is a
   * program, so the person is asked first; neither is there where they said no or chose none.
   */
  'providers.add': {
    input: v.strictObject({
      file: v.optional(
        v.strictObject({
          name: v.pipe(
            v.string(),
            v.regex(/^[\w.\- ]{0,96}[\w\- ]\.py$/i, 'A file of Python kernels is called NAME.py.')
          ),
          bytes: v.pipe(
            bytes,
            v.check((file) => file.length <= 2 ** 20, 'A file of Python kernels has at most 1 MiB.')
          )
        })
      )
    }),
    output: v.object({ file: v.optional(v.string()), detection: v.optional(detectionSchema) })
  },
  /** What formats and scale rules do to values; quantised by the engine. */
  'formats.compare': {
    input: formatComparisonSchema,
    output: v.array(comparisonRowSchema)
  },
  /** A kernel that comes as source, compiled by the toolkit of the main side and read as machine code. */
  'kernels.machineCode': {
    input: v.strictObject({
      kernel: v.string(),
      /** As devices name theirs: 'sm_90'. */
      architecture: v.string(),
      format: v.string(),
      output: v.string()
    }),
    output: machineCodeSchema
  },
  /** Steps and expected time of a job, before it is started. */
  'jobs.plan': {
    input: jobSpecSchema,
    output: v.object({ steps: v.number(), secondsRange, notes: v.array(v.string()) })
  },
  'jobs.start': { input: jobSpecSchema, output: v.object({ id: v.string() }) },
  /**
   * A validation of operands that come as files, or the judging of a C among them: they are told apart by the names of their
   * arrays. `spec` names no file itself.
   */
  'jobs.startWithFiles': {
    input: v.strictObject({
      spec: validateSpecSchema,
      files: v.pipe(
        v.array(v.strictObject({ name: v.pipe(v.string(), v.maxLength(300)), bytes })),
        v.minLength(1),
        v.maxLength(32)
      )
    }),
    output: v.object({ id: v.string() })
  },
  'jobs.list': { input: nothing, output: v.array(runSummarySchema) },
  /** Follows a job to its end; may be called at any time and by several pages. */
  'jobs.watch': { input: byId, output: runSummarySchema, progress: jobEventSchema },
  'jobs.cancel': { input: byId, output: nothing },
  'runs.list': { input: nothing, output: v.array(runSummarySchema) },
  'runs.get': { input: byId, output: runSchema },
  /** A point over the runs that measured it; without one, the point that most runs have. */
  'runs.history': {
    input: v.strictObject({
      point: v.optional(historyPointSchema),
      /** Runs of this label alone; '': every run. */
      label: v.optional(v.string(), '')
    }),
    output: v.object({
      points: v.array(v.object({ point: historyPointSchema, runs: v.number() })),
      point: v.optional(historyPointSchema),
      /** Of the runs that measured the point, whatever label is asked for. */
      labels: v.array(v.string()),
      entries: v.array(historyEntrySchema)
    })
  },
  /** Every raw sample of one step, nanoseconds per operation. */
  'runs.samples': {
    input: v.strictObject({
      ...byId.entries,
      step: v.pipe(v.number(), v.integer(), v.minValue(0))
    }),
    output: v.object({ samplesNs: v.array(v.number()), samplesMHz: v.array(v.number()) })
  },
  'runs.annotate': {
    input: v.strictObject({
      ...byId.entries,
      label: v.optional(v.pipe(v.string(), v.maxLength(200))),
      notes: v.optional(v.pipe(v.string(), v.maxLength(20_000)))
    }),
    output: runSummarySchema
  },
  /** Moves the run folder to the store's trash, from where runs.restore brings it back. */
  'runs.remove': { input: byId, output: nothing },
  'runs.restore': { input: byId, output: nothing },
  'runs.export': {
    input: v.strictObject({
      ...byId.entries,
      as: v.picklist(exportForms)
    }),
    output: v.object({ name: v.string(), bytes })
  },
  /** Takes what runs.export made as 'folder' or 'json', and nvbench's JSON. */
  'runs.import': {
    input: v.strictObject({ name: v.pipe(v.string(), v.maxLength(300)), bytes }),
    output: runSummarySchema
  },
  /** Starts a program under capture, once the person at the machine has allowed it; no id where they said no. */
  'captures.start': {
    input: captureSpecSchema,
    output: v.object({ id: v.optional(captureIdSchema) })
  },
  /** Follows one until its program has ended; may be called at any time and by several pages. */
  'captures.watch': {
    input: byCaptureId,
    output: captureSummarySchema,
    progress: captureEventSchema
  },
  /** Begins one that waits, for its time or for this. */
  'captures.begin': { input: byCaptureId, output: nothing },
  /** Ends the capture, its program going on; or both, by an interrupt. */
  'captures.stop': {
    input: v.strictObject({
      ...byCaptureId.entries,
      what: v.picklist(['capture', 'program'])
    }),
    output: nothing
  },
  'captures.list': {
    input: nothing,
    output: v.object({
      captures: v.array(captureSummarySchema),
      running: v.nullable(captureIdSchema)
    })
  },
  /** The handles of its shards, for files.read. */
  'captures.open': { input: byCaptureId, output: v.object({ shards: v.array(v.string()) }) },
  /** A file that comes with the program; `run`: the id of the run that it is, else ''. */
  'examples.read': {
    input: v.strictObject({ id: v.picklist(exampleIds) }),
    output: v.object({ name: v.string(), bytes, run: v.string() })
  },
  /** Files the operating system asked this app to open; each is announced once as progress. */
  'files.watchOpened': {
    input: nothing,
    output: nothing,
    progress: v.object({ handle: v.string(), name: v.string() })
  },
  /** A piece of a file; `shards`: of a capture's folder, which has no bytes itself, the handles of its shards. */
  'files.read': {
    input: v.strictObject({
      handle: v.string(),
      /** Where the piece begins, bytes. */
      at: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0)
    }),
    output: v.object({
      name: v.string(),
      bytes,
      /** Of the whole file, bytes. */
      size: v.number(),
      shards: v.optional(v.array(v.string()))
    })
  }
} as const

export type Contract = typeof contract
export type Method = keyof Contract
export type Input<M extends Method> = v.InferInput<Contract[M]['input']>
export type ParsedInput<M extends Method> = v.InferOutput<Contract[M]['input']>
export type Output<M extends Method> = v.InferOutput<Contract[M]['output']>
export type ProgressOf<M extends Method> = Contract[M] extends { progress: infer P }
  ? P extends v.GenericSchema
    ? v.InferOutput<P>
    : never
  : never

export interface CallContext<M extends Method> {
  /** Aborted when the caller cancels or its connection closes. */
  signal: AbortSignal
  progress(value: ProgressOf<M>): void
}

export type Handlers = {
  [M in Method]: (input: ParsedInput<M>, context: CallContext<M>) => Promise<Output<M>>
}

/** How any caller, in any process, calls the main side. */
export interface Client {
  call<M extends Method>(
    method: M,
    input: Input<M>,
    options?: { signal?: AbortSignal; onProgress?: (value: ProgressOf<M>) => void }
  ): Promise<Output<M>>
}

export type RpcErrorCode =
  | 'invalid-input'
  | 'unknown-method'
  | 'not-found'
  | 'cancelled'
  | 'disconnected'
  | 'not-supported'
  | 'unavailable'
  | 'failed'
  | 'internal'

/** What a call rejects with, on every transport. The message is one sentence for a person. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    readonly code: RpcErrorCode,
    message: string
  ) {
    super(message)
  }
}
