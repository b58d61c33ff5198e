/**
 * Triton's `tl.dot_scaled` as two more kernels of a CUDA device, through a Python that has torch and triton. The protocol is
 * resources/providers/triton/README.md; operands and C travel as files, and the session judges C.
 */
import { spawn } from 'node:child_process'
// eslint-disable-next-line no-restricted-imports -- operands for another process, in a folder that mkdtemp makes its owner's alone
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import {
  capabilityLevelSchema,
  featureIds,
  type Feature,
  type FeatureId,
  type Kernel,
  type Library
} from '@shared/contract/devices'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import { launchSchema, type Launch } from '@shared/contract/run'
import { outputBytes } from '@shared/measurement/work'
import { UserError } from '@shared/errors'
import { describeIssues } from '@shared/schemaWords'
import type { EngineDetection } from './engineProtocol'
import type {
  NativeMeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeOperands
} from './nativeBinding'

const detectSchema = v.object({
  python: v.string(),
  torch: v.string(),
  triton: v.string(),
  uuid: v.string(),
  formats: v.record(
    v.string(),
    v.object({ level: capabilityLevelSchema, reason: v.string(), instruction: v.string() })
  )
})
const runSchema = v.object({
  best: v.object({ tile: v.array(v.number()), warps: v.number(), stages: v.number() }),
  samplesNs: v.array(v.number()),
  operandSets: v.number(),
  launches: v.optional(v.array(launchSchema), []),
  /** 'CUPTI', or 'CUDA events' where it saw nothing. */
  launchSource: v.optional(v.string(), '')
})
type RunResult = v.InferOutput<typeof runSchema>

const answerSchema = v.object({
  id: v.number(),
  result: v.optional(v.unknown()),
  error: v.optional(v.object({ code: v.string(), message: v.string() }))
})

/** Ids of the two kernels; the second leaves out the check for NaN scales. */
const kernelIds = ['triton', 'triton-fast-math'] as const

export const isTritonKernel = (id: string) => (kernelIds as readonly string[]).includes(id)

/** Most of a validation's time where there is a Triton: it is said, and how to do without. */
const activity =
  'Triton compiles and tries its tiles, which takes longest; --providers blockscope leaves it out'

/** Torch alone takes seconds to import, and every tile configuration is compiled: a sign of life is sent meanwhile. */
const signOfLifeMs = 5000

/** provider.py gives a worker 300 s; a Python that says nothing for longer hangs itself. */
const patienceMs = 330_000

export interface TritonRun {
  kernel: string
  problem: NativeOpenRequest
  operands: NativeOperands
  timing: Pick<
    NativeMeasureRequest,
    'cold' | 'warmupNs' | 'minSamples' | 'minTimeNs' | 'recordLaunches'
  >
}

export class TritonProvider {
  constructor(
    private readonly script: string,
    private readonly python = process.env.BLOCKSCOPE_PYTHON || 'python3',
    private readonly patience = patienceMs
  ) {}

  /** What was found with Triton's kernels added to the device it runs on, and Triton among the libraries. */
  async addTo(found: EngineDetection): Promise<EngineDetection> {
    if (!found.devices.some((device) => device.kind === 'cuda')) {
      return withLibrary(found, missing('There is no CUDA device for it.', ''))
    }
    let triton: v.InferOutput<typeof detectSchema>
    try {
      triton = parseAnswer(detectSchema, await this.ask('detect', {}))
    } catch (error) {
      const reason = error instanceof UserError ? error.message : `${this.python} gave no answer.`
      const remedy = 'Install torch and triton for it, or name another Python in BLOCKSCOPE_PYTHON.'
      return withLibrary(found, missing(reason, remedy))
    }
    const kernels = kernelIds.map((id) => kernelInfo(id, triton))
    const devices = found.devices.map((device) => {
      const same = sameUuid(String(device.properties['uuid'] ?? ''), triton.uuid)
      return same ? { ...device, kernels: [...device.kernels, ...kernels] } : device
    })
    const version = `${triton.triton}, torch ${triton.torch}, Python ${triton.python}`
    const library = {
      name: 'Triton',
      found: true,
      version,
      path: this.python,
      reason: '',
      remedy: ''
    }
    return withLibrary({ ...found, devices }, library)
  }

  /** Runs the best of Triton's tile configurations; C in the problem's output type and the samples. */
  async run(
    { kernel, problem, operands, timing }: TritonRun,
    onProgress: (fraction: number, phase: string) => void,
    signal: AbortSignal
  ): Promise<RunResult & { output: Uint8Array }> {
    const folder = await mkdtemp(join(tmpdir(), 'blockscope-operands-'))
    onProgress(0, activity)
    const alive = setInterval(() => onProgress(0.5, activity), signOfLifeMs)
    try {
      for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'] as const) {
        await writeFile(join(folder, `${name}.bin`), operands[name])
      }
      const result = join(folder, 'c.bin')
      const { format, m, n, k, output } = problem
      const fastMath = kernel === 'triton-fast-math'
      const params = { format, m, n, k, output, fastMath, ...timing, operands: folder, result }
      const answer = parseAnswer(runSchema, await this.ask('run', params, signal))
      return { ...answer, output: await readProduct(result, problem) }
    } finally {
      clearInterval(alive)
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** One question to a provider process of its own; killed when the signal aborts. */
  private ask(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    const child = spawn(this.python, [this.script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    })
    return new Promise<unknown>((resolve, reject) => {
      const stop = () => {
        child.kill('SIGKILL')
        reject(Object.assign(new Error('Cancelled.'), { code: 'cancelled' }))
      }
      const patience = setTimeout(() => {
        child.kill('SIGKILL')
        const seconds = this.patience / 1000
        reject(
          new UserError(
            'unavailable',
            `Triton's provider under ${this.python} gave no answer within ${seconds} s and was ended.`
          )
        )
      }, this.patience)
      signal?.addEventListener('abort', stop, { once: true })
      child.on('error', () => {
        clearTimeout(patience)
        reject(new UserError('unavailable', `${this.python} cannot be started.`))
      })
      child.on('exit', () => {
        clearTimeout(patience)
        signal?.removeEventListener('abort', stop)
        reject(
          new UserError(
            'unavailable',
            `Triton's provider under ${this.python} ended without an answer.`
          )
        )
      })
      child.stdin.on('error', () => {})
      createInterface({ input: child.stdout }).on('line', (line) => {
        const answer = v.safeParse(answerSchema, parseLine(line))
        if (!answer.success) return
        const { result, error } = answer.output
        if (error)
          reject(new UserError(error.code === 'usage' ? 'usage' : 'unavailable', error.message))
        // Neither: an event line, one for each tile configuration tried.
        else if (result !== undefined) resolve(result)
      })
      child.stdin.write(
        `${JSON.stringify({ id: 1, method, params })}\n{"id": 2, "method": "end"}\n`
      )
    })
  }
}

/** C as the provider wrote it. Throws a UserError where it is missing or of another size. */
async function readProduct(path: string, { m, n, output }: NativeOpenRequest): Promise<Uint8Array> {
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined) throw new UserError('unavailable', "Triton's provider wrote no C.")
  const expected = m * n * outputBytes[output]!
  if (bytes.length === expected) return new Uint8Array(bytes)
  throw new UserError(
    'unavailable',
    `Triton's provider wrote ${bytes.length} bytes of C; ${m} x ${n} in ${output} is ${expected}.`
  )
}

/** Throws a UserError for an answer of another form: another version of the provider, or no provider at all. */
function parseAnswer<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, answer)
  if (parsed.success) return parsed.output
  const why = describeIssues(parsed.issues)
  throw new UserError('unavailable', `Triton's provider gave an answer of another form: ${why}`)
}

/** A library that prints to stdout, and events, are no answers. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const sameUuid = (a: string, b: string) =>
  a.replace(/^GPU-/, '').toLowerCase() === b.replace(/^GPU-/, '').toLowerCase()

const missing = (reason: string, remedy: string): Library => ({
  name: 'Triton',
  found: false,
  version: '',
  path: '',
  reason,
  remedy
})

function withLibrary(found: EngineDetection, library: Library): EngineDetection {
  return { ...found, libraries: [...found.libraries, library] }
}

/** What the provider's program launches is one product of B as (N, K). */
const notTaken: Record<FeatureId, string> = {
  'b-kn': "Triton's program here reads B along K.",
  accumulator: "Triton's program here computes A x B alone.",
  'f8-output': "Triton's program here writes f16, bf16 or f32.",
  batch: "Triton's program here computes one matrix."
}

export const tritonFeatures = featureIds.map((id): Feature => ({
  id,
  level: 'none',
  reason: notTaken[id]
}))

function kernelInfo(id: string, triton: v.InferOutput<typeof detectSchema>): Kernel {
  const unknown = {
    level: 'unavailable' as const,
    reason: 'tl.dot_scaled does not take this format.',
    instruction: ''
  }
  return {
    id,
    provider: 'Triton',
    summary: `tl.dot_scaled, best of several tiles${id === 'triton' ? '' : ', without the check for NaN scales'}`,
    scaleLayout: 'linear',
    baseline: false,
    operandBits: 0,
    outputs: ['f16', 'bf16', 'f32'],
    features: tritonFeatures,
    sourceHash: `triton ${triton.triton}`,
    compileOptions: id === 'triton' ? '' : 'fast_math',
    capabilities: everyBlockFormat.map((format) => ({
      format: format.id,
      ...(triton.formats[format.id] ?? unknown)
    }))
  }
}

const totalOf = (launches: readonly Launch[]) =>
  launches.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0)

/** A measurement from what the provider sampled. */
export function tritonMeasurement(run: RunResult, timing: TritonRun['timing']): NativeMeasurement {
  return {
    samplesNs: Float64Array.from(run.samplesNs),
    samplesMHz: new Float64Array(),
    discarded: 0,
    launchesPerSample: 1,
    operandSets: run.operandSets,
    cacheMode: timing.cold ? `cold: ${run.operandSets} operand sets` : 'hot',
    timingSource: 'CUDA events',
    stopReason: `best tile ${run.best.tile.join('x')}, ${run.best.warps} warps, ${run.best.stages} stages`,
    warmupNs: timing.warmupNs,
    compileSeconds: 0,
    meanWatts: 0,
    meanTemperatureC: 0,
    badges: [],
    launches: run.launches,
    cuptiNs: run.launchSource === 'CUPTI' ? totalOf(run.launches) : 0,
    sustainedNs: 0,
    sustainedCount: 0,
    sustainedWatts: 0,
    joulesPerLaunch: 0
  }
}
