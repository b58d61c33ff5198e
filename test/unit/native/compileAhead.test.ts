/** What a job needs on a GPU is compiled side by side before its first step: on a stand-in of hipRTC that takes its time. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { forkedEngineHost } from '../../../src-main/engine/engineHost'
import { createApplication } from '../../../src-main/jobs/handlers'
import { connectInProcess } from '../../../src-main/transports/inProcess'
import { runInProcess } from '../../support/runInProcess'
import { buildStubHiprtc, buildStubRuntime } from './stubHip'

let folder: string
let runs = 0

const kernels = ['mfma-scale-16', 'mfma-scale-32', 'mfma-scale-linear']
const product = ['--device', 'hip:0', '-M', '32', '-N', '32', '-K', '256', '--out', 'f32']
const drivers = () => ({ LD_LIBRARY_PATH: folder, ROCM_PATH: folder })

/** `began`: what each compile was made with; `together`: how many were at work at most. */
function compiles(log: string) {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  const began = lines.filter((line) => line.startsWith('begin'))
  return {
    began: began.map((line) => line.split(' ').slice(2).join(' ')),
    together: Math.max(0, ...began.map((line) => Number(line.split(' ')[1])))
  }
}

async function run(words: string[], environment: Record<string, string> = {}, cache = 'cache') {
  const log = join(folder, `log-${runs++}`)
  const finished = await runInProcess([...words, ...product], {
    ...drivers(),
    BLOCKSCOPE_STORE: join(folder, 'store'),
    XDG_CACHE_HOME: join(folder, cache),
    STUB_COMPILE_LOG: log,
    ...environment
  })
  return { ...finished, ...compiles(log) }
}

describe.skipIf(process.platform !== 'linux')('kernels of a job', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-ahead-'))
    buildStubRuntime(folder)
    buildStubHiprtc(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('are compiled side by side, each once, and found by every step and the next job', async () => {
    const words = ['validate', '--kernels', kernels.join(), '--formats', 'mxfp4,mxfp8']
    const first = await run([...words, '--timings'], { STUB_COMPILE_MS: '300' })
    // Two rows of device code, whose options are alike, beside three kernels in two formats.
    expect(first.began).toHaveLength(8)
    expect(new Set(first.began).size).toBe(7)
    expect(first.together).toBe(Math.min(8, availableParallelism()))
    expect(first.stderr).toMatch(/^ +\d\.\d+ s +1 x +compile: compiling$/m)
    const sweep = ['sweep', ...words.slice(1), '--reps', '3', '--warmup', '1', '--mode', 'hot']
    expect((await run(sweep)).began).toEqual([])
  })

  it('that do not compile are told by their step, and the others go on', async () => {
    const { stdout, code, began } = await run(
      ['validate', '--kernels', 'mfma-scale-linear', '--formats', 'mxfp4,mxfp8', '--json'],
      { STUB_REFUSED: '-DA_FORMAT=0' },
      'other'
    )
    const { steps, events } = JSON.parse(stdout) as Run
    expect(steps.map(({ format, disposition }) => [format, disposition])).toEqual([
      ['mxfp4', 'error'],
      ['mxfp8', 'passed']
    ])
    expect(steps[0]!.reason).toMatch(
      /^Kernel mfma-scale-linear does not compile for gfx950:\nrefused/
    )
    expect(events).toEqual([])
    expect(code).toBe(1)
    expect(began.filter((options) => options.includes('-DA_FORMAT=0'))).toHaveLength(1)
  })

  it('say what their compile took once, in the first measurement', async () => {
    const words = ['sweep', '--kernels', 'mfma-scale-linear', '--formats', 'mxfp8', '--json']
    const few = ['--reps', '3', '--warmup', '1', '--mode', 'hot', '--rounds', '2']
    const seconds = async () => {
      const { stdout } = await run([...words, ...few], { STUB_COMPILE_MS: '100' }, 'timed')
      return (JSON.parse(stdout) as Run).steps[0]!.measurement!.compileSeconds
    }
    expect(await seconds()).toBeGreaterThanOrEqual(0.1)
    expect(await seconds()).toBe(0)
  })

  it('that a gate compares are compiled side by side, before its first pair', async () => {
    const { began, together } = await run(
      ['gate', 'mfma-scale-16', 'mfma-scale-32', '--formats', 'mxfp4,mxfp8', '--pairs', '12'],
      { STUB_COMPILE_MS: '300' },
      'gate'
    )
    expect(began).toHaveLength(6)
    expect(together).toBe(Math.min(6, availableParallelism()))
  })

  it('are left when the job is cancelled', async () => {
    const log = join(folder, 'log-cancelled')
    const before = { ...process.env }
    Object.assign(process.env, drivers(), { STUB_COMPILE_MS: '500', STUB_COMPILE_LOG: log })
    const application = createApplication({
      engineHost: forkedEngineHost(resolve('out/node/engine.js')),
      storeFolder: join(folder, 'runs'),
      kernelFolders: [resolve('resources/kernels/hip')],
      cacheFolder: join(folder, 'cancelled'),
      appVersion: '0.0.0',
      host: 'test',
      mayReadFiles: false
    })
    try {
      const client = connectInProcess(application.handlers)
      const formats = ['mxfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'mxfp8', 'mxfp8_e5m2']
      const { id } = await client.call('jobs.start', {
        ...{ kind: 'validate', device: 'hip:0', formats, kernels },
        ...{ m: 32, n: 32, k: 256, output: 'f32' }
      })
      const said: string[] = []
      const ended = await client.call(
        'jobs.watch',
        { id },
        {
          onProgress(event) {
            if (event.type !== 'progress') return
            said.push(event.activity)
            if (said.length === 1) void client.call('jobs.cancel', { id })
          }
        }
      )
      expect(said[0]).toMatch(/^compiling \d+ of 17$/)
      expect(ended).toMatchObject({ status: 'cancelled' })
      const stored = await client.call('runs.get', { id })
      expect(new Set(stored.steps.map(({ disposition }) => disposition))).toEqual(
        new Set(['cancelled'])
      )
      expect(compiles(log).began.length).toBeLessThanOrEqual(Math.min(16, availableParallelism()))
    } finally {
      await application.close()
      for (const name of ['STUB_COMPILE_MS', 'STUB_COMPILE_LOG', ...Object.keys(drivers())])
        delete process.env[name]
      Object.assign(process.env, before)
    }
  })
})
