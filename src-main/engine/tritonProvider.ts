/**
 * Triton's `tl.dot_scaled` as two more kernels of a CUDA device, through a Python that has torch and triton. The protocol is
 * resources/providers/triton/README.md; operands and C travel as files, and the session judges C.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import { blockFormats } from '@shared/formats/blockFormat'
import { UserError } from '@shared/errors'
import type {
  NativeDetection,
  NativeKernel,
  NativeLibrary,
  NativeMeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeOperands
} from './nativeBinding'

const levelSchema = v.picklist(['native', 'exact', 'approximate', 'unavailable'])
const detectSchema = v.object({
  python: v.string(),
  torch: v.string(),
  triton: v.string(),
  uuid: v.string(),
  formats: v.record(v.string(), v.object({ level: levelSchema, reason: v.string() }))
})
const runSchema = v.object({
  best: v.object({ tile: v.array(v.number()), warps: v.number(), stages: v.number() }),
  samplesNs: v.array(v.number()),
  operandSets: v.number()
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

/** Torch alone takes seconds to import, and every tile configuration is compiled: a sign of life is sent meanwhile. */
const signOfLifeMs = 5000

export interface TritonRun {
  kernel: string
  problem: NativeOpenRequest
  operands: NativeOperands
  timing: Pick<NativeMeasureRequest, 'cold' | 'warmupNs' | 'minSamples' | 'minTimeNs'>
}

export class TritonProvider {
  constructor(
    private readonly script: string,
    private readonly python = process.env.BLOCKSCOPE_PYTHON ?? 'python3'
  ) {}

  /** What was found with Triton's kernels added to the device it runs on, and Triton among the libraries. */
  async addTo(found: NativeDetection): Promise<NativeDetection> {
    if (!found.devices.some((device) => device.kind === 'cuda')) {
      return withLibrary(found, missing('There is no CUDA device for it.', ''))
    }
    let triton: v.InferOutput<typeof detectSchema>
    try {
      triton = v.parse(detectSchema, await this.ask('detect', {}))
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
    const alive = setInterval(() => onProgress(0.5, 'Triton tile configurations'), signOfLifeMs)
    try {
      for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'] as const) {
        await writeFile(join(folder, `${name}.bin`), operands[name])
      }
      const result = join(folder, 'c.bin')
      const { format, m, n, k, output } = problem
      const fastMath = kernel === 'triton-fast-math'
      const params = { format, m, n, k, output, fastMath, ...timing, operands: folder, result }
      const answer = v.parse(runSchema, await this.ask('run', params, signal))
      return { ...answer, output: new Uint8Array(await readFile(result)) }
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
      signal?.addEventListener('abort', stop, { once: true })
      child.on('error', () =>
        reject(new UserError('unavailable', `${this.python} cannot be started.`))
      )
      child.on('exit', () => {
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

const missing = (reason: string, remedy: string): NativeLibrary => ({
  name: 'Triton',
  found: false,
  version: '',
  path: '',
  reason,
  remedy
})

function withLibrary(found: NativeDetection, library: NativeLibrary): NativeDetection {
  return { ...found, libraries: [...found.libraries, library] }
}

function kernelInfo(id: string, triton: v.InferOutput<typeof detectSchema>): NativeKernel {
  const unknown = {
    level: 'unavailable' as const,
    reason: 'tl.dot_scaled does not take this format.'
  }
  return {
    id,
    provider: 'Triton',
    summary: `tl.dot_scaled, best of several tiles${id === 'triton' ? '' : ', without the check for NaN scales'}`,
    scaleLayout: 'linear',
    baseline: false,
    sourceHash: `triton ${triton.triton}`,
    compileOptions: id === 'triton' ? '' : 'fast_math',
    capabilities: blockFormats.map((format) => ({
      format: format.id,
      ...(triton.formats[format.id] ?? unknown)
    }))
  }
}

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
    // The provider times whole operations; it has no records of single launches.
    launches: [],
    cuptiNs: 0,
    sustainedNs: 0,
    sustainedCount: 0,
    sustainedWatts: 0,
    joulesPerLaunch: 0
  }
}
