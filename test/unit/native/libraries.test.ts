/** GPU libraries beside the driver that are missing, too old or do not start: each disables only what needs it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Detection } from '@shared/contract/devices'
import { runInProcess } from '../../support/runInProcess'
import { buildStubDriver, buildStubLibrary, buildStubMonitor } from './stubDriver'

let folder: string

/** Toolkits of the test machine are not to be found first: BLOCKSCOPE_CUDA_PATH goes before them. */
async function run(words: string[], toolkit: string, environment: Record<string, string> = {}) {
  const drivers = join(folder, environment.STUB_NVML || environment.STUB_MIG ? 'monitored' : 'bare')
  const { code, stdout, stderr } = await runInProcess(words, {
    LD_LIBRARY_PATH: drivers,
    BLOCKSCOPE_CUDA_PATH: join(folder, toolkit),
    BLOCKSCOPE_STORE: join(folder, 'store'),
    ...environment
  })
  return { status: code, stdout, stderr }
}

async function detect(toolkit: string, environment?: Record<string, string>) {
  const { stdout } = await run(['devices', '--json'], toolkit, environment)
  const found = JSON.parse(stdout) as Detection
  const gpu = found.devices.find(({ id }) => id === 'cuda:0')!
  return {
    gpu,
    library: (name: string) => found.libraries.find((library) => library.name === name)!,
    mxfp4: (kernel: string) =>
      gpu.kernels
        .find(({ id }) => id === kernel)!
        .capabilities.find(({ format }) => format === 'mxfp4')!
  }
}

const validate = ['validate', '-M', '64', '-N', '64', '-K', '64', '--formats', 'mxfp4', '--json']

describe.skipIf(process.platform !== 'linux')('beside a driver', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-libraries-'))
    const make = (name: string) => {
      mkdirSync(join(folder, name))
      return join(folder, name)
    }
    buildStubDriver(make('bare'))
    buildStubDriver(make('monitored'))
    buildStubMonitor(join(folder, 'monitored'))
    const whole = make('whole')
    buildStubLibrary(whole, 'libnvrtc.so.13')
    buildStubLibrary(whole, 'libcublasLt.so.13')
    buildStubLibrary(whole, 'libcupti.so.13')
    const old = make('old')
    buildStubLibrary(old, 'libnvrtc.so.13', 'nvrtcGetCUBIN')
    buildStubLibrary(old, 'libcublasLt.so.13', 'cublasLtMatmul')
    buildStubLibrary(old, 'libcupti.so.13', 'cuptiActivityFlushAll')
    const withoutCompiler = make('without-compiler')
    buildStubLibrary(withoutCompiler, 'libnvrtc.so.13', 'nvrtcGetCUBIN')
    buildStubLibrary(withoutCompiler, 'libcublasLt.so.13')
    buildStubLibrary(withoutCompiler, 'libcupti.so.13')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('libraries in BLOCKSCOPE_CUDA_PATH are taken, with their versions', async () => {
    const { library, mxfp4 } = await detect('whole')
    for (const [name, file, version] of [
      ['NVRTC', 'libnvrtc.so.13', '13.0'],
      ['cuBLASLt', 'libcublasLt.so.13', '13.1.1'],
      ['CUPTI', 'libcupti.so.13', '13.0.0']
    ] as const) {
      const path = join(folder, 'whole', file)
      expect(library(name)).toEqual({ name, found: true, version, path, reason: '', remedy: '' })
    }
    expect(mxfp4('simt').level).toBe('exact')
    expect(mxfp4('cublaslt-bf16').level).toBe('exact')
  })

  it.each([
    ['NVRTC', 'nvrtcGetCUBIN', 'nvidia-cuda-nvrtc'],
    ['cuBLASLt', 'cublasLtMatmul', 'nvidia-cublas'],
    ['CUPTI', 'cuptiActivityFlushAll', 'nvidia-cuda-cupti']
  ])('a %s without %s is called too old, and %s is what helps', async (name, missing, remedy) => {
    const { library } = await detect('old')
    expect(library(name)).toMatchObject({ found: false })
    expect(library(name).reason).toMatch(
      new RegExp(`has no function ${missing}: it is too old\\.$`)
    )
    expect(library(name).remedy).toContain(remedy)
  })

  it('without NVRTC no kernel that comes as source, and exit code 3 when one is asked for', async () => {
    const { mxfp4, library } = await detect('without-compiler')
    const { reason, remedy } = library('NVRTC')
    expect(mxfp4('simt')).toMatchObject({
      format: 'mxfp4',
      level: 'unavailable',
      reason: `${reason} ${remedy}`
    })
    expect(mxfp4('cublaslt-bf16').level).toBe('exact')
    const words = [...validate, '--device', 'cuda:0', '--kernels', 'simt']
    const { status, stdout, stderr } = await run(words, 'without-compiler')
    expect(stdout + stderr).toContain('has no function nvrtcGetCUBIN')
    expect(status).toBe(3)
    expect((await run([...validate, '--device', 'cpu'], 'without-compiler')).status).toBe(0)
  })

  it('without cuBLASLt its own kernels alone are gone', async () => {
    buildStubLibrary(join(folder, 'old'), 'libnvrtc.so.13')
    const { mxfp4, library } = await detect('old')
    expect(mxfp4('cublaslt-bf16').level).toBe('unavailable')
    expect(mxfp4('cublaslt-bf16').reason).toContain(library('cuBLASLt').reason)
    expect(mxfp4('simt').level).toBe('exact')
  })

  it('a file that is no library is told with the reason of the system', async () => {
    mkdirSync(join(folder, 'broken'))
    writeFileSync(join(folder, 'broken', 'libcublasLt.so.13'), 'no library')
    const { library } = await detect('broken')
    // Another one, farther down the search, may do instead.
    if (library('cuBLASLt').found) expect(library('cuBLASLt').path).not.toContain('broken')
    else expect(library('cuBLASLt').reason).toMatch(/does not load: .*broken.*too short/)
  })

  it('without NVML no temperature, and all kernels', async () => {
    const { gpu, library, mxfp4 } = await detect('whole')
    if (!library('NVML').found) expect(library('NVML').remedy).toMatch(/temperature are not shown/)
    expect(gpu.properties).not.toHaveProperty('temperatureC')
    expect(mxfp4('simt').level).toBe('exact')
  })

  it('NVML of another version than the driver: asks for a restart, all kernels stay', async () => {
    const { gpu, library, mxfp4 } = await detect('whole', { STUB_NVML: '18' })
    expect(library('NVML').reason).toBe(
      'NVML is of another version than the loaded driver (error 18).'
    )
    expect(library('NVML').remedy).toMatch(/after an update of the driver, restart/)
    expect(gpu.properties).not.toHaveProperty('temperatureC')
    expect(mxfp4('simt').level).toBe('exact')
  })

  it('NVML that starts is asked for temperature and MIG', async () => {
    const { gpu, library } = await detect('whole', { STUB_NVML: '0' })
    expect(library('NVML')).toMatchObject({ found: true, version: '580.65.06' })
    const state = { temperatureC: 41, mig: false, otherComputeProcesses: 2 }
    expect(gpu.properties).toMatchObject(state)
    expect(gpu.properties.uuid).toBe('GPU-10101010-1010-1010-1010-101010101010')
  })

  it('a MIG instance is told as one, by the identity that NVML knows', async () => {
    const { gpu } = await detect('whole', { STUB_MIG: '1' })
    expect(gpu.properties).toMatchObject({ temperatureC: 41, mig: true })
    expect(gpu.properties.uuid).toBe('MIG-10101010-1010-1010-1010-101010101010')
  })
})
