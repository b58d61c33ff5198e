import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { blockscopeInStore } from './blockscopeInStore'

const golden = 'test/fixtures/golden/gemm_nvfp4_128x256x512.safetensors'
const small = ['-M', '128', '-N', '96', '-K', '256']
const { store, blockscope } = blockscopeInStore()

describe('validate', () => {
  it('passes every format on the CPU, prints a table and the tree, and leaves a run folder', async () => {
    const { code, stdout } = await blockscope('validate', '--formats', 'all', ...small)
    expect(code).toBe(0)
    expect(stdout).toMatch(/Passed: (\d+) of \1 passed, on /)
    expect(stdout).toContain('tflop/s')
    const folder = /Run folder: (.*)/.exec(stdout)![1]!
    const names = await readdir(folder)
    expect(names).toEqual(expect.arrayContaining(['run.json', 'profile.hatchet']))
    expect(names).not.toContain('owner.json')
    const [tree] = JSON.parse(await readFile(join(folder, 'profile.hatchet'), 'utf8'))
    expect(Object.keys(tree.metrics)).toEqual(
      expect.arrayContaining(['bytes', 'count', 'flops', 'flops64', 'flops8', 'time (ns)'])
    )
  })

  it('--json prints the run and nothing else', async () => {
    const { code, stdout } = await blockscope('validate', '--formats', 'mxfp4', ...small, '--json')
    expect(code).toBe(0)
    const run = JSON.parse(stdout) as Run
    expect(run.steps.every((step) => step.disposition === 'passed')).toBe(true)
    expect(run.steps[0]!.validation!.perturbationA.state).toBe('passed')
  })

  it('without any tolerance still allows what float32 sums lose by cancellation, raised scales included', async () => {
    const flags = [
      '-M',
      '128',
      '-N',
      '128',
      '-K',
      '128',
      '--out',
      'f32',
      '--atol',
      '0',
      '--rtol',
      '0'
    ]
    const { code, stdout } = await blockscope(
      'validate',
      '--formats',
      'mxfp8_e5m2',
      ...flags,
      '--json'
    )
    const run = JSON.parse(stdout) as Run
    expect(run.steps.map((step) => `${step.disposition} ${step.reason}`)).toEqual(
      run.steps.map(() => 'passed ')
    )
    expect(code).toBe(0)
  })

  it('takes operands from a file, with the reference that the file brings', async () => {
    const { code, stdout } = await blockscope('validate', '--operands', golden, '--json')
    expect(code).toBe(0)
    const run = JSON.parse(stdout) as Run
    expect(run.steps[0]).toMatchObject({ format: 'nvfp4', m: 128, n: 256, k: 512 })
    expect(run.steps[0]!.validation!.oracle).toBe('file')
    // It is named and recorded as what it was.
    expect(run.id).toMatch(/-validate-nvfp4(-\d+)?$/)
    expect(run.spec).toMatchObject({ formats: ['nvfp4'], m: 128, n: 256, k: 512 })
    expect(run.command).toBe(`blockscope validate --operands ${golden}`)
  })

  it('fails and names the element when one code of the file is changed', async () => {
    const bytes = readFileSync(golden)
    const headerBytes = Number(bytes.readBigUInt64LE(0))
    const header = JSON.parse(bytes.subarray(8, 8 + headerBytes).toString()) as Record<
      string,
      { data_offsets: [number, number] }
    >
    const codes = 8 + headerBytes + header['a_codes']!.data_offsets[0]
    const [row, column] = [77, 300]
    // The largest magnitude with the sign turned: a change that no tolerance hides.
    bytes[codes + row * 512 + column] = (bytes[codes + row * 512 + column]! & 8) ^ 15
    const file = join(store, 'changed.safetensors')
    await writeFile(file, bytes)
    const { code, stdout } = await blockscope(
      'validate',
      '--operands',
      file,
      '--kernels',
      'cpu-portable',
      '--json'
    )
    expect(code).toBe(1)
    const step = (JSON.parse(stdout) as Run).steps[0]!
    expect(step.disposition).toBe('incorrect')
    expect(step.validation!.failures.every((failure) => failure.row === row)).toBe(true)
    expect(step.reason).toContain(`row ${row}`)
  })

  it('refuses operands that prove nothing', async () => {
    const { code, stdout } = await blockscope(
      'validate',
      '--dist',
      'zeros',
      '--formats',
      'mxfp8',
      ...small
    )
    expect(code).toBe(1)
    expect(stdout).toMatch(/Proves nothing: 0 of \d+ passed/)
    expect(stdout).toContain('a kernel that writes zeros would pass')
  })

  it('writes a JUnit report', async () => {
    const file = join(store, 'report.xml')
    const { code } = await blockscope('validate', '--formats', 'nvfp4', ...small, '--report', file)
    expect(code).toBe(0)
    expect(await readFile(file, 'utf8')).toMatch(/<testsuite name="nvfp4" tests="\d+" failures="0"/)
  })

  it('writes an HTML report', async () => {
    const file = join(store, 'report.html')
    const { code } = await blockscope('validate', '--formats', 'nvfp4', ...small, '--report', file)
    expect(code).toBe(0)
    expect(await readFile(file, 'utf8')).toMatch(/<h1>Validate nvfp4/)
  })
})

describe('sweep', () => {
  it('times each K, writes the run folder and prints the tree; the tutorial spelling works', async () => {
    const folder = join(store, 'swept')
    const { code, stdout } = await blockscope(
      ...['bench', '--format', 'mxfp8', '-M', '64', '-N', '64', '--K_range', '128', '384'],
      ...['--K_step', '128', '--preset', 'quick', '--out-dir', folder]
    )
    expect(code).toBe(0)
    for (const k of [128, 256, 384]) expect(stdout).toContain(`K=${k}`)
    const run = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as Run
    expect(run.steps.map((step) => step.k)).toEqual([128, 256, 384])
    for (const { measurement, m, n, k } of run.steps) {
      expect(measurement!.timeNs.samples).toBeGreaterThanOrEqual(7)
      expect(measurement!.flops).toBe(2 * m * n * k)
      expect(measurement!.bytes).toBe(m * k + n * k + ((m + n) * k) / 32 + m * n * 2)
    }
    const again = await blockscope('sweep', '-K', '128', '--out-dir', folder)
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') })
    const samples = (await readFile(join(folder, 'samples.jsonl'), 'utf8')).trim().split('\n')
    const counted = samples.map((line) => JSON.parse(line).samplesNs.length as number)
    const expected = run.steps.reduce((sum, step) => sum + step.measurement!.timeNs.samples, 0)
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(expected)
  })

  it('times every M with every K, and compares with another such sweep point by point', async () => {
    const sweep = async (...more: string[]) => {
      const { stdout, code } = await blockscope(
        ...['sweep', '--formats', 'mxfp8', '-M', '16,32', '-N', '64', '-K', '64,128'],
        ...['--reps', '3', '--json', ...more]
      )
      expect(code).toBe(0)
      return JSON.parse(stdout) as Run
    }
    const [one, other] = [await sweep(), await sweep()]
    expect(one.command).toContain('-M 16,32 -N 64 -K 64,128')
    expect(one.steps.map(({ m, n, k }) => [m, n, k])).toEqual([
      [16, 64, 64],
      [16, 64, 128],
      [32, 64, 64],
      [32, 64, 128]
    ])
    for (const { measurement, m, n, k } of one.steps) expect(measurement!.flops).toBe(2 * m * n * k)
    const { stdout } = await blockscope('runs', 'compare', one.id, other.id, '--json')
    expect(JSON.parse(stdout)).toMatchObject(one.steps.map(({ m, n, k }) => ({ m, n, k })))
  })

  it('--reps takes exactly that many samples', async () => {
    const { stdout } = await blockscope(
      ...['sweep', '--formats', 'nvfp4', '-M', '32', '-N', '32', '-K', '64', '--reps', '13'],
      ...['--mode', 'hot', '--json']
    )
    const run = JSON.parse(stdout) as Run
    expect(run.steps[0]!.measurement!.timeNs.samples).toBe(13)
    expect(run.steps[0]!.measurement!.cacheMode).toBe('hot')
  })
})

describe('formats and layouts', () => {
  it('layout map --json is the golden map', async () => {
    const maps = JSON.parse(readFileSync('test/fixtures/golden/scale_layouts.json', 'utf8')) as {
      layout: string
      rows: number
      cols: number
      packed: number[]
    }[]
    const map = maps.find((candidate) => candidate.layout === 'cdna4_mfma16')!
    const { stdout } = await blockscope(
      ...['layout', 'map', '--layout', map.layout],
      ...['--rows', String(map.rows), '--cols', String(map.cols), '--json']
    )
    expect(JSON.parse(stdout)).toEqual({ packed: map.packed })
  })

  it('layout locate fills the formula in and gives every view', async () => {
    const { stdout } = await blockscope(
      ...['layout', 'locate', '--layout', 'nvidia_32_4_4', '--rows', '256', '--cols', '8'],
      ...['--row', '200', '--col', '5', '--json']
    )
    const found = JSON.parse(stdout)
    // (200/128 * 2 + 5/4) * 512 + 200%32 * 16 + 200%128/32 * 4 + 5%4
    expect(found.offset).toBe((1 * 2 + 1) * 512 + 8 * 16 + 2 * 4 + 1)
    expect(found.filled).toMatch(new RegExp(`= ${found.offset}$`))
    expect(found.views.map((view: { name: string }) => view.name)).toEqual([
      '5D',
      '4D',
      'TMA 5D',
      'USE_2D_SCALE_LOAD'
    ])
    expect(found.views[0].coordinates).toEqual([1, 1, 8, 2, 1])
  })

  it('formats lists limits; formats e2m1 lists codes', async () => {
    expect((await blockscope('formats')).stdout).toMatch(/e4m3 +1\/4\/3 +7 +448/)
    expect((await blockscope('formats', 'e2m1')).stdout).toContain('7: 6')
  })
})

describe('devices', () => {
  it('shows the CPU, its kernels, and why each library is missing or where it is', async () => {
    const { code, stdout } = await blockscope('devices', '--json')
    expect(code).toBe(0)
    const { devices, libraries } = JSON.parse(stdout)
    expect(devices[0]).toMatchObject({ id: 'cpu' })
    for (const library of libraries) {
      expect(library.found ? library.path : library.reason + library.remedy).not.toBe('')
    }
  })

  it('says of each kernel what of the operation it takes, and how', async () => {
    const { stdout } = await blockscope('devices')
    const ofPortable = stdout.slice(stdout.indexOf('  cpu-portable ('))
    expect(ofPortable).toMatch(/^ {4}emulated +B \(K, N\)\n +B is turned to \(N, K\)/m)
    expect(ofPortable).toMatch(/^ {4}exact +accumulator$/m)
  })
})
