import { describe, expect, it } from 'vitest'
import { formatFrame } from '@shared/profile/ask/frameFormat'
import { nameTest } from '@shared/profile/ask/nameMatcher'
import { normaliseName } from '@shared/profile/ask/normaliseName'
import { StringTable } from '@shared/profile/tree/stringTable'

describe('normaliseName', () => {
  it.each([
    ['gemm [M=8192, N=8192, K=1024]', 'gemm [M=64, N=64, K=2048]'],
    ['nvjet_sm90_tst_320x128_64x3_TNT', 'nvjet_sm90_tst_128x128_64x4_TNT'],
    ['matmul [M = 8] stg4', 'matmul [M = 16] stg3'],
    ['mxfp4_matmul <grid:64>', 'mxfp4_matmul <grid:128>'],
    ['_Z4gemmv', 'gemm()']
  ])('%s is %s', (a, b) => expect(normaliseName(a)).toBe(normaliseName(b)))

  it.each([
    ['mxfp4_matmul', 'mxfp8_matmul'],
    ['nvjet_sm90_tst', 'nvjet_sm100_tst'],
    ['layer1', 'layer2']
  ])('%s is not %s', (a, b) => expect(normaliseName(a)).not.toBe(normaliseName(b)))
})

describe('formatFrame', () => {
  it('reads both orders of line and function, and leaves other names', () => {
    expect(formatFrame('/a/b.py:12@run', 'file_function')).toBe('b.py@run')
    expect(formatFrame('/a/b.py:run@12', 'function_line')).toBe('12@run')
    expect(formatFrame('/a/b.py:12@<module>', 'file_function_line')).toBe('b.py:12@<module>')
    expect(formatFrame('gemm [M=1]', 'file_function')).toBe('gemm [M=1]')
  })
})

describe('nameTest', () => {
  it('takes substrings, and expressions where they look like ones', () => {
    expect(nameTest('K=1')('layer K=1024')).toBe(true)
    expect(nameTest('a.b')('axb')).toBe(false)
    expect(nameTest('a.*b')('axxb')).toBe(true)
    expect(nameTest('/^K=\\d+$/')('K=1024')).toBe(true)
    expect(nameTest('/k=/i')('K=1')).toBe(true)
    expect(() => nameTest('/(/')).toThrow("'/(/' is not a regular expression")
  })
})

describe('StringTable', () => {
  it('gives equal texts one id, and every text back', () => {
    const table = new StringTable()
    const texts = Array.from({ length: 5000 }, (_, i) => `name ${i} é\u{1f600}`)
    const ids = texts.map((text) => table.intern(text))
    expect(new Set(ids).size).toBe(5000)
    expect(texts.map((text) => table.intern(text))).toEqual(ids)
    expect(ids.map((id) => table.text(id))).toEqual(texts)
    const { bytes, offsets, count } = table.parts()
    const copy = new StringTable(bytes, offsets, count)
    expect(copy.intern('name 4999 é\u{1f600}')).toBe(ids[4999])
    expect(copy.intern('another')).toBe(5000)
  })
})
