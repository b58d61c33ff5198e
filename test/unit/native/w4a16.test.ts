/** bf16 activations by fp4 weights: A without scales, from generated operands to what is said of a wrong product. */
import { describe, expect, it } from 'vitest'
import type { ArrayFile } from '@shared/formats/arrayFiles'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { findMistake } from '@shared/judge/findMistake'
import { readingsOf, readRow } from '@shared/judge/operandReading'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { detectFromProduct } from '@shared/layouts/detectProduct'
import { readOperands } from '@shared/operands/readOperands'
import { workOf } from '@shared/measurement/work'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const [m, n, k] = [32, 128, 256]
const formats = ['w4a16_mxfp4', 'w4a16_nvfp4']

async function generated(format: string) {
  const cancel = addon.createCancelFlag()
  const session = await addon.open(
    {
      device: 'cpu',
      format,
      m,
      n,
      k,
      output: 'f32',
      operands: { distribution: 'normal', seed: 3 }
    },
    cancel
  )
  const [operands, reference] = [await session.operands(), await session.reference(cancel)]
  const report = await session.validate(
    {
      ...{ kernel: 'cpu-portable', atol: 1e-3, rtol: 1e-3, rule: 'allowances' },
      ...{ maxFailures: 1, mapTiles: 1 }
    },
    cancel
  )
  const wrong = Float32Array.from(reference)
  wrong[7] = 1e6
  const judged = await session.judge(
    new Uint8Array(wrong.buffer),
    {
      ...{ kernel: 'elsewhere', atol: 1e-3, rtol: 1e-3, rule: 'allowances' },
      ...{ maxFailures: 1, mapTiles: 1 }
    },
    cancel
  )
  await session.close()
  return { operands, reference, report, judged }
}

/** As torch saves them: A of BF16, codes of B one a byte. */
function fileOf(operands: Awaited<ReturnType<typeof generated>>['operands'], block: number) {
  const array = (name: string, dtype: string, shape: number[], bytes: Uint8Array) => ({
    ...{ name, dtype, shape, bytes: Uint8Array.from(bytes) }
  })
  const scale = block === 16 ? 'F8_E4M3' : 'F8_E8M0'
  return {
    path: 'w4a16.safetensors',
    metadata: {},
    arrays: [
      array('a', 'BF16', [m, k], operands.aCodes),
      array('b', 'U8', [n, k], operands.bCodes),
      array('b_scales', scale, [n, k / block], operands.bScales)
    ]
  } satisfies ArrayFile
}

describe.each(formats)('%s', (id) => {
  const format = findBlockFormat(id)
  const blocks = k / format.scaleBlockSize

  it('passes with scales of B that act, and names a wrong element without a scale of A', async () => {
    const { operands, report, judged } = await generated(id)
    expect(operands.aCodes).toHaveLength(m * k * 2)
    expect(operands.aScales).toHaveLength(0)
    expect([report.status, report.reason]).toEqual(['passed', ''])
    expect([report.perturbationA.state, report.perturbationB.state]).toEqual([
      'no-scales',
      'passed'
    ])
    const failed = judged.failures[0]!
    expect(failed).toMatchObject({ row: 0, col: 7 })
    expect(failed.aScale).toBeUndefined()
    const words = new Uint16Array(operands.aCodes.slice().buffer)
    const from = failed.block * format.scaleBlockSize
    expect(failed.aCodes).toEqual(Array.from(words.subarray(from, from + format.scaleBlockSize)))
  })

  it('is told from a file by its dtypes, and refused with scales of A', async () => {
    const { operands } = await generated(id)
    const file = fileOf(operands, format.scaleBlockSize)
    const read = readOperands(file)
    expect(read.format.id).toBe(id)
    expect(read.notes[0]).toBe('A: 32 x 256 numbers of bf16 in "a" (BF16), without scales.')
    for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'] as const)
      expect(Buffer.compare(read.operands[name], operands[name]), name).toBe(0)
    const scales = { ...file.arrays[2]!, name: 'a_scales' }
    expect(() => readOperands({ ...file, arrays: [...file.arrays, scales] })).toThrow(
      /"a_scales" holds scales of A, and "a" is BF16, whose elements carry none/
    )
  })

  it('has the mistake of a wrong product found in B alone', async () => {
    const { operands, reference } = await generated(id)
    const whole = { ...operands, format, m, n, k }
    expect(findMistake(whole, reference)).toMatchObject({ agrees: 1, findings: [] })
    // A kernel that reads linear scales as if they were swizzled.
    const bScales = packScales(
      findLayout('nvidia_32_4_4'),
      { rows: n, columns: blocks },
      operands.bScales
    ).slice(0, n * blocks)
    const { a, b } = readingsOf({ ...whole, bScales })
    const rowsB = Array.from({ length: n }, (_, row) => readRow(b, row)!)
    const wrong = Float64Array.from({ length: m * n }, (_, at) => {
      const left = readRow(a, Math.floor(at / n))!
      return left.reduce((sum, value, i) => sum + value * rowsB[at % n]![i]!, 0)
    })
    const { findings } = findMistake(whole, wrong)
    expect(findings.map(({ kind }) => kind)).toEqual(['scale-order'])
    expect(findings[0]!.sentence).toMatch(/scales of B/)
  })

  it('has the layout of the scales of B told by a product', async () => {
    const { operands, reference } = await generated(id)
    const packed = packScales(
      findLayout('nvidia_32_4_4'),
      { rows: n, columns: blocks },
      operands.bScales
    )
    const { aCodes, bCodes } = operands
    const none = new Uint8Array()
    const detected = detectFromProduct(
      { format, m, n, k, side: 'b', aCodes, bCodes, otherScales: none, product: reference },
      packed
    )
    expect(JSON.stringify(detected)).toContain('nvidia_32_4_4')
  })

  it('moves two bytes for each element of A and none for its scales', () => {
    const reads = { scaleLayout: 'nvidia_32_4_4', operandBits: 0 }
    const { bytes, paddedBytes } = workOf(id, 16, 128, 256, { output: 'f16' }, reads)
    const ofB = (128 * 256) / 2 + (128 * 256) / format.scaleBlockSize
    expect(bytes).toBe(16 * 256 * 2 + ofB + 16 * 128 * 2)
    expect(paddedBytes).toBe(bytes)
  })
})
