/** Drivers and devices in states that no test machine is in, through the real addon and command line. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildStubCompiler, buildStubDriver } from './stubDriver'

interface Listed {
  devices: {
    id: string
    name: string
    architecture: string
    properties: object
    kernels: Kernel[]
  }[]
  libraries: { name: string; found: boolean; reason: string; remedy: string }[]
}
interface Kernel {
  id: string
  capabilities: { format: string; level: string; reason: string }[]
}

let folder: string

function run(words: string[], environment: Record<string, string> = {}, drivers = 'whole') {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['out/node/blockscope.js', ...words],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        LD_LIBRARY_PATH: join(folder, drivers),
        BLOCKSCOPE_STORE: join(folder, 'store'),
        ...environment
      }
    }
  )
  return { stdout, stderr, status }
}
const small = ['-M', '64', '-N', '64', '-K', '64', '--formats', 'mxfp4']
const validate = (environment: Record<string, string>, drivers?: string) =>
  run(['validate', '--device', 'cuda:0', ...small], environment, drivers)
function list(environment: Record<string, string>, drivers?: string): Listed {
  return JSON.parse(run(['devices', '--json'], environment, drivers).stdout) as Listed
}

describe.skipIf(process.platform !== 'linux')('a driver', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-driver-'))
    for (const [name, without] of [['whole'], ['incomplete', 'cuTensorMapEncodeTiled']] as const) {
      mkdirSync(join(folder, name))
      buildStubDriver(join(folder, name), without)
    }
    buildStubCompiler(join(folder, 'whole'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    [
      'that is too old',
      { STUB_VERSION: '11040' },
      /supports CUDA 11\.4 at most; CUDA 12\.\d is needed/
    ],
    ['without a GPU', { STUB_INIT: '100' }, /finds no GPU/],
    [
      'with its GPUs hidden',
      { STUB_INIT: '100', CUDA_VISIBLE_DEVICES: '' },
      /CUDA_VISIBLE_DEVICES is "" and hides every GPU/
    ],
    [
      'that does not fit the kernel module',
      { STUB_INIT: '803' },
      /does not start: error 803, system has/
    ]
  ])('%s: one sentence, exit code 3, and the CPU goes on', (_, environment, sentence) => {
    const driver = list(environment).libraries.find(({ name }) => name === 'CUDA driver')!
    expect(driver.found).toBe(false)
    expect(driver.reason).toMatch(sentence)
    expect(driver.remedy).not.toBe('')
    const { status, stderr } = validate(environment)
    expect(stderr).toMatch(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(status).toBe(3)
    expect(run(['validate', '--device', 'cpu', ...small], environment).status).toBe(0)
  })

  it('without a function that is needed: says which', () => {
    const { libraries } = list({}, 'incomplete')
    expect(libraries[0]!.reason).toMatch(/has no function cuTensorMapEncodeTiled: it is too old/)
    expect(validate({}, 'incomplete').status).toBe(3)
  })

  it('with several GPUs: each with what it can do', () => {
    const { devices } = list({ STUB_GPUS: '80,90,120' })
    const gpus = devices.filter(({ id }) => id.startsWith('cuda:'))
    expect(gpus.map(({ id, architecture }) => `${id} ${architecture}`)).toEqual([
      'cuda:0 sm_80',
      'cuda:1 sm_90',
      'cuda:2 sm_120'
    ])
    const reason = (gpu: number) =>
      gpus[gpu]!.kernels.find(({ id }) => id === 'wgmma')!.capabilities[0]!.reason
    expect(reason(0)).toMatch(/Written for sm_90a; this device is sm_80/)
    expect(reason(2)).toMatch(/Written for sm_90a; this device is sm_120/)
  })

  it('with one GPU of two that does not answer: the other is listed', () => {
    const { devices } = list({ STUB_GPUS: '90,90', STUB_BROKEN: '0' })
    const gpus = devices.filter(({ id }) => id.startsWith('cuda:'))
    expect(gpus).toHaveLength(2)
    expect(JSON.stringify(gpus[0]!.properties)).toMatch(/Reading GPU 0 failed: CUDA error 214/)
    expect(gpus[1]!.name).toBe('Stub GPU sm_90')
  })

  it('whose context breaks: the next step meets a fresh process, not the wreck of the one before', () => {
    const { stdout } = run(
      ['validate', '--device', 'cuda:0', '--kernels', 'simt,mma', '--json', ...small],
      { STUB_CURRENT: '700' }
    )
    const { steps } = JSON.parse(stdout) as { steps: { disposition: string; reason: string }[] }
    const tried = steps.filter(({ disposition }) => disposition === 'error')
    expect(tried).toHaveLength(2)
    // The first meets the process that has listed the devices, and lost this one by that.
    expect(tried[1]!.reason).toMatch(/CUDA error 700/)
  })

  it('whose GPU is taken: the step says so, and the run is kept', () => {
    const { stdout, status } = run(
      ['validate', '--device', 'cuda:0', '--kernels', 'simt', '--json', ...small],
      { STUB_CONTEXT: '46' }
    )
    const { steps } = JSON.parse(stdout) as { steps: { disposition: string; reason: string }[] }
    expect(status).not.toBe(0)
    expect(steps[0]!.reason).toMatch(/CUDA_ERROR_DEVICE_UNAVAILABLE/)
  })
})
