import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/formats'
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
  expect((await run('e2m1')).stdout).toMatch(/7: 6/)
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
