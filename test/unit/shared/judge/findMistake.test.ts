/** Products that numpy made with one mistake each (test/fixtures/judge/make.py), and products made here. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { decodeFloats } from '@shared/formats/floatTensor'
import { readNpy } from '@shared/formats/npy'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import { findMistake } from '@shared/judge/findMistake'
import { mistakesWith } from '@shared/judge/mistakes'
import { readRow, readingOf, type JudgedOperands } from '@shared/judge/operandReading'

const folder = 'test/fixtures/judge'

function operandsOf(path: string, format: string): JudgedOperands {
  const bytes = readFileSync(path)
  const { tensors } = parseSafetensorsHeader(bytes, bytes.length, path)
  const take = (name: string) => {
    const { start, end } = tensors.get(name)!
    return bytes.subarray(start, end)
  }
  const scalar = (name: string) =>
    tensors.has(name) ? decodeFloats('F32', take(name))[0] : undefined
  const [m, k] = tensors.get('a_codes')!.shape as [number, number]
  const [n] = tensors.get('b_codes')!.shape as [number, number]
  return {
    ...{ format: findBlockFormat(format), m, n, k },
    ...{ aCodes: take('a_codes'), bCodes: take('b_codes') },
    ...{ aScales: take('a_scales'), bScales: take('b_scales') },
    ...{ tensorScaleA: scalar('a_tensor_scale'), tensorScaleB: scalar('b_tensor_scale') }
  }
}

const ofNumpy = operandsOf(`${folder}/operands.safetensors`, 'nvfp4')
function result(name: string): Float64Array {
  const { dtype, bytes } = readNpy(readFileSync(`${folder}/c_${name}.npy`), name)
  return decodeFloats(dtype, bytes)
}

describe('a product made by numpy', () => {
  it('that is right has no finding', () => {
    const { agrees, findings } = findMistake(ofNumpy, result('right'))
    expect(agrees).toBe(1)
    expect(findings).toEqual([])
  })

  it.each([
    ['scales_exchanged', 'scales-exchanged', /scales of A and of B are exchanged/],
    ['scale_order', 'scale-order', /scales of B lie as nvidia_32_4_4 and are read as linear/],
    ['nibble_order', 'nibble-order', /codes in each byte of A or of B are exchanged/],
    ['block_size', 'block-size', /one scale of A and of B is taken for 32 elements/],
    ['tensor_scale', 'tensor-scale', /tensor scale of B is missing/],
    ['transposed', 'transposed', /B is read as its transpose/],
    ['rounding', 'rounding', /rounded toward zero/],
    ['unwritten', 'unwritten', /64 x 64 .*rows 64 to 127, columns 32 to 95 hold 0/]
  ])('with the mistake %s is told so', (name, kind, sentence) => {
    const { findings, agrees } = findMistake(ofNumpy, result(name))
    expect(findings.map((finding) => finding.kind)).toEqual([kind])
    expect(findings[0]!.sentence).toMatch(sentence)
    expect(agrees).toBeLessThan(1)
  })

  it('that is noise has no finding', () => {
    const noise = Float64Array.from(
      result('right'),
      (value, i) => value * (1 + ((i * 7919) % 97) / 97)
    )
    expect(findMistake(ofNumpy, noise).findings).toEqual([])
  })
})

/** The product of every mistake in the list, by the mistake's own reading: each is told from all others. */
describe.each([
  ['mxfp8', 'gemm_mxfp8_128x128x128'],
  ['nvfp4', 'gemm_nvfp4_128x128x128'],
  ['mixed', 'gemm_mixed_128x128x128']
])('%s operands of others', (format, file) => {
  const operands = operandsOf(`test/fixtures/golden/${file}.safetensors`, format)
  const { m, n } = operands

  it('give no finding with their own product', () => {
    const path = `test/fixtures/golden/${file}.safetensors`
    const bytes = readFileSync(path)
    const { start, end } = parseSafetensorsHeader(bytes, bytes.length, path).tensors.get('c_f64')!
    const c = Float32Array.from(decodeFloats('F64', bytes.subarray(start, end)))
    expect(findMistake(operands, c)).toMatchObject({ agrees: 1, findings: [] })
  })

  it('give each mistake away, or say which others give the same', () => {
    const right = productOf(readingOf(operands, 'a'), readingOf(operands, 'b'))
    let told = 0
    // Of two mistakes at once a few are enough: each takes a look through all.
    const all = [...mistakesWith(operands)]
    const both = all.filter(({ when }) => when.includes('are exchanged, and'))
    for (const mistake of all) {
      if (both.indexOf(mistake) > 2) continue
      const c = productOf(mistake.a, mistake.b, mistake.writtenAt)
      if (!c || c.every((value, i) => Math.abs(value - right![i]!) <= 1e-6 * Math.abs(right![i]!)))
        continue
      const { findings } = findMistake(operands, c)
      const said = findings.flatMap(({ sentence, alike }) => [sentence, ...alike]).join('\n')
      expect(said, mistake.when).toContain(mistake.when)
      told++
    }
    expect(told).toBeGreaterThan(12)
  })

  function productOf(
    a: Parameters<typeof readRow>[0],
    b: Parameters<typeof readRow>[0],
    writtenAt = (row: number, column: number) => row * n + column
  ): Float32Array | undefined {
    const c = new Float32Array(m * n)
    const columns = Array.from({ length: n }, (_, column) => readRow(b, column))
    for (let row = 0; row < m; row++) {
      const ofA = readRow(a, row)
      if (!ofA) return undefined
      for (let column = 0; column < n; column++) {
        const ofB = columns[column]
        if (!ofB) return undefined
        let sum = 0
        for (let k = 0; k < ofA.length; k++) sum += ofA[k]! * ofB[k]!
        c[writtenAt(row, column)] = sum
      }
    }
    return c
  }
})
