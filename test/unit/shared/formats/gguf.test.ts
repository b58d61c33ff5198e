import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { readGgufHeader } from '@shared/formats/gguf'
import { ggufBytes } from '../../../support/writeGguf'

const tensors = [
  { name: 'a.weight', shape: [2, 4, 64], type: 39, bytes: new Uint8Array(2 * 4 * 2 * 17).fill(7) },
  { name: 'b.weight', shape: [3, 128], type: 40, bytes: new Uint8Array(3 * 2 * 36) },
  { name: 'norm', shape: [5], type: 0, bytes: new Uint8Array(20) }
]

function header(bytes: Uint8Array) {
  return readGgufHeader(bytes.length, 'm.gguf', (count) => bytes.subarray(0, count))
}

describe('the header of a GGUF file', () => {
  it.each([32, 64, 4096])('tensors lie where it says, aligned to %i', (alignment) => {
    const bytes = ggufBytes(tensors, alignment)
    const { tensors: found, metadata } = header(bytes)
    expect(metadata).toEqual({ 'general.architecture': 'gpt-oss' })
    expect([...found.values()].map(({ name, dtype, shape }) => ({ name, dtype, shape }))).toEqual([
      { name: 'a.weight', dtype: 'MXFP4', shape: [2, 4, 64] },
      { name: 'b.weight', dtype: 'NVFP4', shape: [3, 128] },
      { name: 'norm', dtype: 'F32', shape: [5] }
    ])
    const { start, end } = found.get('a.weight')!
    expect(start % alignment).toBe(0)
    expect(bytes.subarray(start, end)).toEqual(Buffer.from(tensors[0]!.bytes))
  })

  it('is read from as few of the first bytes as it takes', () => {
    const many = Array.from({ length: 30_000 }, (_, i) => ({
      name: `blk.${i}.a.rather.long.name.weight`,
      shape: [1],
      type: 24,
      bytes: new Uint8Array(1)
    }))
    const bytes = ggufBytes(many)
    const asked: number[] = []
    const found = readGgufHeader(bytes.length, 'm.gguf', (count) => {
      asked.push(count)
      return bytes.subarray(0, count)
    })
    expect(found.tensors.size).toBe(30_000)
    expect(asked).toEqual([2 ** 20, Math.min(2 ** 22, bytes.length)])
  })

  it.each([
    [() => ggufBytes(tensors, 32, 1), 'it is of version 1; versions 2 and 3 are read'],
    [() => ggufBytes(tensors, 32, 0x03000000), 'it is big-endian'],
    [() => ggufBytes([{ ...tensors[2]!, type: 99 }]), '"norm" has the unknown ggml type 99'],
    [() => ggufBytes([{ ...tensors[2]!, type: 39 }]), 'rows of 5, no whole blocks of MXFP4'],
    [() => ggufBytes([tensors[2]!, tensors[2]!]), 'two of its tensors are named "norm"'],
    [
      () => ggufBytes([{ ...tensors[2]!, shape: [2 ** 40] }]),
      'it is cut off: tensor "norm" ends at'
    ],
    [() => ggufBytes(tensors, 12), 'its alignment is 12'],
    [() => ggufBytes(tensors).subarray(0, 100), 'it is cut off: its header goes on past 100 bytes']
  ])('%# is refused in one sentence', (make, message) => {
    expect(() => header(make())).toThrow(`m.gguf is no usable .gguf file: `)
    expect(() => header(make())).toThrow(message)
  })

  it('with any byte changed or the end cut off it is read or refused, and nothing else', () => {
    const whole = ggufBytes(tensors)
    const data = header(whole).tensors.get('a.weight')!.start
    for (let at = 4; at < data; at++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const bytes = Buffer.from(whole)
        bytes[at] = value
        try {
          header(bytes)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(UserError)
        }
      }
      expect(() => header(whole.subarray(0, at))).toThrow(UserError)
    }
  })
})
