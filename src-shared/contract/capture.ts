/** Captures of programs: what is asked, how far one is, what lies there. The command line and the page ask by the same schema. */
import * as v from 'valibot'

const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0))
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(10_000))

export const captureSpecSchema = v.strictObject({
  /** The program and its arguments. */
  command: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(100_000))),
    v.minLength(1, 'Name the program to capture.'),
    v.maxLength(10_000)
  ),
  /** Where it is started; otherwise where blockscope was. */
  workingFolder: v.optional(text),
  /** Variables beside those that blockscope has itself. */
  environment: v.optional(
    v.record(
      v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/, 'A variable is called NAME, as in NAME=value.')),
      v.string()
    ),
    {}
  ),
  /** Begin so long after the start. */
  afterMs: v.optional(milliseconds, 0),
  /** Begin when asked to, whatever afterMs says: by a signal to the command, or captures.begin. */
  waits: v.optional(v.boolean(), false),
  /** End the capture so long after its beginning; absent: at the program's end. */
  forMs: v.optional(milliseconds),
  /** Only launches while an NVTX range of this name is open. */
  range: v.optional(text),
  /** Only kernels of these names: a POSIX extended regular expression. */
  kernels: v.optional(text),
  /** Only processes of this program or script. */
  only: v.optional(text),
  /** A record for each launch of a CUDA graph, and none for its kernels. */
  wholeGraphs: v.optional(v.boolean(), false),
  /** The Python frames that each launch was made from. */
  python: v.optional(v.boolean(), false),
  /** Metrics that each kernel's first launch is measured by; that launch runs several times. */
  counters: v.optional(
    v.array(
      v.pipe(
        v.string(),
        v.regex(
          /^[A-Za-z_]\w*(\.\w+)*$/,
          ({ input }) => `"${input}" is no name of a metric, as dram__bytes_read.sum is`
        )
      )
    ),
    []
  ),
  /** Interrupt the program when the capture ends. */
  endProgram: v.optional(v.boolean(), false)
})
export type CaptureSpec = v.InferOutput<typeof captureSpecSchema>
export type CaptureSpecInput = v.InferInput<typeof captureSpecSchema>

/** By the headers of the shards, while they are written. */
export const captureCountsSchema = v.object({
  processes: v.number(),
  launches: v.number(),
  kernels: v.number(),
  dropped: v.number(),
  bytes: v.number()
})
export type CaptureCounts = v.InferOutput<typeof captureCountsSchema>

export const captureIdSchema = v.pipe(v.string(), v.regex(/^\d{8}-\d{6}(-\d+)?$/))

export const captureSummarySchema = v.object({
  id: captureIdSchema,
  startedAt: v.string(),
  command: v.array(v.string()),
  processes: v.number(),
  kernels: v.number(),
  lostKernels: v.number(),
  /** What is missing, in sentences. */
  notes: v.array(v.string()),
  /** Null while it runs, or where it was not seen to end. */
  program: v.nullable(v.object({ code: v.nullable(v.number()), signal: v.nullable(v.string()) }))
})
export type CaptureSummary = v.InferOutput<typeof captureSummarySchema>

export const captureEventSchema = v.object({
  /** 'ended': what was captured is there, the program may go on. */
  state: v.picklist(['waiting', 'recording', 'ending', 'ended']),
  command: v.array(v.string()),
  seconds: v.number(),
  counts: captureCountsSchema,
  /** The last of what the program printed. */
  output: v.string(),
  /** Once the capture has ended. */
  summary: v.optional(captureSummarySchema)
})
export type CaptureEvent = v.InferOutput<typeof captureEventSchema>
