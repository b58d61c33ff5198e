/** Dumps that numpy made with the mistakes of the field, each beside a clean twin (test/fixtures/check/make.py). */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'
import { writeCheckpoint } from '../../../support/writeCheckpoint'

const fixtures = 'test/fixtures/check'
/** Dumps of a mistake, or their clean twins. */
const dumpsOf = (mistake: string, isClean = false) =>
  readdirSync(fixtures)
    .filter((name) => name.startsWith(mistake) && name.endsWith('.safetensors'))
    .filter((name) => name.includes('.clean.') === isClean)
    .map((name) => join(fixtures, name))
const check = (...words: string[]) => runInProcess(['check', ...words])

/** Number, sentences that name it, flags. */
const mistakes: [string, RegExp[], string[]?][] = [
  ['01', [/scales of A and of B lie as nvidia_32_4_4, padded with 0, and are read as linear/]],
  ['02', [/scales of A lie linear and are read as nvidia_32_4_4/, /1,536 elements of C are NaN/]],
  [
    '03',
    [/scales of B .*nvidia_32_4_4/, /tolerance lets this C pass/],
    ['--atol', '0.25', '--rtol', '0.1']
  ],
  [
    '04',
    [
      /mapping-1\S+: Scales of A and of B mapped to other blocks or rows would give the same C/,
      /mapping-3\S+: Scales of A and of B/
    ]
  ],
  [
    '05-nibbles',
    [/4-bit codes in each byte of A or of B are exchanged, and the scales of A lie linear/]
  ],
  ['05-fallback', [/product of A and B before quantisation: a fallback ran/]],
  ['06', [/^Shapes: wrong where K % 256 != 0 \(3 of 3\), right elsewhere \(2\)/m]],
  ['07', [/^Shapes: wrong where M % 32 != 0 \(3 of 3\), right elsewhere \(2\)/m]],
  ['08', [/^Shapes: wrong where K % 128 = 0 \(2 of 2\), right elsewhere \(3\)/m]],
  ['09', [/scales of B are read column by column/]],
  ['10', [/codes of A come from a product with the reciprocal of the scale/]],
  ['11', [/not batch-invariant: 1 of 1 row/]],
  ['12', [/scales of A are padded once for all groups instead of each on its own/]],
  ['13', [/byte 0 in the scales of A is taken for 0 instead of 2\^-127/]]
]

describe('check', () => {
  it.each(mistakes)('names mistake %s, and passes its clean twin', async (mistake, said, flags) => {
    const wrong = await check(...dumpsOf(mistake), ...(flags ?? []))
    for (const sentence of said) expect(wrong.stdout).toMatch(sentence)
    expect(wrong.code).toBe(1)
    const clean = await check(...dumpsOf(mistake, true))
    expect(clean.stdout).not.toMatch(/WRONG|SHOWS NOTHING|not batch-invariant/)
    expect(clean.code).toBe(0)
  })

  it('says of a look at part of C how large it was, and gives all of it as JSON', async () => {
    const { code, stdout } = await check(dumpsOf('12')[0]!, '--json')
    expect(code).toBe(1)
    const { dumps } = JSON.parse(stdout) as { dumps: Record<string, unknown>[] }
    expect(dumps[0]).toMatchObject({
      ...{ format: 'nvfp4', m: 192, n: 32, k: 128, verdict: 'wrong' },
      ...{ elements: 6144, lookedAt: 6144 },
      notes: [
        '5 groups of 4, 130, 1, 0, 57 rows; scales of A are nvidia_32_4_4, each group padded on its own.'
      ]
    })
  })

  describe('of bad input', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'blockscope-check-'))
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    const u8 = (name: string, shape: number[]) => ({
      ...{ name, dtype: 'U8', shape },
      bytes: new Uint8Array(shape.reduce((product, extent) => product * extent, 1))
    })
    const i32 = (name: string, values: number[]) => ({
      ...{ name, dtype: 'I32', shape: [values.length] },
      bytes: new Uint8Array(Int32Array.from(values).buffer)
    })
    const floats = (name: string, shape: number[]) => ({
      ...u8(name, [...shape, 4]),
      ...{ dtype: 'F32', shape }
    })
    const metadata = { a: 'e4m3', b: 'e4m3', scale: 'e8m0', vec: '32' }
    /** A product of two groups of 4 rows each. */
    const grouped = (...more: Parameters<typeof writeCheckpoint>[1]) => [
      ...[u8('a_codes', [8, 32]), u8('b_codes', [2, 16, 32]), u8('b_scales', [2, 16, 1])],
      ...[u8('a_scales', [8, 1]), floats('c', [8, 16])],
      ...more
    ]
    async function refusal(tensors: Parameters<typeof writeCheckpoint>[1], said = metadata) {
      const path = join(folder, 'dump.safetensors')
      await rm(path, { force: true })
      writeCheckpoint(path, tensors, said)
      const { code, stderr } = await check(path)
      expect(code).toBe(2)
      return stderr
    }

    it('says what is missing, or does not fit', async () => {
      expect(await refusal([u8('a_codes', [4, 32])])).toMatch(/has no tensor "c"; it has "a_codes"/)
      const plain = [u8('a_codes', [4, 32]), u8('b_codes', [8, 32])]
      const scales = [u8('a_scales', [4, 1]), u8('b_scales', [8, 1])]
      expect(await refusal([...plain, ...scales, floats('c', [8, 4])])).toMatch(
        /"c" is 8 x 4; the operands give 4 x 8/
      )
      expect(
        await refusal([...plain, ...scales, floats('c', [4, 8]), u8('a_values', [4, 32])])
      ).toMatch(/"a_values" is U8; F32, BF16 or F16 is needed/)
    })

    it('says which groups do not add up', async () => {
      expect(await refusal(grouped(i32('group_rows', [4, 5])))).toMatch(
        /the groups have 9 rows; A has 8/
      )
      expect(await refusal(grouped(i32('group_ends', [6, 4])))).toMatch(
        /"group_ends" ends group 1 at row 4, before it begins at 6/
      )
      expect(await refusal(grouped(i32('group_rows', [2, 2, 4])))).toMatch(
        /"b_codes" is 2 x 16 x 32; B is a matrix for each of 3 groups/
      )
      expect(await refusal(grouped(u8('group_rows', [2])))).toMatch(/is U8; I32 or I64 is needed/)
      expect(await refusal(grouped(i32('group_rows', [0, 0])))).toMatch(/have 0 rows; A has 8/)
    })

    it('says what cannot be read', async () => {
      const cut = join(folder, 'cut.safetensors')
      const whole = await readFile(dumpsOf('09')[0]!)
      await writeFile(cut, whole.subarray(0, 3000))
      for (const [path, sentence] of [
        [join(folder, 'none.pt'), /none\.pt does not exist/],
        [cut, /cut\.safetensors/],
        ['test/fixtures/names', /is a folder without \.safetensors, \.npz, \.pt or \.npy files/]
      ] as const) {
        const { code, stderr } = await check(path)
        expect(stderr).toMatch(sentence)
        expect(stderr.trim().split('\n')).toHaveLength(1)
        expect(code).toBe(2)
      }
    })
  })
})
