/** The Triton provider's side of the engine against a stand-in that speaks the same protocol, faults included. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import type { EngineDetection } from '../../../../src-main/engine/engineProtocol'
import {
  isTritonKernel,
  tritonMeasurement,
  TritonProvider
} from '../../../../src-main/engine/tritonProvider'

const standIn = new TritonProvider(
  resolve('test/unit/main/engine/standInProvider.mjs'),
  process.execPath
)
const impatient = new TritonProvider(
  resolve('test/unit/main/engine/standInProvider.mjs'),
  process.execPath,
  500
)
const temporary = mkdtempSync(join(tmpdir(), 'blockscope-triton-'))
const before = process.env.TMPDIR
beforeEach(() => (process.env.TMPDIR = temporary))
afterEach(() => {
  delete process.env.STAND_IN
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
})
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const gpu = (uuid: string) => ({
  ...{ id: 'cuda:0', kind: 'cuda', name: 'GPU', architecture: 'sm_90' },
  properties: { uuid },
  kernels: []
})
const found = (...devices: EngineDetection['devices']): EngineDetection => ({
  libraries: [],
  devices
})
const same = 'GPU-10101010-1010-1010-1010-101010101010'

const [m, n, k] = [4, 8, 64]
const problem = {
  ...{ device: 'cuda:0', format: 'mxfp4', m, n, k, output: 'f16' as const },
  operands: { distribution: 'normal', seed: 1 }
}
const operands = {
  aCodes: new Uint8Array(m * k),
  bCodes: new Uint8Array(n * k),
  aScales: new Uint8Array((m * k) / 32),
  bScales: new Uint8Array((n * k) / 32)
}
const timing = { cold: true, warmupNs: 5, minSamples: 3, minTimeNs: 0, recordLaunches: true }
const never = new AbortController().signal
const run = (
  change: object = {},
  signal = never,
  onProgress: (f: number, p: string) => void = () => {}
) =>
  standIn.run(
    { kernel: 'triton', problem, operands, timing: { ...timing, ...change } },
    onProgress,
    signal
  )

describe('detection', () => {
  it("adds Triton's kernels to the GPU that PyTorch sees, and to no other", async () => {
    const { devices, libraries } = await standIn.addTo(found(gpu(same), gpu('GPU-other')))
    expect(devices[0]!.kernels.map(({ id }) => id)).toEqual(['triton', 'triton-fast-math'])
    expect(devices[0]!.kernels.every(({ id }) => isTritonKernel(id))).toBe(true)
    expect(devices[1]!.kernels).toEqual([])
    expect(libraries).toMatchObject([
      { name: 'Triton', found: true, version: '3.6.0, torch 2.9.0, Python 3.12.3' }
    ])
    const level = (format: string) =>
      devices[0]!.kernels[0]!.capabilities.find((one) => one.format === format)!.level
    expect([level('mxfp4'), level('mxfp6_e2m3')]).toEqual(['exact', 'unavailable'])
  })

  it('without a GPU nobody is asked', async () => {
    const { libraries } = await new TritonProvider('/nowhere', '/nowhere').addTo(found())
    expect(libraries).toMatchObject([{ found: false, reason: 'There is no CUDA device for it.' }])
  })

  it.each([
    ['dies', /ended without an answer/],
    ['unavailable', /^It is unavailable\.$/],
    ['another form', /gave an answer of another form/]
  ])('a provider that %s is a library that was not found, with the reason', async (how, reason) => {
    process.env.STAND_IN = how
    const { devices, libraries } = await standIn.addTo(found(gpu(same)))
    expect(libraries[0]).toMatchObject({ found: false, reason: expect.stringMatching(reason) })
    expect(libraries[0]!.remedy).toContain('BLOCKSCOPE_PYTHON')
    expect(devices[0]!.kernels).toEqual([])
  })

  it('a provider that hangs is ended, and said', async () => {
    process.env.STAND_IN = 'says nothing'
    const { libraries } = await impatient.addTo(found(gpu(same)))
    expect(libraries[0]).toMatchObject({
      found: false,
      reason: expect.stringMatching(/gave no answer within 0\.5 s and was ended/)
    })
  })

  it('a Python that is not there is named', async () => {
    const { libraries } = await new TritonProvider('x', '/nowhere/python3').addTo(found(gpu(same)))
    expect(libraries[0]!.reason).toBe('/nowhere/python3 cannot be started.')
  })
})

describe('a run', () => {
  it('hands operands over as files, takes C and samples back, and leaves no file', async () => {
    const phases: string[] = []
    const answer = await run({}, never, (_fraction, phase) => phases.push(phase))
    expect(answer.output).toEqual(new Uint8Array(m * n * 2).fill(0x3c))
    expect(phases).not.toEqual([])
    expect(readdirSync(temporary)).toEqual([])
  })

  it('keeps the record of every kernel that one operation launched', async () => {
    const measured = tritonMeasurement(await run(), timing)
    expect(measured.samplesNs).toEqual(Float64Array.of(11_000, 10_000, 10_500))
    expect(measured.launches.map(({ name }) => name)).toEqual(['block_scaled_matmul', 'epilogue'])
    expect(measured.launches[0]).toMatchObject({ grid: [64, 1, 1], registersPerThread: 168 })
    expect(measured.cuptiNs).toBe(10_000)
    expect(measured.cacheMode).toBe('cold: 4 operand sets')
  })

  it("without CUPTI the launch keeps its name, and no time is called CUPTI's", async () => {
    process.env.STAND_IN = 'no CUPTI'
    const measured = tritonMeasurement(await run(), timing)
    expect(measured.launches.map(({ name }) => name)).toEqual(['block_scaled_matmul'])
    expect(measured.cuptiNs).toBe(0)
  })

  it('records nothing where nothing is asked for', async () => {
    const quiet = { ...timing, recordLaunches: false }
    expect(tritonMeasurement(await run(quiet), quiet)).toMatchObject({ launches: [], cuptiNs: 0 })
  })

  it.each([
    ['dies', 'unavailable', /ended without an answer/],
    ['usage', 'usage', /^It is usage\.$/],
    ['unavailable', 'unavailable', /^It is unavailable\.$/],
    ['another form', 'unavailable', /another form: .*best/],
    ['prints garbage', 'unavailable', /ended without an answer/],
    ['writes no C', 'unavailable', /^Triton's provider wrote no C\.$/],
    ['writes half of C', 'unavailable', /wrote 32 bytes of C; 4 x 8 in f16 is 64\.$/]
  ])('of a provider that %s is one sentence, and leaves no file', async (how, kind, sentence) => {
    process.env.STAND_IN = how
    await expect(run()).rejects.toMatchObject({ kind, message: expect.stringMatching(sentence) })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('that is cancelled ends the provider', async () => {
    process.env.STAND_IN = 'hangs'
    const pid = (process.env.STAND_IN_PID = join(temporary, 'pid'))
    const abort = new AbortController()
    const running = run({}, abort.signal)
    running.catch(() => {})
    while (!existsSync(pid) || !readFileSync(pid, 'utf8')) await new Promise(setImmediate)
    abort.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    const alive = () => {
      try {
        return process.kill(Number(readFileSync(pid, 'utf8')), 0)
      } catch {
        return false
      }
    }
    while (alive()) await new Promise((after) => setTimeout(after, 20))
    rmSync(pid)
    expect(readdirSync(temporary)).toEqual([])
  })
})

const python = process.env.BLOCKSCOPE_PYTHON || 'python3'
const hasPython = spawnSync(python, ['-c', ''], { stdio: 'ignore' }).status === 0

describe.skipIf(!hasPython)('worker.py', () => {
  const provider = resolve('resources/providers/triton')

  it("reads launches from a trace of PyTorch's profiler", () => {
    // As Kineto writes them (libkineto, output_json.cpp): times in microseconds.
    const kernel = (name: string, ts: number, dur: number) => ({
      ...{ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts, dur },
      args: {
        ...{ device: 0, context: 1, stream: 7, correlation: 12, grid: [64, 1, 1] },
        ...{ block: [256, 1, 1], 'registers per thread': 168, 'shared memory': 98304 },
        ...{ 'blocks per SM': 0.5, 'warps per SM': 4, 'est. achieved occupancy %': 12 }
      }
    })
    const traceEvents = [
      { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', ts: 1000, dur: 5, args: {} },
      kernel('epilogue', 2011.5, 0.5),
      kernel('block_scaled_matmul', 2000.25, 9.504),
      { ph: 'M', name: 'process_name', args: {} }
    ]
    const script = `import json, sys; sys.path.insert(0, ${JSON.stringify(provider)}); import worker
print(json.dumps(worker.launches_of(json.load(sys.stdin))))`
    const text = execFileSync(python, ['-B', '-c', script], {
      input: JSON.stringify({ traceEvents }),
      encoding: 'utf8'
    })
    const about = {
      ...{ stream: 7, grid: [64, 1, 1], block: [256, 1, 1] },
      ...{ registersPerThread: 168, sharedMemoryBytes: 98304 }
    }
    expect(JSON.parse(text)).toEqual([
      { name: 'block_scaled_matmul', startNs: 0, endNs: 9504, ...about },
      { name: 'epilogue', startNs: 11_250, endNs: 11_750, ...about }
    ])
  })

  it('has the formats it takes as the registry has them', () => {
    const script = `import json, sys; sys.path.insert(0, ${JSON.stringify(provider)}); import worker
print(json.dumps(worker.FORMATS))`
    const formats = JSON.parse(execFileSync(python, ['-B', '-c', script], { encoding: 'utf8' }))
    for (const [id, facts] of Object.entries(formats)) {
      const { a, b, scaleBlockSize } = findBlockFormat(id)
      expect([id, facts]).toEqual([id, [a.name, b.name, scaleBlockSize]])
    }
  })

  it('under the real provider, a Python without torch is named', async () => {
    if (spawnSync(python, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0) return
    const real = new TritonProvider(join(provider, 'provider.py'), python)
    const { libraries } = await real.addTo(found(gpu(same)))
    expect(libraries[0]!.reason).toMatch(/^This Python has no PyTorch/)
  })
})
