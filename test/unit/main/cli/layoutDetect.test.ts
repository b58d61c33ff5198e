import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { packFp4 } from '@shared/formats/pack'
import { findElementPacking, packElements } from '@shared/layouts/elementPacking'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import { mistakenMap } from '@shared/layouts/detectCandidates'
import { packScales, type ScaleShape } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'layout-detect-'))
const save = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
/** A verdict other than a layout sets the exit code of this process; it must not become that of the tests. */
const detect = async (...argv: string[]) => {
  process.exitCode = undefined
  const { stdout } = await runCommand(register, ['layout', 'detect', ...argv])
  return { stdout, code: process.exitCode ?? 0 }
}
afterEach(() => {
  process.exitCode = undefined
})
const nvidia = findLayout('nvidia_32_4_4')
const mistaken = (shape: ScaleShape, linear: Uint8Array) =>
  Uint8Array.from(mistakenMap(nvidia, shape, 'row-order')!, (index) => linear[index] ?? 0)

describe('by the linear scales', () => {
  const shape = { rows: 200, columns: 12 }
  const scales = Uint8Array.from({ length: 2400 }, (_, i) => 120 + ((i * i) % 13))
  const packed = packScales(nvidia, shape, scales)
  const linear = ['--linear', save('linear.bin', scales), '--rows', '200', '--cols', '12']

  it('names the layout', async () => {
    const file = save('right.bin', packed)
    const { stdout, code } = await detect('--packed', file, ...linear)
    expect(stdout).toMatch(/^nvidia_32_4_4: all 200 x 12 scales lie where it puts them\.\n/)
    expect(code).toBe(0)
    const json = await detect('--packed', file, ...linear, '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'layout', expectedBytes: 3072 })
  })

  it('names a mistake, and where the bytes differ from the layout', async () => {
    const file = save('mistaken.bin', mistaken(shape, scales))
    const { stdout, code } = await detect('--packed', file, ...linear)
    expect(stdout).toContain('nvidia_32_4_4 with a mistake: the row digits within a tile')
    expect(stdout).toContain('First difference from nvidia_32_4_4: byte ')
    expect(code).toBe(1)
  })

  it('names the nearest for damaged bytes', async () => {
    const damaged = packed.slice()
    damaged[0]! ^= 1
    const { stdout, code } = await detect('--packed', save('damaged.bin', damaged), ...linear)
    expect(stdout).toContain('The nearest is nvidia_32_4_4: 99.96 % of 200 x 12 scales agree.')
    expect(stdout).toContain('byte 0, scale of row 0, column 0: expected 120, found 121')
    expect(code).toBe(1)
  })

  it('says how many bytes the nearest takes when the number differs', async () => {
    const short = save('short.bin', packed.subarray(0, 3000))
    const { stdout } = await detect('--packed', short, ...linear)
    expect(stdout).toContain('It takes 3072 bytes; there are 3000.')
  })

  it('tries a layout file besides', async () => {
    const own = { name: 'own', rows: 'r:0', columns: 'tile:0 c:3', order: 'tile r c' }
    const file = save('own.json', JSON.stringify(own))
    const bytes = save('own.bin', Uint8Array.of(0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11))
    const counted = save(
      'counted.bin',
      Uint8Array.from({ length: 12 }, (_, i) => i)
    )
    const flags = ['--linear', counted, '--rows', '2', '--cols', '6', '--layout-file', file]
    expect((await detect('--packed', bytes, ...flags)).stdout).toContain('own: all 2 x 6 scales')
  })

  it('refuses what it cannot judge', async () => {
    const file = save('right.bin', packed)
    const none = join(folder, 'none.bin')
    await expect(detect('--packed', none, ...linear)).rejects.toThrow('none.bin does not exist')
    await expect(detect('--packed', file, ...linear.slice(0, 2))).rejects.toThrow(
      '--linear also needs --rows (or --groups) and --cols.'
    )
    await expect(detect('--packed', file)).rejects.toThrow('Name what to judge by')
    await expect(detect('--packed', file, ...linear, '--side', 'a')).rejects.toThrow(
      '--linear and --side exclude each other'
    )
    const small = ['--linear', linear[1]!, '--rows', '3', '--cols', '3']
    await expect(detect('--packed', file, ...small)).rejects.toThrow(
      'The linear scales have 2400 bytes; 3 x 3 needs 9.'
    )
  })
})

describe('by operands and their product', () => {
  const golden = 'test/fixtures/golden/gemm_nvfp4_128x256x512.safetensors'
  const file = readFileSync(golden)
  const { tensors } = parseSafetensorsHeader(file, file.length, golden)
  const take = (name: string) => {
    const { start, end } = tensors.get(name)!
    return Uint8Array.from(file.subarray(start, end))
  }
  const shape = { rows: 256, columns: 32 }
  const linear = take('b_scales')
  const packed = save('packed.bin', packScales(nvidia, shape, linear))
  const wrong = save('wrong.bin', mistaken(shape, linear))
  const product = new Float64Array(take('c_f64').buffer)
  const raw = {
    '--side': 'b',
    '--format': 'nvfp4',
    '-M': '128',
    '-N': '256',
    '-K': '512',
    '--a': save('a.bin', take('a_codes')),
    '--b': save('b.bin', packFp4(take('b_codes'))),
    '--other-scales': save('a_scales.bin', take('a_scales')),
    '--product': save('c.bin', new Uint8Array(Float32Array.from(product).buffer))
  }
  const flagsOf = (flags: Record<string, string>) => Object.entries(flags).flat()

  it('names the layout from a .safetensors file', async () => {
    const { stdout, code } = await detect('--packed', packed, '--operands', golden, '--side', 'b')
    expect(stdout).toMatch(/^nvidia_32_4_4: it gives the product of all 256 rows of B\.\n/)
    expect(code).toBe(0)
  })

  it('reads packed and one-per-byte codes, and a float32 product, from raw files', async () => {
    const { stdout } = await detect('--packed', packed, ...flagsOf(raw), '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ verdict: 'layout', layout: 'nvidia_32_4_4', testedRows: 256, agreeingRows: 256 },
      alike: [{ layout: 'triton_blackwell' }]
    })
  })

  it('reads codes in the order that is named; in another the product is not explained', async () => {
    const highFirst = packElements(findElementPacking('fp4_high_first'), take('b_codes'))
    const other = { ...raw, '--b': save('b_high.bin', highFirst) }
    const named = [...flagsOf(other), '--packing', 'fp4_high_first']
    const { stdout, code } = await detect('--packed', packed, ...named)
    expect(stdout).toContain('nvidia_32_4_4: it gives the product of all 256 rows of B.')
    expect(code).toBe(0)
    const unnamed = await detect('--packed', packed, ...flagsOf(other))
    expect(unnamed.stdout).toContain('No known layout gives this product.')
    expect(unnamed.code).toBe(1)
  })

  it('takes a file without the scales that are looked for, with packed codes and c_f32', async () => {
    const path = save(
      'operands.safetensors',
      safetensors({ a: 'e2m1', b: 'e2m1', scale: 'e4m3', vec: '16' }, [
        ['a_codes', 'U8', [128, 256], packFp4(take('a_codes'))],
        ['b_codes', 'U8', [256, 512], take('b_codes')],
        ['a_scales', 'U8', [128, 32], take('a_scales')],
        ['c_f32', 'F32', [128, 256], new Uint8Array(Float32Array.from(product).buffer)]
      ])
    )
    const { stdout } = await detect('--packed', packed, '--operands', path, '--side', 'b')
    expect(stdout).toContain('nvidia_32_4_4: it gives the product')
    await expect(detect('--packed', packed, '--operands', path, '--side', 'a')).rejects.toThrow(
      'has no tensor "b_scales"'
    )
  })

  it('names a mistake and the first byte that differs', async () => {
    const { stdout, code } = await detect('--packed', wrong, ...flagsOf(raw))
    expect(stdout).toContain('nvidia_32_4_4 with a mistake: the row digits within a tile')
    expect(stdout).toMatch(/First difference from nvidia_32_4_4: byte \d+, scale of row \d+/)
    expect(code).toBe(1)
  })

  it('names the nearest, and the scale that the product asks for', async () => {
    const damaged = packScales(nvidia, shape, linear)
    damaged[1000]! ^= 8
    const { stdout, code } = await detect(
      ...['--packed', save('damaged.bin', damaged)],
      ...['--operands', golden, '--side', 'b']
    )
    expect(stdout).toMatch(
      /The nearest is nvidia_32_4_4: 255 of 256 rows of B agree, relative error/
    )
    expect(stdout).toContain(`: expected ${damaged[1000]! ^ 8}, found ${damaged[1000]}.`)
    expect(stdout).toContain('First difference from nvidia_32_4_4: byte 1000,')
    expect(code).toBe(1)
  })

  it.each([
    [{ '--side': 'c' }, "'c' is invalid. Allowed choices are a, b."],
    [{ '--format': 'fp3' }, '"fp3" is no block-scaled format'],
    [{ '-K': '500' }, 'K=500 is not a multiple'],
    [{ '-K': '1024' }, '262144 codes of e2m1 take 262144, or 131072 packed as fp4_low_first.'],
    [{ '--product': raw['--a'] }, 'as float64 or 131072 as float32.'],
    [{ '--other-scales': raw['--a'] }, 'The scales of A: 65536 values; M x K / V needs 4096.'],
    [{ '--a': join(folder, 'none.bin') }, 'none.bin does not exist']
  ])('refuses %j', async (change, message) => {
    const flags = flagsOf({ ...raw, ...change })
    await expect(detect('--packed', packed, ...flags)).rejects.toThrow(message)
  })

  it('says which flags are missing', async () => {
    const flags = ['--side', 'a', '--format', 'nvfp4', '-M', '128', '--a', raw['--a']]
    await expect(detect('--packed', packed, ...flags)).rejects.toThrow(
      'Operands as raw files also need -N, -K, --b, --other-scales, --product; or name one file'
    )
  })
})

type Tensor = [name: string, dtype: string, shape: number[], bytes: Uint8Array]

function safetensors(metadata: Record<string, string>, tensors: Tensor[]): Uint8Array {
  let at = 0
  const entries = tensors.map(([name, dtype, shape, { length }]) => [
    name,
    { dtype, shape, data_offsets: [at, (at += length)] }
  ])
  const header = Buffer.from(
    JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) })
  )
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, ...tensors.map(([, , , bytes]) => bytes)])
}
