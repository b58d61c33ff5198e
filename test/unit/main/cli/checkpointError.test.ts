/** Quantised weights against the checkpoint they were made from. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/checkpoint'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'checkpoint-error-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, `${name}.safetensors`)
const run = (...argv: string[]) => runCommand(register, ['checkpoint', ...argv])

interface Losses {
  weights: { name: string; exact: boolean; sqnr: number | string; maxError: number }[]
  missing: number
}
const json = async (...argv: string[]) =>
  JSON.parse((await run(...argv, '--json')).stdout) as Losses

function floats(name: string, shape: number[], value: (i: number) => number): TensorBytes {
  const count = shape.reduce((product, extent) => product * extent, 1)
  const bytes = new Uint8Array(Float32Array.from({ length: count }, (_, i) => value(i)).buffer)
  return { name, dtype: 'F32', shape, bytes }
}
const wave = (i: number) => Math.sin(i * 12.9898) * (1 + (i % 7))
const [original, mxfp4, mxfp8] = [at('original'), at('mxfp4'), at('mxfp8')]
writeCheckpoint(
  original,
  [floats('up.weight', [2, 24, 64], wave), floats('down.weight', [24, 64], wave)],
  {}
)
writeCheckpoint(at('turned'), [floats('down.weight', [64, 32], wave)], {})
writeCheckpoint(at('none'), [floats('left.weight', [24, 64], wave)], {})
const converted = (async () => {
  const to = async (from: string, name: string, out: string) =>
    json('convert', from, '--to', name, '--requantise', '--out', out)
  const made = await to(original, 'compressed-tensors-mxfp4', mxfp4)
  await to(mxfp4, 'mxfp8', mxfp8)
  return made
})()

describe('checkpoint error', () => {
  it('gives for every weight what the conversion itself reported', async () => {
    const { weights } = await converted
    const found = await json('error', mxfp4, '--original', original)
    expect(found.missing).toBe(0)
    expect(found.weights.map(({ name, sqnr, maxError }) => [name, sqnr, maxError])).toEqual(
      weights.map(({ name, sqnr, maxError }) => [name, sqnr, maxError])
    )
    expect(found.weights[0]!.sqnr).toBeGreaterThan(10)
    const { stdout } = await run('error', mxfp4, '--original', original, '--tensor', 'down')
    expect(stdout).toMatch(
      /^down {2}compressed-tensors-mxfp4 {2}SQNR \d+\.\d\d dB, max error [\d.]+\n$/
    )
  })

  it('compares with block-scaled originals: MXFP4 in MXFP8 is exact', async () => {
    await converted
    const { stdout } = await run('error', mxfp8, '--original', mxfp4)
    expect(stdout.match(/exact: every value compared equal/g)).toHaveLength(2)
  })

  it('takes an original of another name, and counts weights without one', async () => {
    await converted
    const other = at('other')
    writeCheckpoint(other, [floats('renamed', [24, 64], wave)], {})
    const named = ['--tensor', 'down', '--original-tensor', 'renamed']
    const { weights } = await json('error', mxfp4, '--original', other, ...named)
    expect(weights).toHaveLength(1)
    const part = at('part')
    writeCheckpoint(part, [floats('down', [24, 64], wave)], {})
    expect(await json('error', mxfp4, '--original', part)).toMatchObject({ missing: 1 })
    expect((await run('error', mxfp4, '--original', part)).stdout).toContain(
      '1 other weights have no original in'
    )
  })

  it.each<[string, () => string[], RegExp]>([
    [
      'another size',
      () => ['--original', at('turned')],
      /"down" is 24 x 64 and its original .* 64 x 32/
    ],
    [
      'no original',
      () => ['--original', at('none')],
      /has no matrix "up" or "up.weight" to compare/
    ],
    [
      'no such weight',
      () => ['--original', original, '--tensor', 'x'],
      /no block-scaled weight "x"/
    ],
    [
      'a name without a weight',
      () => ['--original', original, '--original-tensor', 'x'],
      /--tensor/
    ],
    ['no file', () => ['--original', at('nowhere')], /nowhere/]
  ])('refuses %s', async (_what, flags, message) => {
    await converted
    await expect(run('error', mxfp4, ...flags())).rejects.toThrow(message)
  })
})
