import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encode } from '@shared/formats/encode'
import { decodeTable, numberFormats, type NumberFormatName } from '@shared/formats/numberFormat'

interface Golden {
  decode: Record<string, (number | string)[]>
  round_from_f32: Record<string, { bits_f32: number[]; code: number[] }>
}
const golden = JSON.parse(
  readFileSync('test/fixtures/golden/number_formats.json', 'utf8')
) as Golden

const special: Record<string, number> = { nan: NaN, inf: Infinity, '-inf': -Infinity }
const names = Object.keys(golden.decode) as NumberFormatName[]

function fromBits(bits: number): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, bits)
  return view.getFloat32(0)
}

describe.each(names)('%s against ml_dtypes', (name) => {
  const format = numberFormats[name]

  it('decodes every code', () => {
    const expected = golden.decode[name]!.map((x) => (typeof x === 'string' ? special[x]! : x))
    expect(Array.from(decodeTable(format))).toEqual(expected)
  })

  it('rounds every row as the ml_dtypes rule does', () => {
    const { bits_f32, code } = golden.round_from_f32[name]!
    const got = bits_f32.map((bits) => encode(format, fromBits(bits), 'ml_dtypes'))
    const wrong = got.flatMap((c, i) =>
      c === code[i] ? [] : [{ value: fromBits(bits_f32[i]!), got: c, expected: code[i] }]
    )
    expect(wrong).toEqual([])
  })

  it('saturates instead, and agrees everywhere else', () => {
    const table = decodeTable(format)
    const { bits_f32, code } = golden.round_from_f32[name]!
    bits_f32.forEach((bits, i) => {
      const value = fromBits(bits)
      const saturated = encode(format, value)
      const beyond = !Number.isFinite(table[code[i]!]!)
      if (!beyond) expect(saturated).toBe(code[i])
      else if (!Number.isNaN(value)) expect(Number.isFinite(table[saturated]!)).toBe(true)
    })
  })

  it('encodes every finite value back to its own code', () => {
    const table = decodeTable(format)
    table.forEach((value, code) => {
      if (Number.isFinite(value)) expect(encode(format, value)).toBe(code)
    })
  })
})
