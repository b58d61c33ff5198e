/**
 * Files of Python kernels (docs/providers.md): what each kernel says of itself, as kernels of the devices they run on. Triton's
 * (resources/providers/triton) is one of them; the others are those that a person names.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import * as v from 'valibot'
import { statedErrorSchema } from '@shared/contract/statedError'
import {
  capabilityLevelSchema,
  featureIds,
  type Device,
  type Feature,
  type FeatureId,
  type Kernel,
  type Library
} from '@shared/contract/devices'
import { outputTypes } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import { isScaled } from '@shared/formats/numberFormat'
import { layouts } from '@shared/layouts/registry'
import { isEightBits } from '@shared/contract/operation'
import { describeIssues } from '@shared/schemaWords'
import type { EngineDetection } from './engineProtocol'
import type { PythonHost } from './pythonHost'

const kernelSchema = v.object({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][\w.-]{0,63}$/)),
  summary: v.string(),
  /** 'cuda': the GPU that PyTorch calls so, under PyTorch for ROCm AMD's. */
  device: v.picklist(['cpu', 'cuda']),
  scaleLayout: v.string(),
  codes: v.picklist(['packed', 'bytes']),
  outputs: v.array(v.string()),
  /** What it takes beside the plain product, and how, in words of its own. */
  takes: v.record(v.string(), v.string()),
  baseline: v.boolean(),
  operandBits: v.number(),
  compileOptions: v.string(),
  version: v.string(),
  /** Of the GPU that it sees. */
  uuid: v.string(),
  /** Why it cannot run here; empty: it can. */
  reason: v.string(),
  formats: v.record(
    v.string(),
    v.object({
      level: capabilityLevelSchema,
      reason: v.string(),
      instruction: v.string(),
      error: v.optional(statedErrorSchema)
    })
  )
})
/** What host.py and this side of it speak; PROTOCOL in resources/providers/blockscope_host/kernelFile.py. */
export const pythonProtocol = 2
export const protocolSchema = v.literal(pythonProtocol)
const detectSchema = v.object({
  protocol: protocolSchema,
  python: v.string(),
  kernels: v.array(kernelSchema)
})
type Described = v.InferOutput<typeof kernelSchema>

/** Names that a file may use. */
export const knownNames = {
  /** A is handed over as bytes with scales beside them: an A that carries none is not. */
  formats: everyBlockFormat.filter(({ a }) => isScaled(a)).map(({ id }) => id),
  layouts: layouts.map(({ name }) => name),
  outputs: outputTypes,
  /** What `takes` may name; that C may be of eight bits is said by `outputs`. */
  features: featureIds.filter((id) => id !== 'f8-output')
}

/** What a kernel does beside the plain product of one matrix with B as (N, K), by what its class says. */
export function pythonFeatures({ takes, outputs }: Pick<Described, 'takes' | 'outputs'>) {
  const isTaken = (id: FeatureId) =>
    id === 'f8-output' ? outputs.some(isEightBits) : Object.hasOwn(takes, id)
  return featureIds.map((id): Feature => {
    const attribute = id === 'f8-output' ? 'outputs' : 'takes'
    return isTaken(id)
      ? { id, level: 'fused', reason: takes[id] ?? '' }
      : { id, level: 'none', reason: `Its class does not name it in ${attribute}.` }
  })
}

/** Throws a UserError for an answer of another form: another program under the name of Python. */
export function parseAnswer<S extends v.GenericSchema>(
  schema: S,
  answer: unknown,
  file: string
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, answer)
  if (parsed.success) return parsed.output
  const why = describeIssues(parsed.issues)
  throw new UserError('failed', `${basename(file)} gave an answer of another form: ${why}.`)
}

/** What was found with Triton's kernels added to the device it runs on, and Triton among the libraries. */
export async function withTriton(
  found: EngineDetection,
  host: PythonHost,
  file: string
): Promise<EngineDetection> {
  const library = (about: Partial<Library>): Library => ({
    ...{ name: 'Triton', found: false, version: '', path: '', reason: '', remedy: '' },
    ...about
  })
  const missing = (reason: string) => {
    const remedy = 'Install torch and triton for it, or name another Python in BLOCKSCOPE_PYTHON.'
    return { ...found, libraries: [...found.libraries, library({ reason, remedy })] }
  }
  if (!found.devices.some((device) => device.kind !== 'cpu')) {
    const none = library({ reason: 'There is no GPU for it.' })
    return { ...found, libraries: [...found.libraries, none] }
  }
  try {
    const { kernels, python } = await detect(host, file)
    const able = kernels.filter(({ reason }) => reason === '')
    if (able.length === 0) return missing(kernels[0]!.reason)
    const about = { found: true, version: versionOf(able, python), path: host.python }
    return placed(found, await describe(able, file, 'Triton'), library(about))
  } catch (error) {
    return missing(error instanceof UserError ? error.message : `${host.python} gave no answer.`)
  }
}

/** What was found with the kernels of a file that a person named. Throws a UserError where none of them can run here. */
export async function withFile(
  found: EngineDetection,
  host: PythonHost,
  file: string
): Promise<EngineDetection> {
  const name = basename(file)
  const { kernels, python } = await detect(host, file)
  if (kernels.every(({ reason }) => reason !== ''))
    throw new UserError('unavailable', `${name}: ${kernels[0]!.reason}`)
  for (const { id } of kernels) {
    const other = found.devices.find((device) => device.kernels.some((one) => one.id === id))
    if (other)
      throw new UserError(
        'usage',
        `${name}: "${id}" is the id of another kernel of ${other.id}; give yours an id of its own.`
      )
  }
  const library = {
    ...{ name, found: true, version: versionOf(kernels, python), path: file },
    ...{ reason: '', remedy: '' }
  }
  const able = kernels.filter(({ reason }) => reason === '')
  if (!found.devices.some((device) => able.some((kernel) => isFor(kernel, device))))
    throw new UserError(
      'unavailable',
      `${name}: its kernels compute on the GPU that PyTorch sees, which is none of the devices here.`
    )
  return placed(found, await describe(kernels, file, 'user'), library)
}

async function detect(host: PythonHost, file: string) {
  const answer = await host.ask({ method: 'detect', file, known: knownNames })
  return parseAnswer(detectSchema, answer, file)
}

function versionOf(kernels: readonly Described[], python: string): string {
  const versions = new Set(kernels.map(({ version }) => version).filter(Boolean))
  return [...versions, `Python ${python}`].join(', ')
}

interface Placed {
  described: Described
  kernel: Kernel
}

async function describe(
  kernels: readonly Described[],
  file: string,
  provider: string
): Promise<Placed[]> {
  const source = await readFile(file)
  return kernels.map((described) => ({
    described,
    kernel: kernelOf(described, file, provider, source)
  }))
}

function kernelOf(described: Described, file: string, provider: string, source: Buffer): Kernel {
  const { id, summary, scaleLayout, baseline, operandBits, outputs, compileOptions } = described
  const { codes, version, formats, reason } = described
  const other = {
    level: 'unavailable' as const,
    reason: reason || `${id} does not take this format.`,
    instruction: ''
  }
  return {
    ...{ id, provider, summary, scaleLayout, baseline, operandBits, outputs, compileOptions },
    features: pythonFeatures(described),
    sourceHash: createHash('sha256').update(source).update(version).digest('hex'),
    capabilities: knownNames.formats.map((format) => ({ format, ...(formats[format] ?? other) })),
    python: { file, codes }
  }
}

/** Kernels at the devices they run on: the CPU, or the GPU that their Python sees. */
function placed(
  found: EngineDetection,
  kernels: readonly Placed[],
  library: Library
): EngineDetection {
  const devices = found.devices.map((device) => {
    const own = kernels.filter(({ described }) => isFor(described, device))
    return { ...device, kernels: [...device.kernels, ...own.map(({ kernel }) => kernel)] }
  })
  return { devices, libraries: [...found.libraries, library] }
}

function isFor({ device: kind, uuid, reason }: Described, device: Device): boolean {
  if ((kind === 'cpu') !== (device.kind === 'cpu')) return false
  return kind === 'cpu' || reason !== '' || sameUuid(String(device.properties['uuid'] ?? ''), uuid)
}

const sameUuid = (a: string, b: string) =>
  a.replace(/^GPU-/, '').toLowerCase() === b.replace(/^GPU-/, '').toLowerCase()
