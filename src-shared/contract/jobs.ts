import * as v from 'valibot'
import { defaults } from './defaults'
import { bOrders, operationEntries, problemOfOperation, type Operation } from './operation'
import { runIdSchema } from './runId'
import { shapesSchema } from './shapes'

export const outputTypes = ['f16', 'bf16', 'f32', 'e4m3', 'e5m2'] as const
export const outputTypeSchema = v.picklist(outputTypes)
export type OutputType = v.InferOutput<typeof outputTypeSchema>

export const distributions = [
  'normal',
  'positive',
  'wide-scales',
  'tutorial',
  'uniform-codes',
  'adversarial',
  'zeros'
] as const

const extent = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_048_576))

/** Values of one dimension of a sweep, and its shapes: every M with every N with every K. */
const mostShapes = 10_000
const severalExtents = v.pipe(v.array(extent), v.maxLength(mostShapes))

/** Seeds beyond this are no exact numbers. */
const seedSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(Number.MAX_SAFE_INTEGER)
)

/** What both kinds of job say about operands. */
const operandEntries = {
  /** 'auto': the first GPU, else the CPU. */
  device: v.optional(v.string(), defaults.device),
  formats: v.pipe(v.array(v.string()), v.minLength(1, 'Name at least one format.')),
  /** Kernel ids; empty: every kernel that can do the format. */
  kernels: v.optional(v.array(v.string()), []),
  /** Where kernels come from: 'blockscope', 'Triton', ...; empty: from everywhere. */
  providers: v.optional(v.array(v.string()), []),
  /** Files of Python kernels beside those that are here anyway (docs/providers.md); they are run. */
  providerFiles: v.optional(v.array(v.string())),
  seed: v.optional(seedSchema, defaults.seed),
  distribution: v.optional(v.picklist(distributions), defaults.distribution),
  output: v.optional(outputTypeSchema, defaults.output),
  ...operationEntries,
  /** Shapes of a model, in place of M, N and K. */
  shapes: v.optional(shapesSchema),
  /** Id of a run that ended early: what it finished is taken over. All else must be as it was there. */
  resumes: v.optional(runIdSchema)
}

/**
 * What passes: 'allowances', the tolerance or one of the two allowances of docs/measurement.md; 'assert-close', the
 * tolerance alone, as torch.testing.assert_close.
 */
export const passRules = ['allowances', 'assert-close'] as const
export const passRuleSchema = v.picklist(passRules)
export type PassRule = v.InferOutput<typeof passRuleSchema>

const shapesBringAll = 'the shapes bring M, N and K'

/** Refuses batches that do not broadcast, and a scale that C cannot have. */
const fitsOperation = <S extends Operation & { output: string; resultFile?: string }>() =>
  v.rawCheck<S>(({ dataset, addIssue }) => {
    // The type of a C that is judged is its file's, and known when that is read.
    if (!dataset.typed || dataset.value.resultFile !== undefined) return
    const problem = problemOfOperation(dataset.value, dataset.value.output)
    if (!problem) return
    const { field, message } = problem
    addIssue({
      message,
      path: [
        {
          type: 'object',
          origin: 'value',
          input: dataset.value as unknown as Record<string, unknown>,
          key: field,
          value: dataset.value[field]
        }
      ]
    })
  })

/** Refuses groups beside what says M otherwise. */
const bringsRows = <S extends Operation & { shapes?: unknown }>(saysRows: (spec: S) => boolean) =>
  v.check<S, string>(
    (spec) => spec.groups === undefined || !(saysRows(spec) || spec.shapes !== undefined),
    'the groups bring M, and shapes bring groups of their own'
  )

/** Each left out where the file says it, or its shapes do. */
export const operandsAsSchema = v.strictObject({
  format: v.optional(v.string()),
  bOrder: v.optional(v.picklist(bOrders)),
  /** Orders of packed fp4 and fp6 codes, each for codes of its width (src-shared/layouts/elementPacking.ts). */
  packings: v.optional(v.array(v.string())),
  scaleLayoutA: v.optional(v.string()),
  scaleLayoutB: v.optional(v.string())
})
export type OperandsAs = v.InferOutput<typeof operandsAsSchema>

export const validateSpecSchema = v.pipe(
  v.strictObject({
    kind: v.literal('validate'),
    ...operandEntries,
    /** Shape; absent: 8192 cubed on a GPU, 1024 cubed on a CPU. */
    m: v.optional(extent),
    n: v.optional(extent),
    k: v.optional(extent),
    /** An element passes when |got - reference| <= atol + rtol |reference|. */
    atol: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)), defaults.atol),
    rtol: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)), defaults.rtol),
    rule: v.optional(passRuleSchema, defaults.rule),
    /** Paths of the files that hold the operands together, instead of generated ones. */
    operandsFiles: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
    /** How its arrays are to be read where it does not say so itself; in a run, how they were read. */
    operandsAs: v.optional(operandsAsSchema),
    /** Path of a file with C as another program made it of these operands: it is judged, and no kernel is run. */
    resultFile: v.optional(v.string()),
    /** What to judge it as; absent: the type it is kept in. */
    resultType: v.optional(outputTypeSchema)
  }),
  v.check(
    ({ shapes, m, n, k, operandsFiles }) =>
      !shapes || [m, n, k, operandsFiles].every((given) => given === undefined),
    shapesBringAll
  ),
  bringsRows(({ m }) => m !== undefined),
  fitsOperation()
)
export type ValidateSpec = v.InferOutput<typeof validateSpecSchema>
export type ValidateSpecInput = v.InferInput<typeof validateSpecSchema>

const launches = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))

/** Why these are too many shapes for one sweep, in a sentence; undefined: they are not. */
export function problemOfShapes(sizes: {
  mValues: readonly number[]
  nValues: readonly number[]
  kValues: readonly number[]
}): string | undefined {
  const [m, n, k] = [sizes.mValues, sizes.nValues, sizes.kValues].map(
    (values) => new Set(values).size || 1
  )
  if (m! * n! * k! <= mostShapes) return undefined
  return `${m} values of M, ${n} of N and ${k} of K are ${m! * n! * k!} shapes; at most ${mostShapes} are swept at once.`
}

export const presetNames = ['quick', 'standard', 'thorough'] as const

export const sweepSpecSchema = v.pipe(
  v.strictObject({
    kind: v.literal('sweep'),
    ...operandEntries,
    /** Empty: one, the same as of a validation. */
    mValues: v.optional(severalExtents, []),
    nValues: v.optional(severalExtents, []),
    /** Empty where shapes are given, and only there. */
    kValues: v.optional(severalExtents, []),
    mode: v.optional(v.picklist(['cold', 'hot']), defaults.mode),
    preset: v.optional(v.picklist(presetNames), defaults.preset),
    /** Exactly this many samples per point instead of the preset's stop rules. */
    reps: v.optional(launches),
    /** Exactly this many launches of warm-up before each measurement, instead of the preset's time. */
    warmup: v.optional(launches),
    rounds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20))),
    /** Also run back to back for at least half a second. */
    sustained: v.optional(v.boolean(), false)
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { shapes, mValues, nValues, kValues } = dataset.value
    const isGiven = [mValues, nValues, kValues].some((values) => values.length > 0)
    const message = shapes
      ? isGiven && shapesBringAll
      : kValues.length === 0
        ? 'Name at least one K.'
        : problemOfShapes(dataset.value)
    if (message) addIssue({ message })
  }),
  bringsRows(({ mValues }) => mValues.length > 0),
  fitsOperation()
)
export type SweepSpec = v.InferOutput<typeof sweepSpecSchema>
export type SweepSpecInput = v.InferInput<typeof sweepSpecSchema>

export const jobSpecSchema = v.variant('kind', [validateSpecSchema, sweepSpecSchema])
export type JobSpec = v.InferOutput<typeof jobSpecSchema>
export type JobSpecInput = v.InferInput<typeof jobSpecSchema>

/** What became of a step: CUTLASS profiler's dispositions, plus baseline and cancelled. */
export const dispositionSchema = v.picklist([
  'passed',
  /** Another operation, timed for comparison: outside the tolerance, as it must be. */
  'baseline',
  'incorrect',
  'error',
  'not-supported',
  'not-verified',
  'not-run',
  'cancelled'
])
export type Disposition = v.InferOutput<typeof dispositionSchema>

export const runStatusSchema = v.picklist([
  'queued',
  'running',
  'done',
  'cancelled',
  'failed',
  /** The process that wrote the run ended before the run did. */
  'interrupted'
])
export type RunStatus = v.InferOutput<typeof runStatusSchema>
