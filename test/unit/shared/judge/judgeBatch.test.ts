/** Products of the whole operation, made here with plain loops: batches that broadcast, an accumulator, C of eight bits. */
import { describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { encode } from '@shared/formats/encode'
import { decodeTable, numberFormats } from '@shared/formats/numberFormat'
import { judgeBatch, type JudgedBatch } from '@shared/judge/judgeBatch'
import { scattered, wholeProduct, type Wrong } from '../../../support/wholeProduct'

const format = findBlockFormat('mxfp8')
const [m, n, k] = [24, 20, 64]
const [batchA, batchB] = [[2, 1], [3]]
const matrices = 6

const codes = (count: number, seed: number) =>
  Uint8Array.from(
    { length: count },
    (_, i) => 0x28 + (scattered(i, seed) % 24) + 128 * (scattered(i, seed + 9) % 2)
  )
const scales = (count: number, seed: number) =>
  Uint8Array.from({ length: count }, (_, i) => 122 + (scattered(i, seed) % 5))

const operands: JudgedBatch = {
  ...{ format, m, n, k, batchA, batchB },
  aCodes: codes(2 * m * k, 1),
  bCodes: codes(3 * n * k, 2),
  aScales: scales((2 * m * k) / 32, 3),
  bScales: scales((3 * n * k) / 32, 4),
  accumulator: Float32Array.from(
    { length: matrices * m * n },
    (_, i) => scattered(i, 5) / 4096 - 0.5
  )
}

const product = (made: Wrong = {}) => wholeProduct(operands, made)
const f32 = (values: Float64Array) => Float32Array.from(values)
const judged = (
  c: Float32Array | Float64Array,
  suspects: { batch: number; row: number; col: number }[] = []
) => judgeBatch(operands, c, suspects, 'f32')

describe('a batch with an accumulator', () => {
  it('that is right has no finding', () => {
    expect(judged(f32(product()))).toMatchObject({ agrees: 1, findings: [] })
  })

  it.each<[string, Wrong]>([
    ['the accumulator is left out', { added: () => 0 }],
    ['the accumulator is added twice', { added: (x) => 2 * x }],
    ['the accumulator is subtracted', { added: (x) => -x }]
  ])('%s', (when, made) => {
    const { agrees, findings } = judged(f32(product(made)))
    expect(agrees).toBeLessThan(1)
    expect(findings).toMatchObject([
      { kind: 'accumulator', sentence: `C is what these operands give when ${when}.`, agrees: 1 }
    ])
  })

  it('says which matrix is wrong where others are right', () => {
    const c = f32(product({ added: (x, matrix) => (matrix === 4 ? 0 : x) }))
    const { findings } = judged(c, [{ batch: 4, row: 1, col: 2 }])
    expect(findings.map(({ sentence }) => sentence)).toEqual([
      'In matrix (1, 1) of C: C is what these operands give when the accumulator is left out.'
    ])
  })

  it('says which matrices it was made of, where they are not its own', () => {
    const c = f32(product({ b: (matrix) => (matrix + 1) % 3 }))
    const { findings } = judged(c, [{ batch: 4, row: 0, col: 0 }])
    expect(findings.map(({ kind }) => kind)).toEqual(findings.map(() => 'batch'))
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'Matrix (1, 1) of C is what matrix (1, 0) of A and (2) of B give.'
    )
  })

  it('keeps NaN and infinities of the accumulator in their elements', () => {
    const special = operands.accumulator!.slice()
    special[3] = NaN
    special[n + 7] = Infinity
    special[2 * n + 8] = -Infinity
    const c = f32(product())
    for (const place of [3, n + 7, 2 * n + 8]) c[place] = special[place]!
    const found = judgeBatch({ ...operands, accumulator: special }, c, [], 'f32')
    expect(found).toMatchObject({ agrees: 1, findings: [] })
    c[3] = 1
    expect(judgeBatch({ ...operands, accumulator: special }, c, [], 'f32').agrees).toBeLessThan(1)
  })
})

describe.each(['e4m3', 'e5m2'] as const)('C of %s', (output) => {
  const stored = (values: Float64Array) => {
    const table = decodeTable(numberFormats[output])
    return values.map((value) => table[encode(numberFormats[output], value, 'saturate')]!)
  }
  const outputScale = 3
  const judge = (made: Wrong) =>
    judgeBatch({ ...operands, outputScale }, stored(product(made)), [], output)

  it('that is right has no finding', () => {
    expect(judge({ outputScale })).toMatchObject({ agrees: 1, findings: [] })
  })

  it('saturates without a finding', () => {
    const large = judgeBatch(
      { ...operands, outputScale: 20_000 },
      stored(product({ outputScale: 20_000 })),
      [],
      output
    )
    expect(large).toMatchObject({ agrees: 1, findings: [] })
  })

  it.each<[string, number]>([
    ['the output scale is left out', 1],
    ['the output scale is applied twice', 9],
    ['C is divided by the output scale', 1 / 3]
  ])('%s', (when, wrong) => {
    expect(judge({ outputScale: wrong }).findings).toMatchObject([
      { kind: 'output-scale', sentence: `C is what these operands give when ${when}.` }
    ])
  })

  it('whose accumulator is added after its scale', () => {
    const { findings } = judge({ outputScale, added: (x) => x / outputScale })
    expect(findings).toMatchObject([
      {
        kind: 'accumulator',
        sentence:
          'C is what these operands give when the accumulator is added after the output scale.'
      }
    ])
  })
})
