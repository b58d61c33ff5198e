import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  namedChoices,
  openTensors,
  readSample,
  weightByHand,
  type NamedByHand
} from '../../../../src-renderer/views/formats/ownValues'
import { tensorsOf } from '../../../support/quantizerFiles'
import { writeCheckpoint, type TensorBytes } from '../../../support/writeCheckpoint'
import { writeGguf } from '../../../support/writeGguf'

const folder = mkdtempSync(join(tmpdir(), 'own-values-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(tensors: readonly TensorBytes[], name = 'x.safetensors'): File {
  const path = join(folder, name)
  writeCheckpoint(path, tensors)
  return new File([readFileSync(path)], name)
}

/** E2M1 by its code, from its definition. */
const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
const value = (code: number) => (code < 8 ? e2m1[code]! : -e2m1[code - 8]!)

/** More rows than a sample takes, each with scales of its own. */
const rows = 100
const k = 64
const codes = Uint8Array.from({ length: rows * k }, (_, i) => (i * 7 + (i >> 6)) & 15)
const scales = Uint8Array.from({ length: (rows * k) / 32 }, (_, i) => 120 + (i % 9))
const expected = (row: number) =>
  Array.from({ length: k }, (_, i) => {
    const at = row * k + i
    return value(codes[at]!) * 2 ** (scales[Math.floor(at / 32)]! - 127)
  })
const sampledRow = (i: number) => Math.floor((i * rows) / 64)

describe('weights of a checkpoint as values', () => {
  it('are those that a convention gives, rows spread over all of them', async () => {
    const plain = { leading: [], rows, k, codes, scales, tensorScales: [1] }
    const file = fileOf(tensorsOf('mlx-mxfp4', plain))
    const { sources } = await openTensors(file)
    expect(sources.map(({ title, flags }) => [title, flags])).toEqual([
      ['layer, mlx-mxfp4 [100, 64]', '--tensor layer']
    ])
    const sample = await readSample(file, sources[0]!)
    expect(sample).toMatchObject({ name: 'layer', rows: 64, k: 64, ofRows: 100, ofK: 64 })
    for (const i of [0, 1, 63])
      expect([...sample.values.subarray(i * k, (i + 1) * k)].map((x) => x + 0)).toEqual(
        expected(sampledRow(i)).map((x) => x + 0)
      )
  })

  it('of GGUF are read too', async () => {
    const path = join(folder, 'x.gguf')
    const bytes = Uint8Array.from({ length: 4 * 2 * 17 }, (_, i) => (i % 17 === 0 ? 128 : 0x21))
    writeGguf(path, [{ name: 'a.weight', shape: [4, 64], type: 39, bytes }])
    const file = new File([readFileSync(path)], 'x.gguf')
    const { sources } = await openTensors(file)
    const sample = await readSample(file, sources[0]!)
    // Halves of a block: the low nibbles, then the high ones; times 2.
    expect([...sample.values.subarray(14, 18)]).toEqual([1, 1, 2, 2])
  })
})

describe('tensors that a person names', () => {
  const packed = Uint8Array.from(
    { length: (rows * k) / 2 },
    (_, i) => (codes[2 * i]! << 4) | codes[2 * i + 1]!
  )
  const file = fileOf([
    { name: 'blk.w_codes', dtype: 'U8', shape: [rows, k / 2], bytes: packed },
    { name: 'blk.w_scale', dtype: 'U8', shape: [rows, k / 32], bytes: scales },
    { name: 'blk.other', dtype: 'U8', shape: [3], bytes: new Uint8Array(3) }
  ])
  const named: NamedByHand = {
    ...{ codes: 'blk.w_codes', scales: 'blk.w_scale', format: 'mxfp4' },
    ...{ order: 'fp4_high_first', layout: '' }
  }

  it('are offered as what looks like codes and scales, then as what could be', async () => {
    const opened = await openTensors(file)
    expect(opened.sources).toEqual([])
    expect(opened.likely).toMatchObject([
      { codes: { name: 'blk.w_codes' }, scales: { name: 'blk.w_scale' }, formats: ['mxfp4'] }
    ])
    const could = namedChoices(opened, named)
    expect(could.scales.map(({ name }) => name)).toEqual(['blk.w_scale', 'blk.other'])
    expect(could.formats).toEqual(['mxfp4'])
    expect(could.orders.map(({ name }) => name)).toContain('fp4_high_first')
    expect(namedChoices(opened, { ...named, scales: 'blk.other' }).formats).toContain('nvfp4')
  })

  it('have the values of those codes and scales, in the order that is named', async () => {
    const source = weightByHand(await openTensors(file), file.name, named)
    expect(source.flags).toBe(
      '--tensor blk.w --codes blk.w_codes --scales blk.w_scale --format mxfp4 --order fp4_high_first'
    )
    const { values } = await readSample(file, source)
    expect([...values.subarray(0, k)].map((x) => x + 0)).toEqual(expected(0).map((x) => x + 0))
  })

  it('that do not fit together are refused in a sentence', async () => {
    const opened = await openTensors(file)
    expect(() => weightByHand(opened, file.name, { ...named, scales: 'blk.other' })).toThrow(
      /x\.safetensors: tensor "blk\.other" .*needs \[100, 2\]/
    )
  })
})
