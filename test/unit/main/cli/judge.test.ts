/** Products that numpy made of NVFP4 operands, right and wrong (test/fixtures/judge/make.py). */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { encode } from '@shared/formats/encode'
import { runInProcess } from '../../../support/runInProcess'
import { scattered, wholeProduct, type Wrong } from '../../../support/wholeProduct'
import { writeCheckpoint } from '../../../support/writeCheckpoint'

const fixtures = 'test/fixtures/judge'
const operands = ['--operands', `${fixtures}/operands.safetensors`]
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blockscope-judge-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const judge = (result: string, ...flags: string[]) =>
  runInProcess([
    ...['judge', ...operands, '--result', result, '--device', 'cpu'],
    ...['--store', join(folder, 'store'), ...flags]
  ])
const product = (name: string) => `${fixtures}/c_${name}.npy`

describe('judge', () => {
  it('passes the right product, and repeats itself by the command of its run', async () => {
    const { code, stdout } = await judge(product('right'), '--json')
    expect(code).toBe(0)
    const run = JSON.parse(stdout) as { command: string; spec: { output: string } }
    expect(run.spec.output).toBe('f16')
    expect(run.command).toMatch(/^blockscope judge .*--operands \S+ --result \S+c_right\.npy$/)
  })

  it.each([
    ['scales_exchanged', 'the scales of A and of B are exchanged.'],
    ['scale_order', 'the scales of B lie as nvidia_32_4_4 and are read as linear.'],
    ['nibble_order', 'the two 4-bit codes in each byte of A or of B are exchanged.'],
    ['block_size', 'one scale of A and of B is taken for 32 elements, rows as they lie.'],
    ['tensor_scale', 'the tensor scale of B is missing.'],
    ['transposed', 'B is read as its transpose.'],
    [
      'unwritten',
      'A tile of 64 x 64 of C was not written: rows 64 to 127, columns 32 to 95 hold 0.'
    ]
  ])('fails %s and names it', async (name, sentence) => {
    const { code, stdout } = await judge(product(name))
    expect(code).toBe(1)
    expect(stdout).toContain(sentence)
  })

  it('says of a product within the tolerance that it is rounded toward zero', async () => {
    const { code, stdout } = await judge(product('rounding'))
    expect(code).toBe(0)
    expect(stdout).toContain('C is rounded toward zero, not to nearest.')
  })

  it('writes it into the report', async () => {
    const report = join(folder, 'report.html')
    await judge(product('transposed'), '--report', report)
    expect(await readFile(report, 'utf8')).toContain('when B is read as its transpose')
  })

  it('takes a batch with an accumulator, and C of eight bits with its scale', async () => {
    const format = findBlockFormat('mxfp8')
    const [m, n, k] = [16, 16, 64]
    const bytes = (count: number, seed: number, from: number, span: number) =>
      Uint8Array.from({ length: count }, (_, i) => from + (scattered(i, seed) % span))
    const given = {
      ...{ format, m, n, k, batchA: [2, 1], batchB: [2], outputScale: 2 },
      aCodes: bytes(2 * m * k, 1, 0x28, 24),
      bCodes: bytes(2 * n * k, 2, 0xa8, 24),
      aScales: bytes((2 * m * k) / 32, 3, 122, 5),
      bScales: bytes((2 * n * k) / 32, 4, 122, 5),
      accumulator: Float32Array.from({ length: 4 * m * n }, (_, i) => (scattered(i, 5) % 97) / 8)
    }
    const u8 = (name: string, shape: number[], of: Uint8Array) => ({
      ...{ name, dtype: 'U8', shape, bytes: of }
    })
    const file = join(folder, 'batch.safetensors')
    writeCheckpoint(
      file,
      [
        u8('a_codes', [2, 1, m, k], given.aCodes),
        u8('b_codes', [2, n, k], given.bCodes),
        u8('a_scales', [2, 1, m, 2], given.aScales),
        u8('b_scales', [2, n, 2], given.bScales),
        {
          ...{ name: 'c_f32', dtype: 'F32', shape: [2, 2, m, n] },
          bytes: new Uint8Array(given.accumulator.buffer)
        }
      ],
      { a: 'e4m3', b: 'e4m3', scale: 'e8m0', vec: '32' }
    )
    const judged = (name: string, wrong?: Wrong) => {
      const values = wholeProduct(given, wrong)
      const stored = Uint8Array.from(values, (value) => encode(format.a, value))
      const c = join(folder, `${name}.safetensors`)
      const tensor = { name: 'c', dtype: 'F8_E4M3', shape: [2, 2, m, n], bytes: stored }
      writeCheckpoint(c, [tensor])
      return runInProcess([
        ...['judge', '--operands', file, '--result', c, '--out-scale', '2', '--device', 'cpu'],
        ...['--store', join(folder, 'store')]
      ])
    }
    const right = await judged('batch-right')
    expect(right.stdout).toContain('Passed: 1 of 1 passed')
    expect(right.code).toBe(0)
    const wrong = await judged('batch-wrong', {
      added: (value, matrix) => (matrix === 2 ? 0 : value)
    })
    expect(wrong.stdout).toContain(
      'In matrix (1, 0) of C: C is what these operands give when the accumulator is left out.'
    )
    expect(wrong.code).toBe(1)
  })

  it('answers bad input with a sentence and exit code 2', async () => {
    const cut = join(folder, 'cut.npy')
    await writeFile(cut, (await readFile(product('right'))).subarray(0, 1000))
    const other = join(folder, 'other.npy')
    const header = (await readFile(product('right'))).subarray(0, 128).toString('latin1')
    await writeFile(other, header.replace('(128, 128)', '(256, 64) '), 'latin1')
    for (const [result, flags, sentence] of [
      ['none.npy', [], /--result \S*none\.npy does not exist/],
      [cut, [], /128 x 128 values of F16 take 32768 bytes; it has 872/],
      [other, [], /256 x 64 values of F16 take 32768 bytes; it has 0/],
      ['README.md', [], /is no usable \.safetensors file/],
      [`${fixtures}/operands.safetensors`, [], /call the product "c"/],
      [product('right'), ['--out', 'bf16'], /which is no bf16; C was not written in it/],
      [product('right'), ['--out', 'e4m3'], /cannot be judged as e4m3/]
    ] as const) {
      const { code, stderr } = await judge(result, ...flags)
      expect(stderr).toMatch(sentence)
      expect(code).toBe(2)
    }
    expect(await runInProcess(['judge', '--result', product('right')])).toMatchObject({ code: 2 })
  })
})
