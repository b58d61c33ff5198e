import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packScales, packedShapes } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { register } from '../../../../src-main/cli/checkpoint'
import { nibbles } from '../../../support/quantizerFiles'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { runCommand } from './runCommand'

const root = mkdtempSync(join(tmpdir(), 'named-'))
let files = 0
const run = (...argv: string[]) => runCommand(register, ['checkpoint', ...argv])

function write(tensors: TensorBytes[], config?: object): string {
  const home = mkdtempSync(join(root, `${files++}-`))
  const path = join(home, 'model.safetensors')
  if (config) writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  writeCheckpoint(path, tensors)
  return path
}

const [rows, k] = [256, 256]
const codes = Uint8Array.from({ length: rows * k }, (_, i) => (i * 37 + (i >> 4)) & 15)
const scales = Uint8Array.from({ length: (rows * k) / 32 }, (_, i) => 120 + ((i * i) % 11))
const tensor = (name: string, dtype: string, shape: number[], bytes: Uint8Array) => {
  return { name, dtype, shape, bytes }
}
const values = async (path: string, ...flags: string[]) => {
  const where = '--row 200 --rows 1 --cols 256 --json'.split(' ')
  const { stdout } = await run('slice', path, ...where, ...flags)
  return (JSON.parse(stdout) as { values: number[] }).values
}
const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
const expected = Array.from({ length: k }, (_, i) => {
  const code = codes[200 * k + i]!
  return (code & 8 ? -1 : 1) * e2m1[code & 7]! * 2 ** (scales[200 * 8 + (i >> 5)]! - 127) + 0
})

describe('tensors of no known convention', () => {
  const strange = [
    tensor('m.0.w_codes', 'U8', [rows, k / 2], nibbles(codes)),
    tensor('m.0.w_scale', 'U8', [rows, k / 32], scales),
    tensor('m.1.w_codes', 'U8', [rows, k / 2], nibbles(codes)),
    tensor('m.1.w_scale', 'U8', [rows, k / 32], scales),
    tensor('m.norm', 'F32', [4], new Uint8Array(16))
  ]
  const named = '--codes m.0.w_codes --scales m.0.w_scale --format mxfp4'.split(' ')

  it('are listed as what they look like, with the flags that name them', async () => {
    const path = write(strange)
    const { stdout } = await run('list', path)
    expect(stdout).toContain('0 block-scaled weights')
    expect(stdout).toContain(
      '"m.1.w_codes" and "m.1.w_scale" are of no known convention and look like codes and scales: --codes m.1.w_codes --scales m.1.w_scale --format mxfp4'
    )
    await expect(run('slice', path, '--tensor', 'm.0')).rejects.toThrow(
      'It has none. "m.0.w_codes" and "m.0.w_scale" look like codes and scales: --codes'
    )
  })

  it('are read when they are named, and so are others of the same naming', async () => {
    const path = write(strange)
    expect((await run('list', path, ...named)).stdout).toMatch(
      /2 block-scaled weights\nm\.0\.w {2}\[256, 256\] {2}named, scales linear\nm\.1\.w/
    )
    expect(await values(path, '--tensor', 'm.1.w', ...named)).toEqual(expected)
  })

  it('with another order, and a scale for the whole tensor', async () => {
    const high = Uint8Array.from(nibbles(codes), (byte) => ((byte & 15) << 4) | (byte >> 4))
    const quarter = new Uint8Array(Float32Array.of(4).buffer)
    const path = write([
      tensor('w.q', 'I8', [rows, k / 2], high),
      tensor('w.s', 'I8', [rows, k / 32], scales),
      tensor('w.g', 'F32', [], quarter)
    ])
    const flags = '--tensor w --codes w.q --scales w.s --format mxfp4 --order fp4_high_first'
    expect(await values(path, ...flags.split(' '))).toEqual(expected)
    const divided = await values(
      path,
      ...`${flags} --global-scale w.g --global-scale-use divide`.split(' ')
    )
    expect(divided).toEqual(expected.map((value) => value / 4))
  })

  it.each([
    ['--codes m.0.w_codes --format mxfp4', '--scales'],
    ['--codes m.0.w_codes --scales m.0.none --format mxfp4', 'has no tensor "m.0.none"'],
    ['--scales m.0.w_scale', '--codes'],
    ['--codes m.0.w_codes --scales m.0.w_scale --format nvfp4', 'needs [256, 16] in layout linear'],
    [
      '--codes m.0.w_codes --scales m.0.w_scale --format mxfp4 --order fp6_dense',
      'fp6_dense holds codes of 6 bits; mxfp4 has codes of 4'
    ]
  ])('%s is refused', async (flags, message) => {
    await expect(run('list', write(strange), ...flags.split(' '))).rejects.toThrow(message)
  })
})

describe('tensors of several conventions', () => {
  const sixBits = [
    tensor('w.weight', 'U8', [rows, (k * 3) / 4], new Uint8Array((rows * k * 3) / 4).fill(0x41)),
    tensor('w.weight_scale', 'U8', [rows, k / 32], scales)
  ]

  it('are told apart by config.json, or by a flag', async () => {
    const path = write(sixBits)
    expect((await run('list', path)).stdout).toContain(
      '"w" may be quark-mxfp6-e2m3 or quark-mxfp6-e3m2; name it with --convention.'
    )
    await expect(run('slice', path, '--tensor', 'w')).rejects.toThrow('name it with --convention')
    const out = join(root, 'never.safetensors')
    await expect(run('convert', path, '--out', out)).rejects.toThrow('name it with --convention')
    const flag = await run('list', path, '--convention', 'quark-mxfp6-e3m2')
    expect(flag.stdout).toContain('w  [256, 256]  quark-mxfp6-e3m2')
    const described = write(sixBits, { quantization_config: { weight: { dtype: 'fp6_e2m3' } } })
    expect((await run('list', described)).stdout).toContain('w  [256, 256]  quark-mxfp6-e2m3')
  })

  it('a config.json that is damaged says nothing', async () => {
    const path = write(sixBits)
    writeFileSync(join(path, '../config.json'), '{"quantization_config": 3')
    expect((await run('list', path)).stdout).toContain('may be quark-mxfp6')
  })
})

it('integers with a real scale and an offset are said to be none', async () => {
  const path = write([
    tensor('l.weight', 'U32', [rows, k / 8], new Uint8Array((rows * k) / 2)),
    tensor('l.scales', 'F16', [rows, k / 64], new Uint8Array((rows * k) / 32)),
    tensor('l.biases', 'F16', [rows, k / 64], new Uint8Array((rows * k) / 32))
  ])
  const { stdout } = await run('list', path)
  expect(stdout).toContain('0 block-scaled weights')
  expect(stdout).toContain('1 weights, such as l, are integers with a real scale and an offset')
})

describe('the layout of scales by the shape of their tensor', () => {
  const shape = { rows, columns: k / 32 }
  const weight = (layout: string, own: number[]) => [
    tensor('w.weight_packed', 'U8', [rows, k / 2], nibbles(codes)),
    tensor('w.weight_scale', 'U8', own, packScales(findLayout(layout), shape, scales))
  ]

  it.each([
    ['nvidia_32_4_4', [2, 2, 32, 4, 4]],
    ['nvidia_32_4_4', [2, 2, 32, 16]],
    ['nvidia_32_4_4', [1, 2, 2, 2, 256]],
    ['flashinfer_8x4', [32, 2, 8, 4]],
    ['deepgemm_ue8m0', [2, 256, 4]],
    ['aiter_gfx1250_n16k4', [16, 128]]
  ])('%s from %j', async (layout, own) => {
    const path = write(weight(layout, own))
    expect((await run('list', path)).stdout).toContain(`scales ${layout}`)
    expect(await values(path, '--tensor', 'w')).toEqual(expected)
  })

  it.each(['cdna4_mfma16', 'cdna4_mfma32', 'aiter_gfx1250_n32k4', 'aiter_gfx950_gate_up'])(
    'that of %s is that of others too, and has to be named',
    async (layout) => {
      const [, own] = packedShapes(findLayout(layout), shape)
      const path = write(weight(layout, own!))
      expect(own).toEqual([8, 256])
      await expect(run('list', path)).rejects.toThrow(
        'may be in any of these layouts: cdna4_mfma32, cdna4_mfma16'
      )
      expect(await values(path, '--tensor', 'w', '--input-layout', layout)).toEqual(expected)
    }
  )
})
