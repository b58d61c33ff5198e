/**
 * A row of a kernel manifest, as resources/kernels/cuda/README.md describes it: what a kernel that comes as source says
 * about itself. Parsed here once; the addon gets rows as this schema puts them out (native/core/kernelRow.h).
 */
import * as v from 'valibot'
import { everyBlockFormat } from '../formats/blockFormat'
import {
  autoKernel,
  capabilityLevelSchema,
  featureIds,
  type Feature,
  type FeatureId
} from './devices'
import { outputTypeSchema } from './jobs'
import { kernelCostSchema, requirementSchema, type NamedValues } from './kernelCost'
import { statedErrorSchema } from './statedError'
import { choice, expression, list, name, object, text, wholeNumber } from './rowFields'

const expressions = (least: number, most: number) =>
  v.pipe(
    list(expression),
    v.check(
      (all) => all.length >= least && all.length <= most,
      `must have ${least} to ${most} elements`
    )
  )

const architecture = v.pipe(
  text,
  v.regex(
    /^(sm_[1-9]\d{1,2}[af+]?|gfx[1-9][0-9a-f]{2,3})$/,
    'must be a target such as sm_90a, sm_80+ or gfx950'
  )
)

/** Classes of matrix instruction: a kernel's roof is the peak of its own. */
const instruction = choice(['fp4', 'fp6', 'fp8', 'int8', 'bf16', 'fp16', 'tf32', 'fp32', 'fp64'])

const formatSchema = v.pipe(
  object({
    /** Id of a block-scaled format; 'all': every one that no other entry names. */
    format: choice(['all', ...everyBlockFormat.map(({ id }) => id)]),
    /** 'unavailable': one that 'all' is not to stand for, with the reason. */
    level: choice(capabilityLevelSchema.options),
    reason: text,
    /** Empty: the kernel's own. */
    architectures: v.optional(list(architecture), []),
    /** Absent: the row's own. */
    instruction: v.optional(instruction),
    /** Of an approximate one: the error that it is judged by. */
    error: v.optional(statedErrorSchema)
  }),
  v.forward(
    v.check(
      ({ level, error }) => error === undefined || level === 'approximate',
      'is for the level approximate'
    ),
    ['error']
  )
)

/** Not a word of anything else in a row, and not the problem's. */
const valueName = v.pipe(
  text,
  v.regex(/^[A-Z][A-Z0-9_]+$/, 'must be in upper case'),
  v.check(
    (name) =>
      !/^(SMS|MEMORY_GBS|GROUPS|GROUP_ROWS|MOST_ROWS|BITS_[AB]|BYTES_C|ACCUMULATE)$/.test(name),
    'must not have the name of a given variable'
  )
)

const tensorMapSchema = v.pipe(
  object({
    name,
    of: name,
    offset: v.optional(expression, '0'),
    element: choice(['u8', 'u16', 'u32', 'f16', 'bf16', 'f32', '16u4', '16u6', 'code']),
    dims: expressions(1, 5),
    strides: v.optional(expressions(0, 4), []),
    box: expressions(1, 5),
    elementStrides: v.optional(expressions(0, 5), []),
    swizzle: v.optional(choice(['none', '32B', '64B', '128B']), 'none'),
    l2Promotion: v.optional(choice(['none', '64B', '128B', '256B']), 'none')
  }),
  v.forward(
    v.check(
      (map) => map.strides.length === map.dims.length - 1,
      'must have one element fewer than dims'
    ),
    ['strides']
  ),
  v.forward(
    v.check((map) => map.box.length === map.dims.length, 'must have as many elements as dims'),
    ['box']
  )
)

const launchSchema = object({
  function: name,
  grid: expressions(1, 3),
  block: expressions(1, 3),
  cluster: v.optional(expressions(0, 3), []),
  sharedBytes: v.optional(expression, '0'),
  when: v.optional(expression, '1'),
  dependent: v.optional(v.boolean('must be true or false'), false),
  arguments: v.optional(list(text), [])
})

const rowSchema = v.pipe(
  object({
    id: v.pipe(
      text,
      v.regex(/^[\w.-]+$/, 'must be letters, digits, dots, dashes and underscores'),
      v.check((id) => id !== autoKernel, 'must not be auto: that chooses among the others')
    ),
    provider: v.optional(text, 'user'),
    summary: text,
    /** Path of the source, inside the manifest's folder. */
    file: text,
    /** 'support': device code the host itself uses, no kernel. */
    role: v.optional(choice(['kernel', 'support']), 'kernel'),
    architectures: v.pipe(list(architecture), v.nonEmpty('must name at least one target')),
    instruction: v.optional(instruction),
    options: v.optional(list(text), []),
    /** A layout's name, one written out, or a JSON file of the folder. */
    scaleLayout: v.optional(text, 'linear'),
    codes: v.optional(choice(['packed', 'bytes']), 'packed'),
    outputs: v.optional(
      v.pipe(list(choice(outputTypeSchema.options)), v.nonEmpty('must name at least one type')),
      ['f16', 'bf16', 'f32']
    ),
    /** What of the operation beside the plain product it does itself; the host does the rest in passes of its own. */
    fused: v.optional(list(choice(['b-kn', 'accumulator', 'f8-output', 'grouped'])), []),
    formats: v.optional(list(formatSchema), []),
    constants: v.optional(v.record(name, wholeNumber, 'must be an object of whole numbers'), {}),
    /** Expressions by name, for the row's others; one may use those before it. In their order from here on. */
    values: v.optional(v.record(valueName, expression, 'must be an object of expressions'), {}),
    requires: v.optional(list(requirementSchema), []),
    /** Constants of the cost model; a kernel without is chosen by `auto` only where nothing else is as exact. */
    cost: v.optional(kernelCostSchema),
    workspace: v.optional(
      list(
        object({
          name,
          bytes: expression,
          zeroed: v.optional(v.boolean('must be true or false'), false),
          zeroedOnce: v.optional(v.boolean('must be true or false'), false),
          /** Holds the text of what the kernel found wrong, ended by a zero. */
          fault: v.optional(v.boolean('must be true or false'), false)
        })
      ),
      []
    ),
    /** What it counts on the device: a u32 for each label, at the argument `counters`. */
    counters: v.optional(object({ of: text, labels: list(text) }), { of: '', labels: [] }),
    tensorMaps: v.optional(list(tensorMapSchema), []),
    launches: v.optional(list(launchSchema), [])
  }),
  v.forward(
    v.check((row) => row.role === 'support' || row.formats.length > 0, 'must name a format'),
    ['formats']
  ),
  v.forward(
    v.check((row) => row.role === 'support' || row.launches.length > 0, 'must have a launch'),
    ['launches']
  ),
  v.forward(
    v.check(
      ({ values, constants }) => Object.keys(values).every((name) => !(name in constants)),
      'must not have a name of constants'
    ),
    ['values']
  ),
  v.transform(({ instruction, fused, values, ...row }) => ({
    ...row,
    values: Object.entries(values).map(([name, expression]): NamedValues[number] => ({
      name,
      expression
    })),
    features: featureIds.map((id) => featureOf(id, fused, row.outputs.includes('f32'))),
    formats: row.formats.flatMap(namedFormats).map((format) => ({
      ...format,
      /** Empty: not known. */
      instruction: format.instruction ?? instruction ?? ''
    }))
  }))
)

/** How a row does what the operation has beside the plain product: `finishes`, a pass may finish the f32 product it writes. */
function featureOf(id: FeatureId, fused: readonly string[], finishes: boolean): Feature {
  const words: Record<FeatureId, { fused: string; pass: string }> = {
    'b-kn': { fused: 'it reads B either way', pass: 'a pass turns B to (N, K) first' },
    accumulator: {
      fused: 'added before C is rounded',
      pass: 'a pass adds it to the f32 product'
    },
    'f8-output': {
      fused: 'scaled and rounded as C is written',
      pass: 'a pass scales and rounds the f32 product'
    },
    batch: { fused: 'its launches for one matrix after the other', pass: '' },
    grouped: {
      fused: 'a tile finds its group; padding is not read',
      pass: 'its launches for one group after the other'
    }
  }
  if (id === 'batch' || fused.includes(id)) return { id, level: 'fused', reason: words[id].fused }
  if (id === 'b-kn' || id === 'grouped' || finishes)
    return { id, level: 'pass', reason: words[id].pass }
  return { id, level: 'none', reason: 'it writes no f32 product that a pass could finish' }
}

type FormatEntry = v.InferOutput<typeof formatSchema>

/** 'all' written out. */
function namedFormats(entry: FormatEntry, _index: number, all: FormatEntry[]): FormatEntry[] {
  if (entry.format !== 'all') return [entry]
  const named = new Set(all.map(({ format }) => format))
  return everyBlockFormat
    .filter(({ id }) => !named.has(id))
    .map(({ id }) => ({ ...entry, format: id }))
}

export type KernelRow = v.InferOutput<typeof rowSchema>

/** A row, or what is wrong with it: `launches[0].grid must have 1 to 3 elements`. */
export function parseKernelRow(row: unknown): KernelRow | string {
  const parsed = v.safeParse(rowSchema, row)
  return parsed.success ? parsed.output : describeIssue(parsed.issues[0])
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`
  )
  return `${path.join('').replace(/^\./, '') || 'a row'} ${issue.message}`
}

/**
 * The rows of a manifest with `variants` written out: a variant is the row with the variant's fields laid over it, constants
 * merged. A row without variants is itself. Throws an Error whose message says what is wrong with a list of variants.
 */
export function expandVariants(row: unknown): unknown[] {
  if (!isObject(row) || !('variants' in row)) return [row]
  const { variants, ...common } = row
  if (!Array.isArray(variants) || variants.length === 0 || !variants.every(isObject)) {
    throw new Error('variants must be a list of objects, at least one')
  }
  if ('id' in common) throw new Error('id belongs into each of the variants')
  return variants.map((variant) => {
    const row = { ...common, ...variant }
    const constants = [common['constants'], variant['constants']].filter(isObject)
    return constants.length ? { ...row, constants: Object.assign({}, ...constants) } : row
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
