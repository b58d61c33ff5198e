import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findConvention } from '@shared/checkpoints/conventions'
import { numberFormats } from '@shared/formats/numberFormat'
import { packFp4 } from '@shared/formats/pack'
import {
  dequantize,
  finiteMaximum,
  nvfp4RuleFor,
  nvfp4TensorScale,
  quantizeMx,
  quantizeNvfp4,
  scaleRules,
  type Quantized
} from '@shared/formats/quantize'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { register } from '../../../../src-main/cli/checkpoint'
import { withCheckpoint } from '../../../../src-main/store/checkpointFile'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { runInProcess } from '../../../support/runInProcess'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'requantise-'))
const at = (name: string) => join(folder, name)
const run = (...argv: string[]) => runCommand(register, ['checkpoint', ...argv])

interface Report {
  weights: { name: string; from: string; to: string; exact: boolean; sqnr: number | string }[]
  copied: number
}
const convert = async (...argv: string[]) =>
  JSON.parse((await run('convert', ...argv, '--json')).stdout) as Report

/** A float32 cut to its upper 16 bits is a BF16. */
function bf16(name: string, shape: number[], value: (i: number) => number): TensorBytes {
  const count = shape.reduce((product, extent) => product * extent, 1)
  const floats = Float32Array.from({ length: count }, (_, i) => value(i))
  const halves = new Uint16Array(floats.buffer).filter((_, i) => i % 2 === 1)
  const bytes = new Uint8Array(halves.buffer)
  return { name, dtype: 'BF16', shape, bytes }
}

const [rows, k] = [48, 96]
const wave = (i: number) => Math.sin(i * 12.9898) * (1 + (i % 7))
const original = at('bf16.safetensors')
const stays = [
  bf16('layer.0.norm.weight', [k], wave),
  bf16('embed_tokens.weight', [8, k], wave),
  bf16('odd.weight', [4, 20], wave),
  bf16('layer.0.up.bias', [2, 64], wave)
]
writeCheckpoint(original, [bf16('layer.0.up.weight', [2, rows, k], wave), ...stays], { made: 'x' })
const values = Float32Array.from({ length: 2 * rows * k }, (_, i) => {
  const bits = new Uint32Array(Float32Array.of(wave(i)).buffer)
  bits[0]! &= 0xffff0000
  return new Float32Array(bits.buffer)[0]!
})

const { e2m1, e4m3, e8m0, ue4m3 } = numberFormats
function restored(convention: string): Float64Array {
  const back = (q: Quantized, element = e2m1) => dequantize(q, element, e8m0, 32)
  if (convention.endsWith('nvfp4')) return dequantize(quantizeNvfp4(values), e2m1, ue4m3, 16)
  if (convention === 'mxfp8') return back(quantizeMx(values, e4m3, 32), e4m3)
  return back(quantizeMx(values, e2m1, 32))
}

function sqnrOf(back: Float64Array): number {
  const signal = values.reduce((sum, x) => sum + x * x, 0)
  const noise = values.reduce((sum, x, i) => sum + (x - back[i]!) ** 2, 0)
  return 10 * Math.log10(signal / noise)
}

const bytesOf = (path: string, name: string) =>
  withCheckpoint(path, ({ tensors, read }) => {
    const entry = tensors.get(name)!
    return { ...entry, start: 0, end: 0, bytes: read(entry, 0, entry.end - entry.start) }
  })

const conventions = [
  'gpt-oss',
  'compressed-tensors-nvfp4',
  'compressed-tensors-mxfp4',
  'modelopt-nvfp4',
  'mxfp8'
].map(findConvention)

describe.each(conventions.map(({ name }) => name))('BF16 to %s', (name) => {
  it('is what quantising the values gives, in any scale layout, and the rest is copied', async () => {
    for (const layout of ['linear', 'nvidia_32_4_4']) {
      const out = at(`${name}.${layout}.safetensors`)
      const flags = ['--to', name, '--requantise', '--scale-layout', layout, '--out', out]
      const { weights, copied } = await convert(original, ...flags)
      expect(weights).toMatchObject([{ name: 'layer.0.up', from: 'BF16', to: name, exact: false }])
      expect(weights[0]!.sqnr).toBeCloseTo(sqnrOf(restored(name)), 3)
      expect(copied).toBe(stays.length)
      for (const tensor of stays) {
        expect(bytesOf(out, tensor.name)).toEqual(bytesOf(original, tensor.name))
      }
      const slice = '--tensor layer.0.up --matrix 1 --row 47 --rows 1 --cols 96 --json'.split(' ')
      const read = JSON.parse((await run('slice', out, ...slice)).stdout) as { values: number[] }
      const expected = restored(name).subarray(values.length - k)
      read.values.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5))
    }
  })
})

describe.each(conventions.map((one) => [one.name, one] as const))(
  'BF16 to %s, the bytes of the file',
  (name, { element, scale, scaleBlockSize, tensorScaleUse, ...suffixes }) => {
    it.each(scaleRules)('rule %s', async (rule) => {
      const out = at(`${name}.${rule}.safetensors`)
      const layout = findLayout('nvidia_32_4_4')
      const flags = ['--rule', rule, '--scale-layout', layout.name, '--only-converted']
      await convert(original, '--to', name, '--requantise', ...flags, '--out', out)
      const t = nvfp4TensorScale(finiteMaximum(values))
      const stored = Math.fround(tensorScaleUse === 'divide' ? 1 / t : t)
      const read = tensorScaleUse === 'divide' ? 1 / stored : stored
      const { codes, scales } = tensorScaleUse
        ? quantizeNvfp4(values, nvfp4RuleFor(rule), read)
        : quantizeMx(values, element, scaleBlockSize, rule)
      const shape = { rows, columns: k / scaleBlockSize }
      const packed = [0, 1].map((matrix) => {
        const size = rows * shape.columns
        return packScales(layout, shape, scales.subarray(matrix * size, (matrix + 1) * size))
      })
      const weight = 'layer.0.up'
      expect(bytesOf(out, weight + suffixes.codesSuffix).bytes).toEqual(
        element.storageBits === 4 ? packFp4(codes) : codes
      )
      expect(bytesOf(out, weight + suffixes.scalesSuffix).bytes).toEqual(
        new Uint8Array(Buffer.concat(packed))
      )
      if (scale !== ue4m3) return
      const factor = bytesOf(out, weight + suffixes.tensorScaleSuffix!).bytes
      expect(factor).toEqual(new Uint8Array(Float32Array.of(stored).buffer))
    })
  }
)

describe('between block-scaled formats', () => {
  const made = async (name: string) => {
    const out = at(`from.${name}.safetensors`)
    if (!existsSync(out)) await convert(original, '--to', name, '--requantise', '--out', out)
    return out
  }

  it('mxfp4 to mxfp8 is exact, and back gives the same bytes', async () => {
    const first = await made('gpt-oss')
    const wide = at('wide.safetensors')
    const back = at('narrow.safetensors')
    const flags = ['--requantise', '--only-converted', '--out']
    const { weights, copied } = await convert(first, '--to', 'mxfp8', ...flags, wide)
    expect(weights).toMatchObject([{ from: 'gpt-oss', to: 'mxfp8', exact: true }])
    expect(weights[0]!.sqnr).toBe('Infinity')
    expect(copied).toBe(0)
    await convert(wide, '--to', 'gpt-oss', ...flags, back)
    for (const name of ['layer.0.up_blocks', 'layer.0.up_scales']) {
      expect(bytesOf(back, name)).toEqual(bytesOf(first, name))
    }
  })

  it('nvfp4 to mxfp4 says what it loses; the mse rule loses less', async () => {
    const first = await made('modelopt-nvfp4')
    const flags = ['--to', 'compressed-tensors-mxfp4', '--requantise', '--out']
    const floor = await convert(first, ...flags, at('floor.safetensors'))
    const mse = await convert(first, ...flags, at('mse.safetensors'), '--rule', 'mse')
    expect(floor.weights[0]!.exact).toBe(false)
    expect(mse.weights[0]!.sqnr).toBeGreaterThan(Number(floor.weights[0]!.sqnr))
    const { stdout } = await run('convert', first, ...flags, at('text.safetensors'))
    expect(stdout).toMatch(/modelopt-nvfp4 to compressed-tensors-mxfp4 {2}SQNR \d+\.\d\d dB/)
  })

  it('another layout of the same format is exact', async () => {
    const first = await made('mxfp8')
    const out = at('swizzled.safetensors')
    const { weights } = await convert(first, '--scale-layout', 'nvidia_32_4_4', '--out', out)
    expect(weights).toMatchObject([{ from: 'mxfp8', to: 'mxfp8', exact: true }])
  })
})

it('--keep replaces the words that keep a tensor as it is', async () => {
  const flags = ['--to', 'mxfp8', '--requantise', '--keep', 'up', '--out', at('keep.safetensors')]
  const { weights } = await convert(original, ...flags)
  expect(weights.map(({ name }) => name)).toEqual(['embed_tokens'])
})

describe('values that are no numbers', () => {
  const bad: Record<number, number> = { 40: NaN, 41: -Infinity, 200: Infinity }
  const file = at('nan.safetensors')
  const fine = bf16('fine.weight', [2, 64], wave)
  writeCheckpoint(file, [bf16('w.weight', [2, 2, 64], (i) => bad[i] ?? 1 + (i % 3)), fine], {})
  const run = (name: string, ...flags: string[]) =>
    runInProcess(['checkpoint', 'convert', file, '--requantise', '--out', at(name), ...flags])

  it.each(['mxfp8', 'modelopt-nvfp4'])('%s: counted, named, and no success', async (to) => {
    const { code, stdout, stderr } = await run(`nan.${to}.safetensors`, '--to', to)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fine .*dB, max error [\d.]+$/m)
    const perBlock = to === 'mxfp8' ? 32 : 16
    expect(stdout).toContain(
      `1 NaN and 2 infinite in the original (first in matrix 0, row 0, column 40), ${2 * perBlock - 3} finite values lost beside them`
    )
    expect(stdout).not.toContain('-Infinity')
    expect(stderr).toContain('1 of 2 weights hold NaN or infinities')
    const error = await runInProcess([
      'checkpoint',
      'error',
      at(`nan.${to}.safetensors`),
      '--original',
      file
    ])
    expect(error.code).toBe(1)
    expect(error.stdout).toContain('1 NaN and 2 infinite')
  })

  it('as JSON, and allowed', async () => {
    const flags = ['--to', 'mxfp8', '--json', '--allow-non-finite']
    const { code, stdout, stderr } = await run('nan.allowed.safetensors', ...flags)
    expect([code, stderr]).toEqual([0, ''])
    const { weights } = JSON.parse(stdout) as Report
    expect(weights.find(({ name }) => name === 'w')).toMatchObject({
      exact: false,
      sqnr: 'Infinity',
      maxError: 0,
      nan: 1,
      infinite: 2,
      lost: 61,
      firstBad: { matrix: 0, row: 0, column: 40 }
    })
  })

  it('an original of zeros has no SQNR', async () => {
    const zeros = at('zeros.safetensors')
    const ones = at('ones.safetensors')
    writeCheckpoint(zeros, [bf16('w.weight', [1, 64], () => 0)], {})
    writeCheckpoint(at('one.safetensors'), [bf16('w.weight', [1, 64], () => 1)], {})
    await convert(at('one.safetensors'), '--to', 'mxfp8', '--requantise', '--out', ones)
    const { code, stdout } = await runInProcess(['checkpoint', 'error', ones, '--original', zeros])
    expect(code).toBe(0)
    expect(stdout).toContain('no SQNR: the original has no finite value but zeros, max error 1.000')
  })
})

describe('bad input', () => {
  const out = at('refused.safetensors')

  it.each([
    [[original, '--out', out], 'no block-scaled weights to convert'],
    [[original, '--requantise', '--out', out], '--requantise needs --to'],
    [
      [original, '--to', 'mxfp8', '--requantise', '--keep', 'layer,embed', '--out', out],
      'no weights to convert'
    ]
  ])('%j', async (argv, message) => {
    await expect(run('convert', ...argv)).rejects.toThrow(message)
    expect(existsSync(out)).toBe(false)
  })

  it('K without whole blocks, a name twice', async () => {
    const narrow = at('narrow16.safetensors')
    writeCheckpoint(narrow, [bf16('w.weight', [2, 48], wave)], {})
    const nvfp4 = at('narrow16.nvfp4.safetensors')
    await convert(narrow, '--to', 'modelopt-nvfp4', '--requantise', '--out', nvfp4)
    const other = at('other.safetensors')
    const flags = ['--to', 'mxfp8', '--requantise', '--out', other]
    await expect(run('convert', nvfp4, ...flags)).rejects.toThrow(
      '"w" has K=48, which has no whole blocks of 32 for mxfp8'
    )
    const twice = at('twice.safetensors')
    const clash = bf16('w.weight_scale', [3], wave)
    writeCheckpoint(twice, [bf16('w.weight', [2, 64], wave), clash], {})
    await expect(run('convert', twice, ...flags)).rejects.toThrow('would be named "w.weight_scale"')
    expect(existsSync(other)).toBe(false)
  })
})
