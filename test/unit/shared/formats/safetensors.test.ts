import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { headerEnd, parseSafetensorsHeader } from '@shared/formats/safetensors'

function file(header: unknown, dataBytes: number): Uint8Array {
  const json = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header)
  )
  const bytes = new Uint8Array(8 + json.length + dataBytes)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true)
  bytes.set(json, 8)
  return bytes
}
const parse = (header: unknown, dataBytes: number) => {
  const bytes = file(header, dataBytes)
  return parseSafetensorsHeader(bytes, bytes.length, 'x.safetensors')
}
const tensor = (dtype: string, shape: unknown, from: number, to: number) => ({
  dtype,
  shape,
  data_offsets: [from, to]
})

it('reads tensors and metadata; byte ranges count from the start of the file', () => {
  const bytes = file({ __metadata__: { a: 'b' }, t: tensor('F32', [2, 3], 0, 24) }, 24)
  const { tensors, metadata } = parseSafetensorsHeader(bytes, bytes.length, 'x')
  expect(metadata.a).toBe('b')
  expect(tensors.get('t')).toMatchObject({ dtype: 'F32', shape: [2, 3], end: bytes.length })
  expect(tensors.get('t')!.start).toBe(bytes.length - 24)
})

describe('hostile files are refused in one sentence', () => {
  const cases: [string, unknown, number, string][] = [
    [
      'overlap',
      { a: tensor('U8', [8], 0, 8), b: tensor('U8', [8], 4, 12) },
      12,
      '"a" and "b" overlap'
    ],
    ['wrong dtype', { a: tensor('F5', [8], 0, 8) }, 8, 'unknown dtype F5'],
    ['inherited dtype', { a: tensor('constructor', [8], 0, 8) }, 8, 'unknown dtype constructor'],
    ['out of range', { a: tensor('U8', [80], 0, 80) }, 8, 'cut off: tensor "a"'],
    ['shape and bytes differ', { a: tensor('F32', [8], 0, 8) }, 8, 'needs 32 bytes and has 8'],
    ['negative size', { a: tensor('U8', [-1], 0, 8) }, 8, 'tensor "a": shape.0'],
    ['reversed range', { a: tensor('U8', [0], 8, 0) }, 8, 'has -8'],
    ['huge shape', { a: tensor('U8', [2 ** 52, 2 ** 52], 0, 8) }, 8, 'tensor "a"'],
    ['entry is no object', { a: 3 }, 8, 'tensor "a"'],
    ['not JSON', '{"a":', 8, 'not JSON'],
    ['not an object', [], 8, 'not a JSON object']
  ]
  it.each(cases)('%s', (_name, header, dataBytes, message) => {
    expect(() => parse(header, dataBytes)).toThrow(UserError)
    expect(() => parse(header, dataBytes)).toThrow(message)
  })

  it('huge header, truncated header, tiny file', () => {
    const huge = new Uint8Array(8)
    new DataView(huge.buffer).setBigUint64(0, 1n << 60n, true)
    expect(() => headerEnd(huge, 100, 'x')).toThrow('at most 100000000 are allowed')
    expect(() => headerEnd(Uint8Array.of(200, 0, 0, 0, 0, 0, 0, 0), 100, 'x')).toThrow('cut off')
    expect(() => headerEnd(new Uint8Array(3), 3, 'x')).toThrow('3 bytes')
  })

  it('metadata of null is none', () => {
    expect(parse({ __metadata__: null }, 0).tensors.size).toBe(0)
  })
})
