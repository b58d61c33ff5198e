import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Engine, type EngineTimings } from '../../../../src-main/engine/engine'
import { forkedEngineHost } from '../../../../src-main/engine/engineHost'
import type { NativeOpenRequest } from '../../../../src-main/engine/nativeBinding'

let engine: Engine
afterEach(() => engine.close())

function makeEngine(timings?: EngineTimings): Engine {
  const host = forkedEngineHost(resolve('out/node/engine.js'))
  engine = new Engine(host, { kernelSources: [], cacheDirectory: '' }, timings)
  return engine
}

const large: NativeOpenRequest = {
  device: 'cpu',
  format: 'mxfp8',
  m: 1024,
  n: 1024,
  k: 1024,
  output: 'f16',
  operands: { distribution: 'normal', seed: 1 }
}
const sampling = {
  kernel: 'cpu-portable',
  cold: false,
  warmupLaunches: 0,
  warmupNs: 1e12,
  minSamples: 1,
  minTimeNs: 1,
  maxRelativeStdev: 1,
  maxSamples: 1,
  timeoutNs: 1e12,
  fixedSamples: 0,
  sustainedNs: 0,
  recordLaunches: false
}

/** A measurement that goes on until something ends it; resolves when it has begun. */
async function longMeasurement(signal?: AbortSignal) {
  const session = await engine.call('open', large)
  let begun!: () => void
  const running = new Promise<void>((resolve) => (begun = resolve))
  const measured = engine.call(
    'measure',
    { session, request: sampling },
    { signal, onProgress: () => begun() }
  )
  measured.catch(() => {})
  await running
  // Not the promise itself: an async function would wait for it.
  return { measured }
}

describe('the engine process', () => {
  it('answers, with typed arrays as typed arrays', async () => {
    const found = await makeEngine().call('detect', null)
    expect(found.devices[0]!.id).toBe('cpu')
    const session = await engine.call('open', { ...large, m: 32, n: 32, k: 32 })
    const operands = await engine.call('operands', { session })
    expect(operands.aCodes).toBeInstanceOf(Uint8Array)
    await engine.call('close', { session })
    await expect(engine.call('operands', { session })).rejects.toThrow(/is not open/)
  })

  it('errors of the addon keep their code', async () => {
    const opening = makeEngine().call('open', { ...large, k: 100 })
    await expect(opening).rejects.toMatchObject({ code: 'usage', message: /not a multiple/ })
  })

  it('killed in mid-call: the call says how, and the next one starts a new process', async () => {
    makeEngine()
    const { measured } = await longMeasurement()
    const before = engine.pid!
    process.kill(before, 'SIGKILL')
    await expect(measured).rejects.toMatchObject({
      code: 'engine-ended',
      message: expect.stringMatching(/was ended by SIGKILL/)
    })
    await engine.call('detect', null)
    expect(engine.pid).not.toBe(before)
  })

  it('killed: the operands that it wrote for Python kernels are removed, those of another process stay', async () => {
    makeEngine()
    await engine.call('detect', null)
    const ofProcess = (pid: number) => {
      const folder = mkdtempSync(join(tmpdir(), `blockscope-operands-${pid}-`))
      writeFileSync(join(folder, 'a-codes'), 'codes')
      return folder
    }
    const [its, another] = [ofProcess(engine.pid!), ofProcess(process.pid)]
    process.kill(engine.pid!, 'SIGKILL')
    await expect.poll(() => existsSync(its)).toBe(false)
    expect(existsSync(another)).toBe(true)
    rmSync(another, { recursive: true })
  })

  it('a process that stands still is ended after the ping time', async () => {
    makeEngine({ silenceMs: 60_000, pingMs: 600, cancelMs: 5000 })
    const { measured } = await longMeasurement()
    const standing = engine.pid!
    process.kill(standing, 'SIGSTOP')
    await expect(measured).rejects.toThrow(/did not answer for 0.6 s and was ended/)
    await engine.call('detect', null)
    expect(engine.pid).not.toBe(standing)
  })

  it('is not silent while this process itself is busy and hears nothing', async () => {
    makeEngine({ silenceMs: 4000, pingMs: 600, cancelMs: 5000 })
    const { measured } = await longMeasurement()
    const before = engine.pid
    // As by a large profile that is laid out.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6000)
    await engine.call('detect', null)
    expect(engine.pid).toBe(before)
    engine.close()
    await expect(measured).rejects.toThrow('The engine was closed.')
  })

  it('cancel stops the work and keeps the process', async () => {
    makeEngine()
    const abort = new AbortController()
    const { measured } = await longMeasurement(abort.signal)
    const before = engine.pid
    abort.abort()
    await expect(measured).rejects.toMatchObject({ code: 'cancelled' })
    await engine.call('detect', null)
    expect(engine.pid).toBe(before)
  })

  it('work that a cancel does not stop is ended with its process', async () => {
    makeEngine({ silenceMs: 60_000, pingMs: 60_000, cancelMs: 300 })
    const abort = new AbortController()
    const { measured } = await longMeasurement(abort.signal)
    process.kill(engine.pid!, 'SIGSTOP')
    abort.abort()
    await expect(measured).rejects.toThrow(/did not stop within 0.3 s of a cancel/)
  })

  it('more memory than there is: a sentence, and the process lives or is replaced', async () => {
    makeEngine()
    const opening = engine.call('open', { ...large, m: 1_048_576, k: 1_048_576 })
    await expect(opening).rejects.toThrow(/memory|engine/)
    expect((await engine.call('detect', null)).devices).not.toHaveLength(0)
  })

  it('an addon that is not there: what was tried and what to do', async () => {
    process.env.BLOCKSCOPE_ADDON = '/nowhere/blockscope.node'
    try {
      const host = forkedEngineHost(resolve('out/node/engine.js'))
      engine = new Engine(host, { kernelSources: [], cacheDirectory: '' })
      // The one of this checkout is found next.
      expect((await engine.call('detect', null)).devices).not.toHaveLength(0)
    } finally {
      delete process.env.BLOCKSCOPE_ADDON
    }
  })
})
