import * as v from 'valibot'
import { kernelModelSchema } from './kernelCost'
import { statedErrorSchema } from './statedError'

/** In place of a kernel's id: the best for each problem (src-shared/choice). */
export const autoKernel = 'auto'

/** How a kernel computes a format on a device. */
export const capabilityLevelSchema = v.picklist([
  'native',
  'exact',
  'approximate',
  /** Another device's instruction, computed lane by lane: to check a kernel, not to use it. Not offered unless asked for. */
  'emulated',
  'unavailable'
])
export type CapabilityLevel = v.InferOutput<typeof capabilityLevelSchema>

export const librarySchema = v.object({
  name: v.string(),
  found: v.boolean(),
  version: v.string(),
  path: v.string(),
  /** Why it was not found; empty when it was. */
  reason: v.string(),
  /** What to install; empty when it was found. */
  remedy: v.string()
})
export type Library = v.InferOutput<typeof librarySchema>

/** What of the operation beside the plain product a kernel takes, and how. */
export const featureIds = ['b-kn', 'accumulator', 'f8-output', 'batch', 'grouped'] as const
export type FeatureId = (typeof featureIds)[number]
export const featureSchema = v.object({
  id: v.string(),
  /** 'fused': itself; 'pass': in a pass of its own before or behind the kernel, timed with it; 'none': not. */
  level: v.picklist(['fused', 'pass', 'none']),
  reason: v.string()
})
export type Feature = v.InferOutput<typeof featureSchema>

const featureNames: Record<string, string> = {
  'b-kn': 'B (K, N)',
  'f8-output': 'C in e4m3, e5m2'
} satisfies Partial<Record<FeatureId, string>>
const featureLevels = { fused: 'exact', pass: 'emulated', none: 'not taken' } as const

/** Its name and level in the words of docs/operation.md: ['B (K, N)', 'emulated']. */
export const featureWords = ({ id, level }: Feature): [name: string, level: string] => [
  featureNames[id] ?? id,
  featureLevels[level]
]

export const kernelSchema = v.object({
  id: v.string(),
  provider: v.string(),
  summary: v.string(),
  /** Layout of the packed scales this kernel reads. */
  scaleLayout: v.string(),
  /** True: not the block-scaled operation itself, shown for comparison. */
  baseline: v.boolean(),
  /** Bits of an element as a baseline reads it, converted beforehand; 0: the format's packed codes and scales. */
  operandBits: v.optional(v.number(), 0),
  /** Types of C that it can write. */
  outputs: v.optional(v.array(v.string()), ['f16', 'bf16', 'f32']),
  sourceHash: v.string(),
  compileOptions: v.string(),
  capabilities: v.array(
    v.object({
      format: v.string(),
      level: capabilityLevelSchema,
      reason: v.string(),
      /**
       * Class of the instruction that multiplies, whose peak is the kernel's roof: 'bf16', 'fp8', 'fp4'; on a CPU with
       * the instruction set, 'int8:avx512-vnni'. Empty: not known.
       */
      instruction: v.optional(v.string(), ''),
      /** Of an approximate kernel that states one. */
      error: v.optional(statedErrorSchema)
    })
  ),
  /** Of a kernel that comes from a file of Python kernels (docs/providers.md). */
  python: v.optional(v.object({ file: v.string(), codes: v.picklist(['packed', 'bytes']) })),
  /** Runs before there were any do not have them: the plain product alone. */
  features: v.optional(v.array(featureSchema), []),
  /** Of a kernel that comes as source. */
  model: v.optional(kernelModelSchema)
})
export type Kernel = v.InferOutput<typeof kernelSchema>

/** Whether all that a kernel computes is with an emulated instruction: shown and run where it is asked for alone. */
export function isEmulation({ capabilities }: Pick<Kernel, 'capabilities'>): boolean {
  const levels = capabilities.map(({ level }) => level).filter((level) => level !== 'unavailable')
  return levels.length > 0 && levels.every((level) => level === 'emulated')
}

const computesSomething = ({ capabilities }: Pick<Kernel, 'capabilities'>) =>
  capabilities.some(({ level }) => level !== 'unavailable')

/** A device's kernels as they are listed: those that compute something there, then those written for others. Emulations where asked for. */
export function listedKernels<K extends Pick<Kernel, 'capabilities'>>(
  kernels: readonly K[],
  withEmulations: boolean
): K[] {
  const shown = kernels.filter((kernel) => withEmulations || !isEmulation(kernel))
  return [
    ...shown.filter(computesSomething),
    ...shown.filter((kernel) => !computesSomething(kernel))
  ]
}

/** What of the operation beside the plain product it takes on this device: nothing where it computes no format here. */
export const featuresHere = (kernel: Pick<Kernel, 'capabilities' | 'features'>): Feature[] =>
  computesSomething(kernel) ? kernel.features : []

export const deviceSchema = v.object({
  /** 'cpu', 'cuda:0' */
  id: v.string(),
  kind: v.string(),
  name: v.string(),
  architecture: v.string(),
  /** The unit is part of the key: clockMHz, memoryBytes, powerLimitW. */
  properties: v.record(v.string(), v.union([v.boolean(), v.number(), v.string()])),
  kernels: v.array(kernelSchema)
})
export type Device = v.InferOutput<typeof deviceSchema>

export const detectionSchema = v.object({
  devices: v.array(deviceSchema),
  libraries: v.array(librarySchema),
  /** Kernel manifests that were refused, each with a sentence. */
  warnings: v.array(v.string())
})
export type Detection = v.InferOutput<typeof detectionSchema>

/** Targets that the project has code for, and whether anyone has run that code on the hardware. */
export const targetSchema = v.object({
  architecture: v.string(),
  instruction: v.string(),
  /** 'run-here': on this machine; 'run': on such a device elsewhere. */
  state: v.picklist(['run-here', 'run', 'compiled', 'emulated', 'absent']),
  note: v.string(),
  /** How architectures of its devices begin, and the kernels that are meant: what a report of a device proves. */
  devices: v.optional(v.array(v.string())),
  kernels: v.optional(v.array(v.string()))
})
export type Target = v.InferOutput<typeof targetSchema>
