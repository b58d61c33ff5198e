import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Convention } from '@shared/checkpoints/convention'
import { conventions, findConvention } from '@shared/checkpoints/conventions'
import { register } from '../../../../src-main/cli/checkpoint'
import { localApplication } from '../../../../src-main/cli/localApplication'
import { convertCheckpoint } from '../../../../src-main/jobs/weights/convertCheckpoint'
import { openCheckpoint, withCheckpoint } from '../../../../src-main/store/checkpointFile'
import { ggmlBlocks, nibbles, tensorsOf, type PlainWeight } from '../../../support/quantizerFiles'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { writeGguf } from '../../../support/writeGguf'
import { runCommand } from './runCommand'

const root = mkdtempSync(join(tmpdir(), 'conventions-'))
const run = (...argv: string[]) => runCommand(register, ['checkpoint', ...argv])
const application = localApplication({})
afterAll(() => application.close())

/** A folder of its own: what config.json says holds for the files beside it. */
let folders = 0
const folder = () => mkdtempSync(join(root, `${folders++}-`))

async function convert(from: string, to: string, out: string, requantise = false) {
  const checkpoint = openCheckpoint(from)
  try {
    const request = {
      to: findConvention(to),
      named: {},
      requantise,
      rule: 'floor' as const,
      keep: [],
      onlyConverted: false,
      out,
      force: false
    }
    const work = {
      engine: application.engine,
      signal: new AbortController().signal,
      onProgress: () => {}
    }
    return await convertCheckpoint(checkpoint, request, work)
  } finally {
    checkpoint.close()
  }
}

/** sign, exponent and mantissa bits of a small float without specials, from its definition. */
function small(code: number, exponentBits: number, mantissaBits: number, bias: number): number {
  const sign = code >> (exponentBits + mantissaBits) ? -1 : 1
  const mantissa = code & (2 ** mantissaBits - 1)
  const exponent = (code >> mantissaBits) & (2 ** exponentBits - 1)
  const scale = 2 ** ((exponent || 1) - bias)
  return sign * ((exponent ? 1 : 0) + mantissa / 2 ** mantissaBits) * scale
}

const valueOf: Record<string, (code: number) => number> = {
  e2m1: (code) => small(code, 2, 1, 1),
  e2m3: (code) => small(code, 2, 3, 1),
  e3m2: (code) => small(code, 3, 2, 3),
  e4m3: (code) => small(code, 4, 3, 7),
  e5m2: (code) => small(code, 5, 2, 15),
  ue4m3: (code) => small(code, 4, 3, 7),
  e8m0: (code) => 2 ** (code - 127)
}

const tensorScale = 0.25
/** Between conventions of which one has none, a scale for the whole tensor can only be 1. */
const wholeScale = (name: string) => (name === 'fp-quant-mxfp4' ? 1 : tensorScale)
const hasTensorScale = (name: string) =>
  /modelopt|torchao-nvfp4|fp-quant|nunchaku|te-nvfp4/.test(name)
const withExperts = (name: string) => /gpt-oss|modelopt|torchao|quark-mxfp4|mlx/.test(name)

/** Codes of all kinds; rows that fill no tile but where the convention takes whole ones only. */
function plainWeight({ name, element, scale, scaleBlockSize }: Convention): PlainWeight {
  const leading = withExperts(name) ? [2] : []
  const rows = name.startsWith('nunchaku') ? 256 : name === 'torchao-nvfp4' ? 128 : 40
  const k = 128
  const count = leading.reduce((product, extent) => product * extent, rows * k)
  const codes = 2 ** element.storageBits
  // Without NaN and infinities of 8 bits.
  const code = (i: number) =>
    codes > 64 ? ((i * 29) % 120) + ((i & 64) << 1) : (i * 37 + (i >> 4)) % codes
  const bias = scale.name === 'e8m0' ? 120 : 0x38
  const perExpert = /experts|torchao-nvfp4/.test(name)
  return {
    leading,
    rows,
    k,
    codes: Uint8Array.from({ length: count }, (_, i) => code(i)),
    scales: Uint8Array.from({ length: count / scaleBlockSize }, (_, i) => bias + ((i * i) % 11)),
    tensorScales: perExpert ? [tensorScale, tensorScale / 2] : [wholeScale(name)]
  }
}

/** JSON knows no -0. */
function valueAt(convention: Convention, weight: PlainWeight, matrix: number, at: number): number {
  const { codes, scales, tensorScales, rows, k } = weight
  const index = matrix * rows * k + at
  const scale = scales[Math.floor(index / convention.scaleBlockSize)]!
  const whole = hasTensorScale(convention.name) ? (tensorScales[matrix] ?? tensorScales[0]!) : 1
  return (
    valueOf[convention.element.name]!(codes[index]!) *
      valueOf[convention.scale.name]!(scale) *
      whole +
    0
  )
}

/** What describes the weight in the file or beside it, where its tensors do not. */
function describe6(path: string, { name, hint, described, element }: Convention): void {
  if (!hint && !described) return
  const inMx = element.storageBits === 4 ? 'fp4' : `fp6_${element.name}`
  const weight = name.startsWith('quark-mx-')
    ? { dtype: 'mx', mx_element_dtype: inMx }
    : { dtype: hint }
  const config = { quantization_config: { global_quant_config: { weight } } }
  writeFileSync(join(path, 'config.json'), JSON.stringify(config))
}

const swizzled = {
  'layer.weight': '{"_type": "NVFP4Tensor", "_data": {"is_swizzled_scales": true}}'
}

/** A convention of the same format to go through. */
const between: Record<string, string> = {
  'e2m1 e8m0': 'gpt-oss',
  'e2m1 ue4m3': 'modelopt-nvfp4',
  'e4m3 e8m0': 'mxfp8',
  'e5m2 e8m0': 'torchao-mxfp8-e5m2',
  'e2m3 e8m0': 'torchao-mxfp6-e2m3',
  'e3m2 e8m0': 'torchao-mxfp6-e3m2'
}

function expectTensors(path: string, tensors: readonly TensorBytes[]): void {
  withCheckpoint(path, (found) => {
    expect([...found.tensors.keys()].sort()).toEqual(tensors.map(({ name }) => name).sort())
    for (const { name, dtype, shape, bytes } of tensors) {
      const entry = found.tensors.get(name)!
      expect([name, entry.dtype, entry.shape]).toEqual([name, dtype, shape])
      expect(Buffer.compare(found.read(entry, 0, entry.end - entry.start), bytes)).toBe(0)
    }
  })
}

async function sliced(path: string, matrix: number, row: number, k: number): Promise<number[]> {
  const where = `--tensor layer --matrix ${matrix} --row ${row} --rows 1 --cols ${k} --json`
  const { stdout } = await run('slice', path, ...where.split(' '))
  return (JSON.parse(stdout) as { values: number[] }).values
}

const written = conventions.filter(
  ({ name, readOnly }) =>
    !readOnly && !/^(gpt-oss|compressed-tensors-.*|modelopt-nvfp4|mxfp8)$/.test(name)
)

describe.each(written.map((one) => [one.name, one] as const))('%s', (name, convention) => {
  const home = folder()
  const file = join(home, 'model.safetensors')
  const weight = plainWeight(convention)
  const tensors = tensorsOf(name, weight)
  describe6(home, convention)
  writeCheckpoint(file, tensors, name === 'torchao-nvfp4' ? swizzled : {})
  const matrix = weight.leading.length > 0 ? 1 : 0

  it('is recognised, and a row of it has the values of its definition', async () => {
    const { weights } = JSON.parse((await run('list', file, '--json')).stdout) as {
      weights: { name: string; convention: string; shape: number[] }[]
    }
    const shape = [...weight.leading, weight.rows, weight.k]
    expect(weights).toMatchObject([{ name: 'layer', convention: name, shape }])
    expect(await sliced(file, matrix, 37, weight.k)).toEqual(
      Array.from({ length: weight.k }, (_, i) =>
        valueAt(convention, weight, matrix, 37 * weight.k + i)
      )
    )
  })

  it('goes to another convention and back byte for byte, every value the same', async () => {
    const { element, scale } = convention
    const via = between[`${element.name} ${scale.name}`]!
    if (via === name) return
    const there = join(home, 'there.safetensors')
    const back = join(home, 'back.safetensors')
    const first = await convert(file, via, there)
    expect(first.weights).toMatchObject([{ name: 'layer', from: name, loss: { exact: true } }])
    expect(await sliced(there, matrix, 5, weight.k)).toEqual(
      await sliced(file, matrix, 5, weight.k)
    )
    const second = await convert(there, name, back)
    expect(second.weights).toMatchObject([{ to: name, loss: { exact: true } }])
    const expected = tensors.map((tensor) => asWritten(tensor, name))
    expectTensors(back, expected)
  })
})

it('a scale for the whole tensor is not lost in a convention that has none', async () => {
  const home = folder()
  const file = join(home, 'model.safetensors')
  const plain = plainWeight(findConvention('fp-quant-mxfp4'))
  writeCheckpoint(file, tensorsOf('fp-quant-mxfp4', { ...plain, tensorScales: [0.25] }))
  await expect(convert(file, 'gpt-oss', join(home, 'out.safetensors'))).rejects.toThrow(
    '"layer" has a scale for the whole tensor, 0.25, and gpt-oss has none'
  )
})

/** What differs by intent: scales are written linear, and a scale for the whole tensor in float32. */
function asWritten(tensor: TensorBytes, convention: string): TensorBytes {
  const weight = plainWeight(findConvention(convention))
  if (convention === 'torchao-nvfp4' && tensor.name.endsWith('_weight_scale')) {
    const { leading, rows, k, scales } = weight
    return { ...tensor, shape: [...leading, rows, k / 16], bytes: scales }
  }
  if (convention.startsWith('fp-quant') && tensor.name.endsWith('global_scale')) {
    const bytes = new Uint8Array(Float32Array.of(1 / wholeScale(convention)).buffer)
    return { ...tensor, dtype: 'F32', bytes }
  }
  // Through torchao, whose files say F8_E8M0.
  if (convention.startsWith('quark-mxfp6') && tensor.name.endsWith('_scale')) {
    return { ...tensor, dtype: 'F8_E8M0' }
  }
  return tensor
}

describe.each([
  ['gguf-mxfp4', 39, 32, 1, 'gpt-oss'],
  ['gguf-nvfp4', 40, 16, 4, 'modelopt-nvfp4']
] as const)('%s', (name, type, block, together, via) => {
  const home = folder()
  const file = join(home, 'model.gguf')
  const convention = findConvention(name)
  const weight = { ...plainWeight(convention), leading: [], ...onlyFirst(plainWeight(convention)) }
  const scale = { name: 'layer.scale', shape: [1], type: 0, bytes: floats([tensorScale]) }
  const rest = { name: 'norm.weight', shape: [8], type: 0, bytes: floats([1, 2, 3, 4, 5, 6, 7, 8]) }
  const blocks = {
    name: 'layer.weight',
    shape: [weight.rows, weight.k],
    type,
    bytes: ggmlBlocks(weight, block, together)
  }
  writeGguf(file, [rest, blocks, ...(together === 4 ? [scale] : [])])
  const factor = together === 4 ? tensorScale : 1

  it('is recognised, sliced, and becomes codes and scales of another convention', async () => {
    expect((await run('list', file)).stdout).toContain(`layer  [40, 128]  ${name}, scales linear`)
    const values = await sliced(file, 0, 37, weight.k)
    const expected = Array.from(
      { length: weight.k },
      (_, i) => valueAt(convention, weight, 0, 37 * weight.k + i) * factor
    )
    expect(values).toEqual(expected)
    const out = join(home, 'out.safetensors')
    const done = await convert(file, via, out)
    expect(done).toMatchObject({ copied: 1, weights: [{ from: name, loss: { exact: true } }] })
    withCheckpoint(out, ({ tensors, read }) => {
      const bytes = (tensor: string) => {
        const entry = tensors.get(tensor)!
        return Buffer.from(read(entry, 0, entry.end - entry.start))
      }
      const [codes, scales] =
        together === 4 ? ['layer.weight', 'layer.weight_scale'] : ['layer_blocks', 'layer_scales']
      expect(bytes(codes)).toEqual(Buffer.from(nibbles(weight.codes)))
      expect(bytes(scales)).toEqual(Buffer.from(weight.scales))
      expect(bytes('norm.weight')).toEqual(Buffer.from(rest.bytes))
    })
    await expect(convert(file, name, join(home, 'no.gguf'))).rejects.toThrow(
      'is read and not written'
    )
  })

  it('is requantised like any other weight', async () => {
    const out = join(home, 'mxfp8.safetensors')
    const done = await convert(file, 'mxfp8', out, true)
    expect(done.weights[0]!.to).toBe('mxfp8')
    if (together === 1) expect(done.weights[0]!.loss.exact).toBe(true)
    const [a, b] = [await sliced(file, 0, 11, 128), await sliced(out, 0, 11, 128)]
    a.forEach((value, i) =>
      expect(Math.abs(b[i]! - value)).toBeLessThanOrEqual(Math.abs(value) / 15 + 1e-6)
    )
  })
})

function onlyFirst({ codes, scales, rows, k }: PlainWeight) {
  const count = rows * k
  return {
    codes: codes.subarray(0, count),
    scales: scales.subarray(0, (count * scales.length) / codes.length)
  }
}

function floats(values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer)
}

describe('real numbers into conventions of another order', () => {
  it.each(['nunchaku-nvfp4', 'quark-mxfp6-e3m2', 'modelopt-bmm-nvfp4', 'te-nvfp4', 'mlx-nvfp4'])(
    '%s has the values that modelopt-nvfp4 or torchao has',
    async (name) => {
      const home = folder()
      const file = join(home, 'real.safetensors')
      describe6(home, findConvention(name))
      const [rows, k] = [128, 128]
      const values = Float32Array.from(
        { length: rows * k },
        (_, i) => Math.sin(i * 12.9898) * (1 + (i % 7))
      )
      const bytes = new Uint8Array(values.buffer)
      writeCheckpoint(file, [{ name: 'layer.weight', dtype: 'F32', shape: [rows, k], bytes }])
      const out = join(home, 'out.safetensors')
      const plain = join(home, 'plain.safetensors')
      const done = await convert(file, name, out, true)
      const same =
        findConvention(name).scale.name === 'e8m0' ? 'torchao-mxfp6-e3m2' : 'modelopt-nvfp4'
      const reference = await convert(file, same, plain, true)
      // MLX has no scale for the whole tensor: its blocks take other scales.
      if (name === 'mlx-nvfp4') return expect(done.weights[0]!.loss.sqnr).toBeGreaterThan(18)
      expect(done.weights[0]!.loss.sqnr).toBeCloseTo(reference.weights[0]!.loss.sqnr!, 4)
      const [a, b] = [await sliced(out, 0, 77, k), await sliced(plain, 0, 77, k)]
      a.forEach((value, i) => expect(value).toBeCloseTo(b[i]!, 5))
    }
  )
})
