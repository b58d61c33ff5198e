/** Drivers and devices in states that no test machine is in, through the real addon and command line. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../../support/runInProcess'
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

/** The engine is a process of its own, which loads what the environment names. */
async function run(words: string[], environment: Record<string, string> = {}, drivers = 'whole') {
  const { stdout, stderr, code } = await runInProcess(words, {
    LD_LIBRARY_PATH: join(folder, drivers),
    BLOCKSCOPE_STORE: join(folder, 'store'),
    ...environment
  })
  return { stdout, stderr, status: code }
}
const small = ['-M', '64', '-N', '64', '-K', '64', '--formats', 'mxfp4']
const validate = (environment: Record<string, string>, drivers?: string) =>
  run(['validate', '--device', 'cuda:0', ...small], environment, drivers)
async function list(environment: Record<string, string>, drivers?: string): Promise<Listed> {
  return JSON.parse((await run(['devices', '--json'], environment, drivers)).stdout) as Listed
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
      'told to use a GPU that is not there',
      { STUB_INIT: '100', CUDA_VISIBLE_DEVICES: '7' },
      /CUDA_VISIBLE_DEVICES is "7" and hides every GPU/
    ],
    [
      'that does not fit the kernel module',
      { STUB_INIT: '803' },
      /does not start: error 803, system has/
    ]
  ])('%s: one sentence, exit code 3, and the CPU goes on', async (_, environment, sentence) => {
    const driver = (await list(environment)).libraries.find(({ name }) => name === 'CUDA driver')!
    expect(driver.found).toBe(false)
    expect(driver.reason).toMatch(sentence)
    expect(driver.remedy).not.toBe('')
    const { status, stderr } = await validate(environment)
    expect(stderr).toMatch(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(status).toBe(3)
    expect((await run(['validate', '--device', 'cpu', ...small], environment)).status).toBe(0)
  })

  it('without a function that is needed: says which', async () => {
    const { libraries } = await list({}, 'incomplete')
    expect(libraries[0]!.reason).toMatch(/has no function cuTensorMapEncodeTiled: it is too old/)
    expect((await validate({}, 'incomplete')).status).toBe(3)
  })

  it('with several GPUs: each with what it can do', async () => {
    const { devices } = await list({ STUB_GPUS: '80,90,120' })
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

  it('with one GPU of two that does not answer: the other is listed', async () => {
    const { devices } = await list({ STUB_GPUS: '90,90', STUB_BROKEN: '0' })
    const gpus = devices.filter(({ id }) => id.startsWith('cuda:'))
    expect(gpus).toHaveLength(2)
    expect(JSON.stringify(gpus[0]!.properties)).toMatch(/GPU 0 cannot be read: CUDA error 214/)
    expect(gpus[1]!.name).toBe('Stub GPU sm_90')
  })

  it('with a GPU that does not answer: doctor examines what is left, and says so', async () => {
    const report = join(folder, 'report.json')
    const environment = { STUB_GPUS: '90', STUB_BROKEN: '0' }
    const examined = await run(['doctor', '--output', report], environment)
    expect(examined.stdout).toMatch(
      /^Device .* \(cpu, .*\n +not examined: cuda:0, GPU 0 cannot be read: CUDA error 214/m
    )
    expect(examined.stdout).toMatch(/^Validation {2}(\d+) of \1 passed/m)
    expect(examined.status).toBe(1)
  })

  it('whose context breaks: the next step meets a fresh process, not the wreck of the one before', async () => {
    const { stdout } = await run(
      ['validate', '--device', 'cuda:0', '--kernels', 'simt,mma', '--json', ...small],
      { STUB_CURRENT: '700' }
    )
    const { steps } = JSON.parse(stdout) as { steps: { disposition: string; reason: string }[] }
    const tried = steps.filter(({ disposition }) => disposition === 'error')
    expect(tried).toHaveLength(2)
    // The first meets the process that has listed the devices, and lost this one by that.
    expect(tried[1]!.reason).toMatch(/CUDA error 700/)
  })

  it.each([
    ['that does not fit the kernel module', '803', /^Restart the machine/],
    ['that waits for the fabric manager', '802', /nvidia-fabricmanager/],
    ['of the compatibility package', '804', /cuda-compat folder out of LD_LIBRARY_PATH/],
    ['that fails without a known reason', '999', /nvidia-smi/]
  ])('%s: the remedy fits the error', async (_, error, remedy) => {
    expect((await list({ STUB_INIT: error })).libraries[0]!.remedy).toMatch(remedy)
  })

  it.each([
    ['taken by another process', { STUB_CONTEXT: '46' }, /46 \(CUDA_ERROR_DEVICE_UNAVAILABLE/],
    ['out of order', { STUB_CONTEXT: '214' }, /Stub GPU sm_90 cannot be used: CUDA error 214/],
    ['gone when it is read', { STUB_BROKEN: '0' }, /GPU 0 cannot be read: CUDA error 214/]
  ])(
    'whose GPU is %s: the reason, exit code 3, and the CPU goes on',
    async (_, environment, reason) => {
      const gpu = (await list(environment)).devices.find(({ id }) => id === 'cuda:0')!
      expect(JSON.stringify(gpu.properties)).toMatch(reason)
      const { stdout, stderr, status } = await run(
        ['validate', '--device', 'cuda:0', '--kernels', 'simt', '--json', ...small],
        environment
      )
      expect(stdout + stderr).toMatch(reason)
      expect(status).toBe(3)
      expect((await run(['validate', '--device', 'cpu', ...small], environment)).status).toBe(0)
    }
  )

  it('whose only GPU cannot be read: what runs anywhere runs on the CPU', async () => {
    const { stdout, status } = await run(
      ['validate', '--kernels', 'cpu-portable', '--json', ...small],
      {
        STUB_BROKEN: '0'
      }
    )
    expect((JSON.parse(stdout) as { device: { id: string } }).device.id).toBe('cpu')
    expect(status).toBe(0)
  })

  it('whose context cannot be made for want of memory: a failed step, and the run is kept', async () => {
    const { stdout, status } = await run(
      ['validate', '--device', 'cuda:0', '--kernels', 'simt', '--json', ...small],
      { STUB_CONTEXT: '2' }
    )
    const { steps } = JSON.parse(stdout) as { steps: { disposition: string; reason: string }[] }
    expect(steps[0]!.disposition).toBe('error')
    expect(steps[0]!.reason).toMatch(/^Opening Stub GPU sm_90 failed: CUDA error 2 /)
    expect(status).toBe(1)
  })
})
