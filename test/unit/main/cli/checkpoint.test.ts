import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Convention } from '@shared/checkpoints/convention'
import { findConvention } from '@shared/checkpoints/conventions'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { register } from '../../../../src-main/cli/checkpoint'
import { openCheckpoint } from '../../../../src-main/store/checkpointFile'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'checkpoint-'))
const at = (name: string) => join(folder, name)
const run = (...argv: string[]) => runCommand(register, ['checkpoint', ...argv])

function tensor(name: string, dtype: string, shape: number[], bytes: Uint8Array): TensorBytes {
  return { name, dtype, shape, bytes }
}

const leading = [2]
const rows = 40
const k = 96
/** Any byte for codes; scales near one, so that none is NaN. */
const bytes = (length: number, f: (i: number) => number) =>
  Uint8Array.from({ length }, (_, i) => f(i))

function synthetic(convention: Convention, prefix = 'layer.0'): TensorBytes[] {
  const { element, scale, scaleBlockSize, codesShape } = convention
  const count = 2 * rows
  const perRow = (k * element.storageBits) / 8
  const columns = k / scaleBlockSize
  const codeByte = (i: number) => (element.storageBits === 4 ? (i * 37) & 255 : (i * 5) % 120)
  const bias = scale.name === 'e8m0' ? 120 : 0x38
  const shape = codesShape === 'blocks' ? [columns, perRow / columns] : [perRow]
  const list = [
    tensor(
      prefix + convention.codesSuffix,
      convention.codesDtypes[0]!,
      [...leading, rows, ...shape],
      bytes(count * perRow, codeByte)
    ),
    tensor(
      prefix + convention.scalesSuffix!,
      convention.scalesDtypes[0]!,
      [...leading, rows, columns],
      bytes(count * columns, (i) => bias + ((i * i) % 11))
    )
  ]
  if (convention.tensorScaleSuffix) {
    const quarter = new Uint8Array(Float32Array.of(0.25).buffer)
    list.push(tensor(prefix + convention.tensorScaleSuffix, 'F32', [1], quarter))
  }
  return list
}

function write(name: string, tensors: TensorBytes[]): string {
  writeCheckpoint(at(name), tensors, {})
  return at(name)
}

/** Those that name a format of their own; the others are in checkpointConventions.test.ts. */
const conventions = [
  'gpt-oss',
  'compressed-tensors-nvfp4',
  'compressed-tensors-mxfp4',
  'modelopt-nvfp4',
  'mxfp8'
].map(findConvention)

describe.each(conventions.map((one) => [one.name, one] as const))('%s', (name, convention) => {
  const file = write(`${name}.safetensors`, synthetic(convention))

  it('is listed and sliced: values by hand', async () => {
    const listed = JSON.parse((await run('list', file, '--json')).stdout) as { weights: object[] }
    expect(listed.weights).toEqual([
      { name: 'layer.0', convention: name, shape: [2, rows, k], scaleLayout: 'linear' }
    ])
    const flags = '--tensor layer.0 --matrix 1 --row 3 --rows 1 --col 33 --cols 1 --json'.split(' ')
    const { values } = JSON.parse((await run('slice', file, ...flags)).stdout) as {
      values: number[]
    }
    expect(values).toEqual([expectedAt(convention, rows + 3, 33)])
    expect((await run('slice', file, '--tensor', 'layer.0')).stdout).toContain('rows 0 to 4')
  })

  it('gives the scales and codes of one matrix as files that layout commands read', async () => {
    const packed = at(`${name}.one.safetensors`)
    await run('convert', file, '--scale-layout', 'nvidia_32_4_4', '--out', packed)
    const [scales, codes] = [at(`${name}.scales`), at(`${name}.codes`)]
    const flags = ['--tensor', 'layer.0', '--matrix', '1', '--rows', '1']
    const { stdout } = await run(
      'slice',
      packed,
      ...flags,
      '--scales-out',
      scales,
      '--codes-out',
      codes
    )
    expect(stdout).toContain('bytes, scales in layout nvidia_32_4_4')
    const [codeBytes, scaleBytes] = synthetic(convention).map(({ bytes }) =>
      bytes.subarray(bytes.length / 2)
    )
    expect(new Uint8Array(readFileSync(codes))).toEqual(codeBytes)
    const shape = { rows, columns: k / convention.scaleBlockSize }
    expect(new Uint8Array(readFileSync(scales))).toEqual(
      packScales(findLayout('nvidia_32_4_4'), shape, scaleBytes!)
    )
    await expect(run('slice', packed, ...flags, '--scales-out', scales)).rejects.toThrow('exists')
  })

  it('goes to a swizzled scale layout and back byte-equal, and slices the same', async () => {
    const packed = at(`${name}.packed.safetensors`)
    const back = at(`${name}.back.safetensors`)
    await run('convert', file, '--scale-layout', 'nvidia_32_4_4', '--out', packed)
    await run('convert', packed, '--out', back)
    const slice = '--tensor layer.0 --matrix 1 --rows 40 --cols 96 --json'.split(' ')
    expect((await run('slice', packed, ...slice)).stdout).toBe(
      (await run('slice', file, ...slice)).stdout
    )
    expectSameTensors(file, back)
  })
})

/** element * scale * tensor scale from the generators above, without the reader's code. */
function expectedAt(convention: Convention, row: number, column: number): number {
  const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
  const scaleIndex =
    row * (k / convention.scaleBlockSize) + Math.floor(column / convention.scaleBlockSize)
  const step = (scaleIndex * scaleIndex) % 11
  const scale = convention.scale.name === 'e8m0' ? 2 ** (120 + step - 127) : e4m3(0x38 + step)
  if (convention.element.storageBits === 8) return e4m3(((row * k + column) * 5) % 120) * scale
  const byte = (((row * k + column) >> 1) * 37) & 255
  const code = column % 2 ? byte >> 4 : byte & 15
  const factor = { multiply: 0.25, divide: 4, amax: NaN, none: 1 }[
    convention.tensorScaleUse ?? 'none'
  ]
  return (code & 8 ? -1 : 1) * e2m1[code & 7]! * scale * factor
}

function e4m3(code: number): number {
  const exponent = code >> 3
  return exponent === 0 ? (code & 7) * 2 ** -9 : (1 + (code & 7) / 8) * 2 ** (exponent - 7)
}

function expectSameTensors(first: string, second: string): void {
  const [a, b] = [openCheckpoint(first), openCheckpoint(second)]
  expect([...b.tensors.keys()].sort()).toEqual([...a.tensors.keys()].sort())
  for (const [name, entry] of a.tensors) {
    const other = b.tensors.get(name)!
    expect([other.dtype, other.shape]).toEqual([entry.dtype, entry.shape])
    expect(b.read(other, 0, other.end - other.start)).toEqual(
      a.read(entry, 0, entry.end - entry.start)
    )
  }
  a.close()
  b.close()
}

describe('between conventions', () => {
  it.each([
    ['gpt-oss', 'compressed-tensors-mxfp4'],
    ['modelopt-nvfp4', 'compressed-tensors-nvfp4']
  ])('%s to %s and back is byte-equal', async (from, to) => {
    const file = write(`${from}.from.safetensors`, synthetic(findConvention(from)))
    const there = at(`${from}.there.safetensors`)
    const back = at(`${from}.again.safetensors`)
    await run('convert', file, '--to', to, '--out', there)
    await run('convert', there, '--to', from, '--out', back)
    expectSameTensors(file, back)
    const slice = '--tensor layer.0 --rows 40 --cols 96 --json'.split(' ')
    expect((await run('slice', there, ...slice)).stdout).toBe(
      (await run('slice', file, ...slice)).stdout
    )
  })

  it('refuses another format, an existing file, an unknown convention', async () => {
    const file = write('refuse.safetensors', synthetic(findConvention('gpt-oss')))
    const out = at('refused.safetensors')
    await expect(run('convert', file, '--to', 'mxfp8', '--out', out)).rejects.toThrow(
      'choose a convention of the same format'
    )
    expect(existsSync(out)).toBe(false)
    await expect(run('convert', file, '--out', file)).rejects.toThrow('exists; choose another name')
    await expect(run('convert', file, '--to', 'awq', '--out', out)).rejects.toThrow(
      '"awq" is no checkpoint convention'
    )
  })
})

describe('shards', () => {
  it('an index opens all its files', async () => {
    write('s1.safetensors', synthetic(findConvention('gpt-oss'), 'a'))
    write('s2.safetensors', synthetic(findConvention('mxfp8'), 'b'))
    const index = at('model.safetensors.index.json')
    const map = {
      a_blocks: 's1.safetensors',
      a_scales: 's1.safetensors',
      'b.weight': 's2.safetensors'
    }
    writeFileSync(index, JSON.stringify({ weight_map: map }))
    expect((await run('list', index)).stdout).toContain('4 tensors')
    expect((await run('slice', index, '--tensor', 'b')).stdout).toContain('b: rows 0 to 4')
  })

  it.each([
    [{ weight_map: { a: '../s1.safetensors' } }, 'outside its own folder'],
    [{ weight_map: { a: '/etc/passwd' } }, 'outside its own folder'],
    [{ weight_map: { a: '..\\\\s1.safetensors' } }, 'outside its own folder'],
    [{ weight_map: { absent: 's1.safetensors' } }, 'places tensor "absent" in s1.safetensors'],
    [{ weight_map: { a: 'none.safetensors' } }, 'none.safetensors does not exist'],
    [{}, 'has no weight_map']
  ])('refuses %j', async (content, message) => {
    const index = at('bad.index.json')
    writeFileSync(index, JSON.stringify(content))
    await expect(run('list', index)).rejects.toThrow(message)
  })
})

describe('bad input', () => {
  const file = write('bad.safetensors', synthetic(findConvention('modelopt-nvfp4')))

  it.each([
    [['--tensor', 'none'], 'no block-scaled weight "none". It has layer.0'],
    [
      ['--tensor', 'layer.0', '--row', '40'],
      'Row 40 to 40 lies outside "layer.0", which has 0 to 40'
    ],
    [['--tensor', 'layer.0', '--matrix', '2'], 'Matrix 2 to 3 lies outside'],
    [['--tensor', 'layer.0', '--col', '96'], 'Column 96 to 96 lies outside']
  ])('slice %j', async (flags, message) => {
    await expect(run('slice', file, ...flags)).rejects.toThrow(message)
  })

  it('a scale tensor of another shape, a tensor scale of another type, a truncated file', async () => {
    const [codes, scales, global] = synthetic(findConvention('modelopt-nvfp4'))
    const wrong = write('wrong.safetensors', [codes!, { ...scales!, shape: [80, 6] }, global!])
    await expect(run('list', wrong)).rejects.toThrow('needs [2, 40, 6] in layout linear')
    const half = { ...global!, dtype: 'F16', shape: [3], bytes: new Uint8Array(6) }
    await expect(run('list', write('half.safetensors', [codes!, scales!, half]))).rejects.toThrow(
      'one F32 or one a matrix (2) is needed'
    )
    const cut = write('cut.safetensors', synthetic(findConvention('gpt-oss')))
    truncateSync(cut, readFileSync(cut).length - 1)
    await expect(run('list', cut)).rejects.toThrow('it is cut off')
  })
})

/** A file of this header and this many bytes after it; zeros that take no room on disk. */
function writeSparse(name: string, header: object | string, dataBytes: number): string {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  writeFileSync(at(name), Buffer.concat([length, json]))
  truncateSync(at(name), 8 + json.length + dataBytes)
  return at(name)
}

describe('hostile files are refused in one sentence', () => {
  const u8 = (from: number, to: number) => ({
    dtype: 'U8',
    shape: [to - from],
    data_offsets: [from, to]
  })

  it.each([
    ['overlap', { a: u8(0, 8), b: u8(4, 12) }, 12, '"a" and "b" overlap'],
    ['dtype', { a: { ...u8(0, 8), dtype: 'F5' } }, 8, 'unknown dtype F5'],
    ['range', { a: u8(0, 80) }, 8, 'cut off'],
    ['json', '{"a":', 8, 'not JSON']
  ])('%s', async (name, header, dataBytes, message) => {
    const file = writeSparse(`hostile.${name}.safetensors`, header, dataBytes)
    for (const command of [
      ['list', file],
      ['slice', file, '--tensor', 'a'],
      ['convert', file, '--out', at('never.safetensors')]
    ]) {
      await expect(run(...command)).rejects.toThrow(message)
    }
    expect(existsSync(at('never.safetensors'))).toBe(false)
  })

  it('a header of 2^60 bytes, an empty file, a folder, a missing file', async () => {
    const huge = Buffer.alloc(64)
    huge.writeBigUInt64LE(1n << 60n)
    writeFileSync(at('huge.safetensors'), huge)
    await expect(run('list', at('huge.safetensors'))).rejects.toThrow('at most 100000000')
    writeFileSync(at('empty.safetensors'), '')
    await expect(run('list', at('empty.safetensors'))).rejects.toThrow('0 bytes')
    await expect(run('list', folder)).rejects.toThrow('is no file')
    await expect(run('list', at('missing.safetensors'))).rejects.toThrow(
      'missing.safetensors does not exist'
    )
  })
})

it.skipIf(process.platform === 'win32')(
  'a file of 62 GB opens at once and is sliced by position, in little memory',
  async () => {
    const [rowCount, columns] = [2 ** 20, 57_344]
    const codes = rowCount * columns
    const header = {
      'w.weight': { dtype: 'F8_E4M3', shape: [rowCount, columns], data_offsets: [0, codes] },
      'w.weight_scale': {
        dtype: 'U8',
        shape: [rowCount, columns / 32],
        data_offsets: [codes, codes + codes / 32]
      }
    }
    const file = writeSparse('large.safetensors', header, codes + codes / 32)
    const before = process.memoryUsage().rss
    const started = performance.now()
    const { stdout } = await run('list', file)
    expect(performance.now() - started).toBeLessThan(1000)
    expect(stdout).toContain('w  [1048576, 57344]  mxfp8')
    const last = '--tensor w --row 1048575 --rows 1 --col 57342 --cols 2 --json'.split(' ')
    const { values } = JSON.parse((await run('slice', file, ...last)).stdout) as {
      values: number[]
    }
    expect(values).toEqual([0, 0])
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20)
    rmSync(file)
  }
)
