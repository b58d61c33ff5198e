/** AMD GPUs in states that no test machine is in, through the real addon and command line. The twin of docs/hip.md's tables. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Detection } from '@shared/contract/devices'
import type { Run } from '@shared/contract/run'
import { findClang } from '../../../src-main/engine/machineCode/amdCode'
import { runInProcess } from '../../support/runInProcess'
import { buildStubHiprtc, buildStubMatmul, buildStubRuntime, buildStubSmi } from './stubHip'

let folder: string
let caches = 0

/** The engine is a process of its own, which loads what the environment names. */
async function run(words: string[], environment: Record<string, string> = {}, drivers = 'whole') {
  const { stdout, stderr, code } = await runInProcess(words, {
    LD_LIBRARY_PATH: join(folder, drivers),
    ROCM_PATH: join(folder, drivers),
    BLOCKSCOPE_STORE: join(folder, 'store'),
    // What one test compiled is not another's.
    XDG_CACHE_HOME: join(folder, `cache-${caches++}`),
    ...environment
  })
  return { said: stdout + stderr, stdout, status: code }
}
const detect = async (environment: Record<string, string> = {}, drivers?: string) =>
  JSON.parse((await run(['devices', '--json'], environment, drivers)).stdout) as Detection
const gpusOf = ({ devices }: Detection) => devices.filter(({ kind }) => kind === 'hip')

const sides = ['-N', '24', '-K', '96']
const shape = ['-M', '40', ...sides, '--out', 'f32']
const product = ['--device', 'hip:0', '--kernels', 'mfma-scale-linear', '--formats', 'mxfp8']
const validate = (environment: Record<string, string> = {}, drivers?: string) =>
  run(['validate', ...product, ...shape], environment, drivers)

describe.skipIf(process.platform !== 'linux')('the HIP runtime', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-hip-'))
    for (const [name, without] of [
      ['whole'],
      ['incomplete', 'hipModuleLaunchKernel'],
      ['alone'],
      ['older'],
      ['alone-with-hiprtc']
    ] as const) {
      mkdirSync(join(folder, name))
      buildStubRuntime(join(folder, name), without)
    }
    for (const name of ['whole', 'older', 'alone-with-hiprtc']) buildStubHiprtc(join(folder, name))
    buildStubSmi(join(folder, 'whole'), 'libamd_smi.so')
    buildStubMatmul(join(folder, 'whole'), '1.0.70000')
    buildStubMatmul(join(folder, 'older'), '0.12.60400')
    buildStubSmi(join(folder, 'older'), 'librocm_smi64.so')
    mkdirSync(join(folder, 'none'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ['is too old', {}, 'incomplete', /has no function hipModuleLaunchKernel: it is too old/],
    ['finds no GPU', { STUB_AMD_GPUS: '0' }, 'whole', /finds no GPU.*\/dev\/kfd/],
    [
      'is told to hide every GPU',
      { STUB_AMD_GPUS: '0', HIP_VISIBLE_DEVICES: '' },
      'whole',
      /HIP_VISIBLE_DEVICES is "" and hides every AMD GPU/
    ],
    ['does not start', { STUB_INIT: '3' }, 'whole', /does not start: error 3, as told/]
  ] satisfies [string, Record<string, string>, string, RegExp][])(
    '%s: which, what to do, exit code 3',
    async (_what, environment, drivers, sentence) => {
      const { said, status } = await validate(environment, drivers)
      expect(said.replace(/\s+/g, ' ')).toMatch(sentence)
      expect(status).toBe(3)
    }
  )

  it('tells what a GPU is and what runs on it', async () => {
    const found = await detect()
    const [gpu] = gpusOf(found)
    expect(gpu).toMatchObject({
      id: 'hip:0',
      name: 'AMD Instinct MI355X',
      architecture: 'gfx950',
      properties: {
        smCount: 256,
        clockMHz: 2400,
        memoryBytes: 288 * 2 ** 30,
        sharedBytesPerBlock: 160 * 1024,
        pciAddress: '0000:05:00.0',
        uuid: 'GPU-0123456789abcdef',
        driverVersion: '7.1.25424'
      }
    })
    const own = gpu!.kernels.filter(({ provider }) => provider === 'blockscope')
    const levels = own.map(({ id, capabilities }) => [
      id,
      capabilities.find(({ format }) => format === 'mxfp4')?.level,
      capabilities.find(({ format }) => format === 'nvfp4')?.level
    ])
    expect(levels).toEqual(
      ['mfma-scale-16', 'mfma-scale-32', 'mfma-scale-linear'].map((id) => [
        id,
        'native',
        'unavailable'
      ])
    )
    expect(found.libraries.filter(({ name }) => /hip/i.test(name))).toMatchObject([
      { name: 'HIP runtime', found: true, version: '7.1.25424' },
      { name: 'hipRTC', found: true, version: '7.1' },
      { name: 'hipBLASLt', found: true, version: '1.0.70000' }
    ])
  })

  it.each([
    [
      'of another architecture',
      { STUB_ARCHITECTURE: 'gfx942:xnack-' },
      'whole',
      /this device is gfx942/
    ],
    ['without hipRTC', {}, 'alone', /hipRTC was not found.*ROCM_PATH/]
  ] satisfies [string, Record<string, string>, string, RegExp][])(
    'a GPU %s says why no kernel runs there',
    async (_what, environment, drivers, sentence) => {
      const [gpu] = gpusOf(await detect(environment, drivers))
      for (const { capabilities } of gpu!.kernels.filter(({ id }) => id.startsWith('mfma')))
        expect(capabilities.find(({ format }) => format === 'mxfp4')).toMatchObject({
          level: 'unavailable',
          reason: expect.stringMatching(sentence)
        })
    }
  )

  it('a GPU that cannot be read or opened is listed with the reason, beside the others', async () => {
    const gpus = gpusOf(await detect({ STUB_AMD_GPUS: '2', STUB_BROKEN: '0' }))
    expect(gpus[0]!.properties.problem).toMatch(/AMD GPU 0 cannot be read: HIP error 214/)
    expect(gpus[1]!.name).toBe('AMD Instinct MI355X')
    const [taken] = gpusOf(await detect({ STUB_CONTEXT: '101' }))
    expect(taken!.properties.problem).toMatch(/Choosing AMD Instinct MI355X failed: HIP error 101/)
  })

  it('runs a kernel on what it is to have', async () => {
    const { said, status } = await validate()
    expect(said).toContain('1 of 1 passed')
    expect(status).toBe(0)
  })

  describe('hipBLASLt', () => {
    const matmul = (kernel: string, format: string, environment = {}, drivers?: string) =>
      run(
        [
          ...['validate', '--device', 'hip:0', '--kernels', kernel, '--formats', format],
          ...['-M', '32', '-N', '48', '-K', '256', '--out', 'f32']
        ],
        environment,
        drivers
      )
    const reasonOf = async (kernel: string, environment: Record<string, string>, drivers: string) =>
      gpusOf(await detect(environment, drivers))[0]!
        .kernels.find(({ id }) => id === kernel)!
        .capabilities.find(({ format }) => format === 'mxfp8')

    it.each([
      ['hipblaslt-mxfp8', 'mxfp8'],
      ['hipblaslt-mxfp4', 'mxfp4']
    ])('%s multiplies as it is told', async (kernel, format) => {
      const { said, status } = await matmul(kernel, format)
      expect(said).toContain('1 of 1 passed')
      expect(said).toContain(
        `${kernel}: ${format} 32 x 48 x 256: algorithm 263, workspace 4.00 KiB, waves 1.50; number 1 of 1 proposal`
      )
      expect(status).toBe(0)
    })

    it.each([
      ['that is not there', {}, 'alone', /^hipBLASLt was not found.*Install ROCm's hipblaslt/],
      ['of ROCm 6', {}, 'older', /^hipBLASLt 0\.12\.60400 has no block scaling: ROCm 7\.0 has it/],
      [
        'for another GPU',
        { STUB_ARCHITECTURE: 'gfx942' },
        'whole',
        /on gfx950; this device is gfx942/
      ]
    ] satisfies [string, Record<string, string>, string, RegExp][])(
      'one %s says so beside its kernels',
      async (_what, environment, drivers, sentence) => {
        expect(await reasonOf('hipblaslt-mxfp8', environment, drivers)).toMatchObject({
          level: 'unavailable',
          reason: expect.stringMatching(sentence)
        })
      }
    )

    it.each([
      ['does not know scale modes', 'older', /does not know the scale mode.*ROCm 7\.0/, 3],
      ['has no algorithm for the shape', 'refuses', /no algorithm for hipblaslt-mxfp8/, 3],
      ['does not run', 'fails', /HIPBLAS_STATUS_EXECUTION_FAILED/, 1]
    ])('one that %s is told with its own word', async (_what, state, sentence, code) => {
      const { said, status } = await matmul('hipblaslt-mxfp8', 'mxfp8', { STUB_MATMUL: state })
      expect(said.replace(/\s+/g, ' ')).toMatch(sentence)
      expect(status).toBe(code)
    })
  })

  const whole = ['--batch', '2', '--b-order', 'kn', '-M', '40', '--out', 'e4m3', '--beta', '1']
  it.each([
    ['a batch', ['--batch', '3', '-M', '40', '--out', 'f32']],
    ['B as (K, N)', ['--b-order', 'kn', '-M', '40', '--out', 'f32']],
    ['8-bit types of C', ['--out', 'e4m3', '-M', '40']],
    ['groups of rows', ['--groups', '17,0,30', '--out', 'f32']],
    ['all of it at once', whole]
  ])('takes %s: launches for each matrix, passes around them', async (_what, asked) => {
    const { said, status } = await run(['validate', ...product, ...sides, ...asked])
    expect(said).toContain('1 of 1 passed')
    expect(status).toBe(0)
  })

  const measure = async (
    environment: Record<string, string> = {},
    drivers?: string,
    mode = 'hot',
    more: string[] = []
  ) => {
    const brief = ['--mode', mode, '--rounds', '1', '--warmup', '1', '--reps', '3', '--json']
    const { stdout, status } = await run(
      ['sweep', ...product, ...shape, ...brief, ...more],
      environment,
      drivers
    )
    expect(status).toBe(0)
    return (JSON.parse(stdout) as Run).steps[0]!.measurement!
  }

  it('measures with its events, power, temperature and clock beside', async () => {
    expect(await measure()).toMatchObject({
      timingSource: 'HIP events',
      timeNs: { median: 250e3 },
      meanMHz: 2100,
      launchesPerSample: 1,
      meanWatts: 1300,
      meanTemperatureC: 61,
      badges: []
    })
  })

  it('measures what memory gives, by its own device code', async () => {
    const brief = ['--rounds', '1', '--warmup', '1', '--reps', '3', '--json']
    const { stdout } = await run(['sweep', ...product, ...shape, ...brief])
    const { roofs } = JSON.parse(stdout) as Run
    expect(roofs).toMatchObject([
      // 4 GiB of 288 in 250 us.
      { kind: 'memory', of: 'dram', rate: expect.closeTo(2 ** 32 / 250e-6, -6) },
      { kind: 'memory', of: 'dram-copy', rate: expect.closeTo(2 ** 33 / 250e-6, -6) },
      { kind: 'memory', of: 'l2', rate: expect.closeTo((2 ** 20 * 50) / 250e-6, -6) }
    ])
  })

  it('measures half a second back to back, a few parts queued ahead', async () => {
    const found = await measure({ STUB_KERNEL_US: '20000' }, undefined, 'hot', ['--sustained'])
    // A part is one launch of 20 ms: 25 have ended when two more are queued.
    expect(found).toMatchObject({ sustainedNs: 20e6, sustainedCount: 27 })
  })

  it('a kernel too short for one event is timed in groups of about 200 us', async () => {
    const found = await measure({ STUB_KERNEL_US: '8' })
    expect(found.launchesPerSample).toBe(25)
    expect(found.timeNs.median).toBeCloseTo(8e3, 0)
    expect(found.badges).toContain('grouped')
  })

  it('a shape whose operand sets would be tens of thousands is cold by fewer and a flush', async () => {
    expect(await measure({ STUB_KERNEL_US: '8' }, undefined, 'cold')).toMatchObject({
      cacheMode: 'cold: 512 operand sets, cache flush',
      operandSets: 512,
      launchesPerSample: 25
    })
  })

  it.each([
    ['held back by its power limit', { STUB_METRICS: 'capped' }, 'power-capped'],
    ['held back by heat', { STUB_METRICS: 'hot' }, 'thermal']
  ])('a GPU %s is told', async (_what, environment, badge) => {
    expect((await measure(environment)).badges).toEqual([badge])
  })

  it.each([
    ['tells its temperature alone', { STUB_METRICS: 'partial' }, 'whole', 61],
    ['tells nothing', { STUB_METRICS: 'none' }, 'whole', 0],
    ['has a monitor that does not start', { STUB_SMI: '5' }, 'whole', 0],
    ['has no monitor', {}, 'alone-with-hiprtc', 0]
  ] satisfies [string, Record<string, string>, string, number][])(
    'a GPU that %s is measured all the same',
    async (_what, environment, drivers, celsius) => {
      expect(await measure(environment, drivers)).toMatchObject({
        meanWatts: 0,
        meanTemperatureC: celsius,
        meanMHz: 0,
        badges: []
      })
    }
  )

  it('where there is no AMD SMI, ROCm SMI is asked, for the GPU at the same place on the bus', async () => {
    expect(await measure({}, 'older')).toMatchObject({ meanWatts: 1300, meanTemperatureC: 61 })
    const smi = async (environment: Record<string, string>, drivers?: string) =>
      (await detect(environment, drivers)).libraries.find(({ name }) => name === 'AMD SMI')
    expect(await smi({}, 'older')).toMatchObject({ found: true, version: 'rocm_smi64' })
    expect(await smi({}, 'whole')).toMatchObject({ found: true })
    // A machine may have a ROCm SMI of its own (Debian's slurm-wlm recommends it), which finds no GPU.
    const alone = await smi({}, 'alone')
    if (alone?.path) expect(existsSync(alone.path), alone.path).toBe(true)
    expect(alone).toMatchObject({
      found: false,
      remedy: expect.stringMatching(
        alone?.path ? /^Check that amd-smi works/ : /^Install ROCm's amd-smi-lib/
      )
    })
    expect(await smi({ STUB_SMI: '5' })).toMatchObject({
      found: false,
      reason: 'It does not start: error 5.'
    })
  })

  it.each([
    ['a kernel that leaves C as it was', { STUB_SILENT: '1' }, /failed/],
    ['a write next to C', { STUB_BESIDE: '1' }, /mfma-scale-linear writes outside C/],
    [
      'access outside memory',
      { STUB_LAUNCH: '700' },
      /mfma-scale-linear.*failed: HIP error 700 \(hipErrorIllegalAddress/
    ],
    ['not enough memory', { STUB_MALLOC: '2' }, /Not enough memory on AMD Instinct MI355X/],
    [
      'machine code for another GPU',
      { STUB_LOAD: '209' },
      /HIP error 209.*machine code is not for gfx950/
    ],
    [
      'a kernel that does not end',
      { STUB_QUERY: '600', BLOCKSCOPE_WATCHDOG_SECONDS: '1' },
      /did not end within 1 s/
    ]
  ] satisfies [string, Record<string, string>, RegExp][])(
    '%s is a failed step',
    async (_what, environment, sentence) => {
      const { said, status } = await validate(environment)
      expect(said.replace(/\s+/g, ' ')).toMatch(sentence)
      expect(status).toBe(1)
    }
  )

  const clang = findClang().path
  describe.skipIf(!clang)('with clang in the place of hipRTC', () => {
    it('the source compiles as hipRTC is given it', async () => {
      const { said, status } = await validate({ STUB_CLANG: clang! })
      expect(said).toContain('1 of 1 passed')
      expect(status).toBe(0)
    })

    it('so do the passes around it', async () => {
      const { said, status } = await run(['validate', ...product, ...sides, ...whole], {
        STUB_CLANG: clang!
      })
      expect(said).toContain('1 of 1 passed')
      expect(status).toBe(0)
    })

    it('what does not compile is told with the log', async () => {
      const { said, status } = await validate({ STUB_CLANG: clang!, STUB_OPTION: '-DEDGE=8' })
      expect(said).toMatch(/does not compile for gfx950/)
      expect(status).toBe(1)
    })
  })
})
