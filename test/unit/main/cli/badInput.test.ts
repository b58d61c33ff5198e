import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blockscopeInStore } from './blockscopeInStore'

const { store, blockscope } = blockscopeInStore()

describe('bad input gets one sentence and its exit code', () => {
  const cases: [string, string[], number, RegExp][] = [
    [
      'K off the block',
      ['validate', '--formats', 'mxfp8', '-K', '100'],
      2,
      /K=100 is not a multiple of the scale block size 32 of mxfp8; the nearest is 96/
    ],
    ['unknown format', ['validate', '--formats', 'mxfp5'], 2, /"mxfp5" is no block-scaled format/],
    ['unknown kernel', ['validate', '--kernels', 'warp'], 2, /"warp" is no kernel of cpu/],
    ['no device', ['validate', '--device', 'tpu'], 2, /"tpu" is no device/],
    ['absent device', ['validate', '--device', 'cuda:7'], 3, /There is no device cuda:7 here/],
    ['wrong flag', ['validate', '--fast'], 2, /unknown option '--fast'/],
    ['wrong number', ['validate', '-M', 'many'], 2, /whole number above 0/],
    ['too large', ['validate', '-M', '1000000', '-N', '1000000'], 2, /needs at least .* GiB/],
    ['empty range', ['sweep', '--K-range', '512', '256'], 2, /is empty/],
    ['half a range', ['sweep', '--K-range', '512'], 2, /takes two numbers/],
    [
      'both K',
      ['sweep', '-K', '512', '--K-range', '1', '2'],
      2,
      /-K and --K-range exclude each other/
    ],
    ['unknown command', ['valdate'], 2, /unknown command 'valdate'/],
    ['report type', ['validate', '--report', 'x.pdf'], 2, /must end in one of .html, .json, .xml/],
    [
      'no such file',
      ['validate', '--operands', 'nowhere.safetensors'],
      2,
      /nowhere\.safetensors does not exist/
    ],
    ['no such run', ['runs', 'show', 'nothing'], 2, /There is no run "nothing"/],
    [
      'layout name',
      ['layout', 'map', '--layout', 'spiral', '--rows', '1', '--cols', '1'],
      2,
      /"spiral" is no scale layout/
    ],
    [
      'layout without padding',
      'layout map --layout nvidia_32_4_4 --rows 100 --cols 3 --no-padding'.split(' '),
      2,
      /takes 128 x 4 for 100 x 3/
    ],
    [
      'outside',
      'layout locate --layout linear --rows 2 --cols 2 --row 2 --col 0'.split(' '),
      2,
      /lies outside 2 x 2/
    ],
    ['formats name', ['formats', 'e9m9'], 2, /"e9m9" is no format/],
    ['profile is not JSON', ['view', 'package-lock.txt', '-m', 'time/ms'], 2, /package-lock.txt/]
  ]
  it.each(cases)('%s', async (_name, args, exitCode, words) => {
    const { code, stderr, stdout } = await blockscope(...args)
    expect(stderr).toMatch(words)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(stdout).not.toMatch(/\n\s+at /)
    expect(code).toBe(exitCode)
  })

  const safetensors = async (name: string, header: unknown, data = Buffer.alloc(0)) => {
    const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(json.length))
    const path = join(store, `${name}.safetensors`)
    await writeFile(path, Buffer.concat([length, json, data]))
    return path
  }
  const metadata = { a: 'e4m3', b: 'e4m3', scale: 'e8m0', vec: '32' }
  const tensor = (dtype: string, shape: number[], data_offsets: number[]) => ({
    dtype,
    shape,
    data_offsets
  })

  it.each<[string, unknown, RegExp]>([
    ['not JSON', '{"a": ', /its header is not JSON/],
    ['cut off', { a_codes: tensor('U8', [4, 32], [0, 128]) }, /is cut off: tensor "a_codes"/],
    ['wrong size', { a_codes: tensor('U8', [4, 32], [0, 4]) }, /needs 128 bytes and has 4/],
    ['unknown dtype', { a_codes: tensor('F5', [0], [0, 0]) }, /unknown dtype F5/],
    ['no tensors', { __metadata__: metadata }, /has no tensor "a_codes"/],
    [
      'wrong dtype',
      {
        __metadata__: metadata,
        ...Object.fromEntries(
          ['a_codes', 'b_codes', 'a_scales', 'b_scales'].map((name) => [
            name,
            tensor('F32', [0, 0], [0, 0])
          ])
        )
      },
      /is F32, which holds no codes; U8, or one of F8_E4M3/
    ],
    ['wrong vec', { __metadata__: { ...metadata, vec: '7' } }, /No format has A e4m3/]
  ])('safetensors: %s', async (name, header, words) => {
    const file = await safetensors(name.replace(' ', '-'), header)
    const { code, stderr } = await blockscope('validate', '--operands', file)
    expect(stderr).toMatch(words)
    expect(code).toBe(2)
  })

  it('safetensors: a header that claims 2^60 bytes, and a file of 3 bytes', async () => {
    const huge = join(store, 'huge.safetensors')
    const length = Buffer.alloc(16)
    length.writeBigUInt64LE(2n ** 60n)
    await writeFile(huge, length)
    expect((await blockscope('validate', '--operands', huge)).stderr).toMatch(
      /its header claims \d+ bytes/
    )
    await writeFile(huge, 'abc')
    expect((await blockscope('validate', '--operands', huge)).stderr).toMatch(/it has 3 bytes/)
  })

  it('a .hatchet that is not JSON', async () => {
    const file = join(store, 'broken.hatchet')
    await writeFile(file, '[{"frame": {"name"')
    const { code, stderr } = await blockscope('view', file, '-m', 'time/ms')
    expect(code).toBe(2)
    expect(stderr).toContain('broken.hatchet')
  })

  it('every command has --help', async () => {
    const { stdout } = await blockscope('--help')
    const names = [...stdout.matchAll(/^ {2}(\w+)[ |]/gm)].map((match) => match[1]!)
    expect(names).toEqual(expect.arrayContaining(['devices', 'validate', 'sweep', 'view', 'serve']))
    for (const name of names.filter((candidate) => candidate !== 'help')) {
      const help = await blockscope(name, '--help')
      expect([name, help.code]).toEqual([name, 0])
      expect(help.stdout).toContain('Usage: blockscope')
    }
  })
})
