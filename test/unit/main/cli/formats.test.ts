import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/formats'
import { tensorsOf } from '../../../support/quantizerFiles'
import { writeCheckpoint } from '../../../support/writeCheckpoint'
import { runCommand } from './runCommand'

const run = (...argv: string[]) => runCommand(register, ['formats', ...argv])

it('the overview has every limit of the OCP table', async () => {
  const { stdout } = await run()
  expect(stdout).toMatch(/e4m3 +1\/4\/3 +7 +448 +0.015625 +0.001953125 +NaN/)
  expect(stdout).toMatch(/nvfp4 +e2m1 +e2m1 +ue4m3 +16 +4.5, 4.5/)
  const json = JSON.parse((await run('--json')).stdout) as { numberFormats: { name: string }[] }
  expect(json.numberFormats.map((f) => f.name)).toContain('e8m0')
})

it('one number format shows its codes; NaN survives JSON', async () => {
  const { stdout } = await run('e2m1')
  expect(stdout).toMatch(/7: 6\n8: -0 /)
  const { codes } = JSON.parse((await run('e8m0', '--json')).stdout) as { codes: unknown[] }
  expect(codes).toHaveLength(256)
  expect(codes[255]).toBe('NaN')
  expect(codes[127]).toBe(1)
})

it('one block format shows its parts; an unknown name is refused', async () => {
  expect((await run('mixed')).stdout).toContain('A e4m3, B e2m1, one e8m0 scale per 32')
  await expect(run('fp3')).rejects.toThrow('"fp3" is no format')
})

it('compare lists formats by rule and distribution', async () => {
  const flags = '--formats mxfp4,nvfp4 --rules floor,mse --dist normal,outliers -K 64'.split(' ')
  const { stdout } = await run('compare', ...flags)
  expect(stdout).toMatch(/normal +mxfp4 +floor +1\d\.\d\d/)
  expect(stdout).toMatch(/outliers +nvfp4 +two-level/)
  const rows = JSON.parse((await run('compare', ...flags, '--json')).stdout) as unknown[]
  // Two distributions, two formats, two rules.
  expect(rows).toHaveLength(8)
})

it.each([
  [['--rules', 'up'], '"up" is no scale rule'],
  [['--dist', 'cauchy'], '"cauchy" is no distribution'],
  [['--formats', 'fp3'], '"fp3" is no block-scaled format'],
  [['-K', '100'], 'K=100 is not a multiple']
])('compare refuses %j', async (flags, message) => {
  await expect(run('compare', ...flags)).rejects.toThrow(message)
})

it('compare takes rows of a tensor of a file, and says which', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'))
  const file = join(folder, 'weights.safetensors')
  const values = Float32Array.from({ length: 100 * 128 }, (_, i) => Math.sin(i * i))
  const bytes = new Uint8Array(values.buffer)
  const whole = [{ name: 'w', dtype: 'F32', shape: [100, 128], bytes }]
  writeCheckpoint(file, whole, {})
  const flags = ['--file', file, '--formats', 'mxfp4,nvfp4', '--rules', 'floor', '-K', '64,512']
  const { stdout } = await run('compare', ...flags, '--tensor', 'w')
  expect(stdout).toContain('w: 64 of 100 rows, 128 of 128 values along K')
  expect(stdout).toMatch(/tensor +mxfp4 +floor +1\d\.\d\d .*e-[12] +-$/m)
  await expect(run('compare', ...flags, '--tensor', 'v')).rejects.toThrow(
    'no tensor "v". It has w.'
  )
  await expect(run('compare', ...flags)).rejects.toThrow('--file and --tensor go together')
  rmSync(folder, { recursive: true })
})

it('compare takes the values of a block-scaled weight, known or named, as those of a tensor', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'))
  const file = join(folder, 'weights.safetensors')
  const [rows, k] = [40, 64]
  const codes = Uint8Array.from({ length: rows * k }, (_, i) => (i * 5 + (i >> 5)) & 7)
  const scales = Uint8Array.from({ length: (rows * k) / 32 }, (_, i) => 120 + (i % 5))
  // E2M1 without signs, by its definition.
  const value = (i: number) => [0, 0.5, 1, 1.5, 2, 3, 4, 6][codes[i]!]!
  const real = Float32Array.from(codes, (_, i) => value(i) * 2 ** (scales[i >> 5]! - 127))
  const plain = { leading: [], rows, k, codes, scales, tensorScales: [1] }
  const [packed] = tensorsOf('mlx-mxfp4', plain)
  const bytes = new Uint8Array(real.buffer)
  writeCheckpoint(file, [
    { name: 'real', dtype: 'F32', shape: [rows, k], bytes },
    ...tensorsOf('mlx-mxfp4', plain),
    { name: 'other.w_codes', dtype: 'U8', shape: [rows, k / 2], bytes: packed!.bytes },
    { name: 'other.w_scale', dtype: 'U8', shape: [rows, k / 32], bytes: scales }
  ])
  type Compared = { distribution: string; sqnr: number }
  const rowsOf = async (...flags: string[]) => {
    const asked = ['--file', file, '--formats', 'nvfp4,mxfp8', '-K', '64', '--json', ...flags]
    const printed = JSON.parse((await run('compare', ...asked)).stdout) as Compared[]
    // Each is called by the tensor's name.
    return printed.map(({ distribution: _name, ...row }) => row)
  }
  const expected = await rowsOf('--tensor', 'real')
  expect(expected[0]!.sqnr).toBeGreaterThan(5)
  expect(await rowsOf('--tensor', 'layer')).toEqual(expected)
  const named = ['--codes', 'other.w_codes', '--scales', 'other.w_scale', '--format', 'mxfp4']
  expect(await rowsOf('--tensor', 'other.w', ...named)).toEqual(expected)
  await expect(rowsOf('--tensor', 'other.w')).rejects.toThrow(
    /has no tensor "other\.w"\..*It has layer, real\./
  )
  await expect(rowsOf('--tensor', 'other.w_codes')).rejects.toThrow('"other.w_codes" is U8; values')
  rmSync(folder, { recursive: true })
})
