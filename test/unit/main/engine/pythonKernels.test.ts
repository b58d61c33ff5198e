/** The engine's side of Python kernels against a stand-in that answers as host.py does, faults included. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EngineDetection } from '../../../../src-main/engine/engineProtocol'
import { PythonHost } from '../../../../src-main/engine/pythonHost'
import { withFile, withTriton } from '../../../../src-main/engine/pythonKernels'
import { pythonKernelOf } from '../../../../src-main/engine/pythonKernel'
import { OperandFiles } from '../../../../src-main/engine/pythonOperands'
import {
  onceThrough,
  pythonMeasurement,
  runPython,
  timePython
} from '../../../../src-main/engine/pythonRun'
import { loadTestAddon } from '../../../support/addon'
import { samplePlans } from '../../../support/samplePlans'
import { smallOperands, smallProblem } from '../../../support/smallProduct'

const standIn = new PythonHost(
  resolve('test/unit/main/engine/standInProvider.mjs'),
  process.execPath
)
/** Any file: the stand-in does not load it. */
const file = resolve('test/unit/main/engine/standInProvider.mjs')
const temporary = mkdtempSync(join(tmpdir(), 'blockscope-python-'))
const before = process.env.TMPDIR
beforeEach(() => (process.env.TMPDIR = temporary))
afterEach(() => {
  delete process.env.STAND_IN
  delete process.env.BLOCKSCOPE_PROVIDER_SECONDS
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

describe('Triton', () => {
  it('is added to the GPU that PyTorch sees, and to no other, without what cannot run there', async () => {
    const { devices, libraries } = await withTriton(
      found(gpu(same), gpu('GPU-other')),
      standIn,
      file
    )
    expect(devices[0]!.kernels.map(({ id }) => id)).toEqual(['triton', 'triton-fast-math'])
    expect(devices[0]!.kernels.every(({ provider }) => provider === 'Triton')).toBe(true)
    expect(devices[1]!.kernels).toEqual([])
    expect(libraries).toMatchObject([
      { name: 'Triton', found: true, version: '3.6.0, torch 2.9.0, Python 3.12.3' }
    ])
    const level = (format: string) =>
      devices[0]!.kernels[0]!.capabilities.find((one) => one.format === format)!.level
    expect([level('mxfp4'), level('mxfp6_e2m3')]).toEqual(['exact', 'unavailable'])
  })

  it('is added to an AMD GPU where PyTorch for ROCm sees that one', async () => {
    const amd = { ...gpu(same), id: 'hip:0', kind: 'hip', architecture: 'gfx950' }
    const { devices } = await withTriton(found(gpu('GPU-other'), amd), standIn, file)
    expect(devices.map(({ kernels }) => kernels.length)).toEqual([0, 2])
  })

  it('is not asked for without a GPU', async () => {
    const nobody = new PythonHost('/nowhere', '/nowhere')
    const { libraries } = await withTriton(found(), nobody, file)
    expect(libraries).toMatchObject([{ found: false, reason: 'There is no GPU for it.' }])
  })

  it.each([
    ['dies', /ended with code 3 in detect\(\)\. Its last words: LLVM ERROR: no such instruction$/],
    ['unavailable', /^It is unavailable\.$/],
    ['refuses all', /^It needs torch\.$/],
    ['another form', /gave an answer of another form/]
  ])('that %s is a library that was not found, with the reason', async (how, reason) => {
    process.env.STAND_IN = how
    const { devices, libraries } = await withTriton(found(gpu(same)), standIn, file)
    expect(libraries[0]).toMatchObject({ found: false, reason: expect.stringMatching(reason) })
    expect(libraries[0]!.remedy).toContain('BLOCKSCOPE_PYTHON')
    expect(devices[0]!.kernels).toEqual([])
  })

  it('without a Python names it', async () => {
    const nobody = new PythonHost('x', '/nowhere/python3')
    const { libraries } = await withTriton(found(gpu(same)), nobody, file)
    expect(libraries[0]!.reason).toBe('/nowhere/python3 cannot be started.')
  })
})

describe('a file that a person named', () => {
  it('has its kernels under the provider user, those that cannot run here with the reason', async () => {
    const { devices, libraries } = await withFile(found(gpu(same)), standIn, file)
    expect(devices[0]!.kernels.map(({ id, provider }) => [id, provider])).toEqual([
      ['triton', 'user'],
      ['triton-fast-math', 'user'],
      ['triton-tma', 'user']
    ])
    expect(devices[0]!.kernels[2]!.capabilities[0]).toMatchObject({
      level: 'unavailable',
      reason: 'It needs torch.'
    })
    expect(devices[0]!.kernels[0]!.python).toEqual({ file, codes: 'packed' })
    expect(libraries[0]).toMatchObject({ name: 'standInProvider.mjs', path: file })
  })

  it.each([
    ['refuses all', found(gpu(same)), 'unavailable', /^standInProvider.mjs: It needs torch\.$/],
    ['', found(gpu('GPU-other')), 'unavailable', /which is none of the devices here\.$/],
    ['dies', found(gpu(same)), 'failed', /ended with code 3/],
    ['usage', found(gpu(same)), 'usage', /^It is usage\.$/]
  ] as const)('that %s is one sentence', async (how, here, kind, sentence) => {
    process.env.STAND_IN = how
    await expect(withFile(here, standIn, file)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(sentence)
    })
  })

  it('may not take the id of another kernel', async () => {
    const once = await withFile(found(gpu(same)), standIn, file)
    await expect(withFile(once, standIn, file)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(/"triton" is the id of another kernel of cuda:0/)
    })
  })

  it('that hangs is ended, and said', async () => {
    process.env.STAND_IN = 'hangs'
    process.env.BLOCKSCOPE_PROVIDER_SECONDS = '0.5'
    await expect(withFile(found(gpu(same)), standIn, file)).rejects.toThrow(
      /\(\) gave no sign of life for 0\.5 s and was ended \(BLOCKSCOPE_PROVIDER_SECONDS\)\.$/
    )
  })
})

const problem = smallProblem('cuda:0')
const { m, n } = problem
const rules = { ...onceThrough, cold: true, fixedSamples: 3, recordLaunches: true }
const never = new AbortController().signal
/** What the stand-in's first kernel is asked with; STAND_IN is for the run, not for finding the kernel. */
async function kernelAndRules(change: object = {}) {
  const asked = process.env.STAND_IN
  delete process.env.STAND_IN
  const { devices } = await withFile(found(gpu(same)), standIn, file)
  if (asked !== undefined) process.env.STAND_IN = asked
  const kernel = pythonKernelOf(devices[0]!.kernels[0]!, devices[0]!)!
  return { kernel, rules: { ...rules, ...change } }
}
const filesOf = (read = async () => smallOperands) =>
  new OperandFiles(problem, read, loadTestAddon().packElements)

async function run(
  change: object = {},
  signal = never,
  onProgress: (f: number, p: string) => void = () => {}
) {
  const operands = filesOf()
  try {
    const asks = { ...(await kernelAndRules(change)), operands }
    return await runPython(standIn, asks, [], onProgress, signal)
  } finally {
    await operands.remove()
  }
}

describe('a run', () => {
  it('hands operands over as files, takes C and samples back, and leaves no file', async () => {
    const phases: string[] = []
    const answer = await run({}, never, (_fraction, phase) => phases.push(phase))
    expect(answer.output).toEqual(new Uint8Array(m * n * 2).fill(0x3c))
    expect(phases).not.toEqual([])
    expect(readdirSync(temporary)).toEqual([])
  })

  it('reads the operands once for all runs of a session; one that is timed alone writes no C', async () => {
    let reads = 0
    const operands = filesOf(async () => (reads++, smallOperands))
    const asks = { ...(await kernelAndRules()), operands }
    await runPython(standIn, asks, [], () => {}, never)
    const [folder] = readdirSync(temporary)
    const files = readdirSync(join(temporary, folder!))
    await timePython(standIn, asks, () => {}, never)
    expect(readdirSync(temporary)).toEqual([folder])
    expect(readdirSync(join(temporary, folder!))).toEqual(files)
    expect(reads).toBe(1)
    await operands.remove()
    expect(readdirSync(temporary)).toEqual([])
  })

  it('removes what an engine left that was ended a day ago', async () => {
    const gone = [1, 0].map((days) => {
      const path = join(temporary, `blockscope-operands-99999999-${days}`)
      mkdirSync(path)
      const then = new Date(Date.now() - days * 25 * 60 * 60 * 1000)
      utimesSync(path, then, then)
      return path
    })
    await run()
    expect(gone.map((path) => existsSync(path))).toEqual([false, true])
    rmSync(gone[1]!, { recursive: true })
  })

  it('keeps the record of every kernel that one operation launched', async () => {
    const measured = pythonMeasurement(await run(), rules)
    expect(measured.samplesNs).toEqual(Float64Array.of(11_000, 10_000, 10_500))
    expect(measured.launches.map(({ name }) => name)).toEqual(['block_scaled_matmul', 'epilogue'])
    expect(measured.launches[0]).toMatchObject({ grid: [64, 1, 1], registersPerThread: 168 })
    expect(measured.launchSource).toBe('CUPTI')
    expect(measured.cacheMode).toBe('cold: 4 operand sets')
    const answer = await run()
    for (const { sets: operandSets, flushes: flushed, text } of samplePlans().cold)
      expect(pythonMeasurement({ ...answer, operandSets, flushed }, rules).cacheMode).toBe(text)
    expect(measured.stopReason).toBe('fixed; best of 2: warps 8')
    expect(measured.launchesPerSample).toBe(12)
  })

  it('of a product whose configurations were tried takes the one that was best', async () => {
    const other = { configuration: { warps: 4 }, words: 'best of 9: warps 4' }
    await run()
    for (const product of standIn.chosen.keys()) standIn.chosen.set(product, other)
    expect(await run()).toMatchObject({ chosen: other })
    standIn.chosen.clear()
  })

  it('that scatters is noisy, and one of a fixed number of samples is not called so', async () => {
    const answer = {
      ...(await run()),
      samplesNs: [10_000, 20_000, 10_000],
      stopReason: 'timed out'
    }
    const badges = (fixedSamples: number) =>
      pythonMeasurement(answer, { ...rules, fixedSamples }).badges
    expect([badges(0), badges(3)]).toEqual([
      ['grouped', 'noisy', 'timed out'],
      ['grouped', 'timed out']
    ])
    const single = pythonMeasurement({ ...answer, launchesPerSample: 1 }, rules)
    expect([single.launchesPerSample, single.badges]).toEqual([1, ['timed out']])
  })

  it("without CUPTI no launch is recorded, and no time is called CUPTI's", async () => {
    process.env.STAND_IN = 'no CUPTI'
    expect(pythonMeasurement(await run(), rules)).toMatchObject({
      launches: [],
      launchSource: expect.not.stringContaining('CUPTI')
    })
  })

  it.each([
    ['dies', 'failed', /ended with code 3 in prepare\(\)/],
    ['usage', 'usage', /^It is usage\.$/],
    ['unavailable', 'unavailable', /^It is unavailable\.$/],
    ['another form', 'failed', /another form: .*samplesNs/],
    ['prints garbage', 'failed', /ended with code 0/],
    ['writes no C', 'failed', /^standInProvider\.mjs: Python wrote no C\.$/],
    ['writes half of C', 'failed', /wrote 32 bytes of C; 4 x 8 in f16 is 64\.$/]
  ])('of a kernel that %s is one sentence, and leaves no file', async (how, kind, sentence) => {
    process.env.STAND_IN = how
    await expect(run()).rejects.toMatchObject({ kind, message: expect.stringMatching(sentence) })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('that is cancelled ends Python', async () => {
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
    delete process.env.STAND_IN_PID
    expect(readdirSync(temporary)).toEqual([])
  })
})
