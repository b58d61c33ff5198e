import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeAll } from '@shared/formats/encode'
import { decodeTable, numberFormats, type NumberFormatName } from '@shared/formats/numberFormat'
import { readOperands } from '@shared/operands/readOperands'
import { arrayFileOnDisk } from '../../../src-main/jobs/arrays/arrayFiles'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const golden = JSON.parse(readFileSync('test/fixtures/golden/number_formats.json', 'utf8')) as {
  decode: Record<string, (number | string)[]>
  round_from_f32: Record<string, { bits_f32: number[]; code: number[] }>
}
const special: Record<string, number> = { nan: NaN, inf: Infinity, '-inf': -Infinity }

describe.each(Object.keys(golden.decode))('%s in C++', (name) => {
  it('decodes every code as ml_dtypes', () => {
    const expected = golden.decode[name]!.map((x) => (typeof x === 'string' ? special[x]! : x))
    expect(Array.from(addon.decodeTable(name))).toEqual(expected)
  })

  it('rounds every golden row', () => {
    const { bits_f32, code } = golden.round_from_f32[name]!
    const values = new Float32Array(Uint32Array.from(bits_f32).buffer)
    expect(Array.from(addon.encode(name, values, 'ml_dtypes'))).toEqual(code)
  })
})

describe.each(Object.keys(numberFormats) as NumberFormatName[])(
  '%s: C++ and TypeScript',
  (name) => {
    it('decode alike', () => {
      const fromTypescript = Float32Array.from(decodeTable(numberFormats[name]))
      expect(addon.decodeTable(name)).toEqual(fromTypescript)
    })

    it.each(['saturate', 'ml_dtypes'] as const)('encode any float32 alike, rule %s', (rule) => {
      fc.assert(
        fc.property(fc.array(fc.integer(), { minLength: 64, maxLength: 64 }), (bits) => {
          const values = new Float32Array(Int32Array.from(bits).buffer)
          const expected = encodeAll(numberFormats[name], values, rule)
          expect(addon.encode(name, values, rule)).toEqual(expected)
        })
      )
    })
  }
)

describe('the oracle against products made with numpy', () => {
  const folder = 'test/fixtures/golden'
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'))

  it.each(files)('%s', async (file) => {
    const arrays = await arrayFileOnDisk(`${folder}/${file}`, '--operands')
    const { operands, format, m, n, k } = readOperands(arrays)
    const problem = { format: format.id, m, n, k }
    const { reference, ...codes } = operands
    const cancel = addon.createCancelFlag()
    const session = await addon.open(
      { device: 'cpu', output: 'f32', ...problem, operands: codes },
      cancel
    )
    const ours = await session.reference(cancel)
    const largest = reference!.reduce((max, x) => Math.max(max, Math.abs(x)), 0)
    let worst = 0
    ours.forEach((x, i) => (worst = Math.max(worst, Math.abs(x - reference![i]!))))
    expect(worst).toBeLessThanOrEqual(largest * 1e-13)
    await session.close()
  })
})

describe('the numbers of formats', () => {
  const names = Object.keys(numberFormats)

  it('are the same in TypeScript, C++ and CUDA', () => {
    const header = readFileSync('native/core/formats.h', 'utf8')
    const enumerators = /enum class NumberFormatId \{([^}]*)\}/.exec(header)![1]!.split(',')
    expect(enumerators.map((one) => one.trim().slice(1).toLowerCase())).toEqual(names)
    for (const path of ['common/formats.cuh', 'README.md']) {
      const text = readFileSync(join('resources/kernels/cuda', path), 'utf8')
      const numbered = [...text.matchAll(/\b(\d) (u?e\dm\d|bf16)\b/g)].map(([, at, name]) => [
        at,
        name
      ])
      expect(numbered).toEqual(names.map((name, i) => [String(i), name]))
    }
  })
})
