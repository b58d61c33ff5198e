import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  alwaysExact,
  promotionIntervals,
  promotionProof,
  type PromotionProof,
  provedCounts,
  provedInterval
} from '@shared/formats/promotionProof'
import { decodeTable, numberFormats } from '@shared/formats/numberFormat'
import { fp8Row, hopperSums, type Fp8Row } from '../../../support/fp8Sums'

const e2m1 = decodeTable(numberFormats.e2m1)
const one = { first: 0, count: 1 }

/** A row of MXFP4: a code for each element, a scale code for each block of 32. */
interface Row {
  codes: number[]
  scales: number[]
}

/** A case of promotion_proof.json. `most`: of each stretch, the largest N of the rows for each interval. */
interface PromotionCase {
  rows: number
  k: number
  codes: number[]
  scales: number[]
  most: number[][]
}

const packed = ({ codes }: Row) =>
  Uint8Array.from(
    { length: codes.length / 2 },
    (_, at) => codes[2 * at]! | (codes[2 * at + 1]! << 4)
  )

const proofOf = (row: Row) =>
  promotionProof(packed(row), Uint8Array.from(row.scales), 1, row.codes.length)

/** Of one row and stretch, whose N is the same for each interval. */
const proofWith = (n: number): PromotionProof => {
  const of = { 256: Float64Array.of(n), 128: Float64Array.of(n), 64: Float64Array.of(n) }
  return { rows: 1, stretches: 1, of }
}

it('asks each side for less than 2^24, and both for 2^28 together', () => {
  const intervalOf = (a: number, b: number) =>
    provedInterval(proofWith(a), proofWith(b), one, one, 0)
  expect(intervalOf(2 ** 24 - 1, 16)).toBe(256)
  expect(intervalOf(2 ** 24, 16)).toBe(alwaysExact)
  expect(intervalOf(1, 2 ** 24)).toBe(alwaysExact)
  expect(intervalOf(2 ** 14 + 1, 2 ** 14)).toBe(alwaysExact)
})

const proved = (a: Row, b: Row) => provedInterval(proofOf(a), proofOf(b), one, one, 0)

/**
 * A row as common/reencode.cuh encodes it: values times 2^(scale - r) with r taken out of the whole row, and subnormal below 2^-14.
 * r = max(largest - 13, smallest + 13) over the blocks that are not zero.
 */
function encoded({ codes, scales }: Row): Fp8Row {
  const used = scales.filter((_, block) =>
    codes.slice(32 * block, 32 * block + 32).some((code) => e2m1[code] !== 0)
  )
  const reference = Math.max(Math.max(...used) - 13, Math.min(...used) + 13)
  const values = codes.map((code, at) => e2m1[code]! * 2 ** (scales[at >> 5]! - reference))
  return fp8Row(Float64Array.from(values), -14)
}

/** Sums of one element of C over its intervals of P. */
const sumsOf = (a: Row, b: Row, interval: number) => hopperSums(encoded(a), encoded(b), interval)

/** The same sums exactly: whole multiples of 2^-34, the smallest product of two e5m2 codes being 2^-32. */
function exactSums(a: Row, b: Row, interval: number): bigint[] {
  const [rowA, rowB] = [encoded(a).values, encoded(b).values]
  const sums: bigint[] = []
  for (let from = 0; from < rowA.length; from += interval) {
    let sum = 0n
    for (let at = from; at < Math.min(from + interval, rowA.length); at++)
      sum += BigInt(rowA[at]! * 2 ** 17) * BigInt(rowB[at]! * 2 ** 17)
    sums.push(sum)
  }
  return sums
}

const isExact = (a: Row, b: Row, interval: number) =>
  sumsOf(a, b, interval).every((sum, at) => BigInt(sum * 2 ** 34) === exactSums(a, b, interval)[at])

/** Codes of e2m1 magnitudes. */
const code = (magnitude: number) => e2m1.findIndex((value) => value === magnitude)
const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

/** Two blocks at the border: 15 elements 4 x 2^2 and 16 elements 4 make N = 2^14, and a square of 4096 units; then zeros up to P. */
function border(interval: number, more: number[] = []): Row {
  const first = [...repeat(15, code(4)), ...repeat(17, 0)]
  const second = [...repeat(16, code(4)), ...more, ...repeat(16 - more.length, 0)]
  const blocks = interval / 32
  return {
    codes: [...first, ...second, ...repeat(interval - 64, 0)],
    scales: [129, 127, ...repeat(blocks - 2, 90)]
  }
}

describe('the proof of a promotion interval', () => {
  it.each(promotionIntervals)('holds at its border and not one past it: P = %d', (interval) => {
    const at = border(interval)
    expect(proofOf(at).of[interval]).toEqual(Float64Array.of(2 ** 14))
    expect(proved(at, at)).toBeGreaterThanOrEqual(interval)
    expect(isExact(at, at, interval)).toBe(true)
    const past = border(interval, [code(0.5)])
    expect(proofOf(past).of[interval]).toEqual(Float64Array.of(2 ** 14 + 1))
    expect(proved(past, past)).toBeLessThan(interval)
    // Not only unproved: the quarter is lost.
    expect(isExact(past, past, interval)).toBe(false)
    expect(sumsOf(past, past, interval)).toEqual(sumsOf(at, at, interval))
  })

  it('never holds where a sum loses a bit: random operands about the border', () => {
    let state = 12345
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const seen = { proved: 0, near: 0, wrong: 0, refused: 0 }
    for (let round = 0; round < 900; round++) {
      const interval = promotionIntervals[round % 3]!
      const spread = random(8)
      const sparse = random(3) === 0 ? 1 + random(12) : 1
      const alike = random(2) === 0
      const make = (): Row => ({
        codes: Array.from({ length: interval }, () =>
          random(sparse) > 0 ? 0 : alike ? 4 + random(4) : random(16)
        ),
        // Ends of the window too, where codes are subnormal.
        scales: Array.from({ length: interval / 32 }, () => 127 + random(spread + 1))
      })
      const [a, b] = [make(), make()]
      if (random(4) === 0) b.scales[0] = b.scales[0]! + random(12)
      if (random(4) === 0) a.scales[0] = a.scales[0]! - random(16)
      const isProved = proved(a, b) >= interval
      const exact = isExact(a, b, interval)
      if (isProved) expect(exact, JSON.stringify({ a, b })).toBe(true)
      const size = proofOf(a).of[interval][0]! * proofOf(b).of[interval][0]!
      if (isProved) seen.proved++
      else seen.refused++
      if (isProved && size > 2 ** 25) seen.near++
      if (!exact) seen.wrong++
    }
    expect(seen.proved).toBeGreaterThan(100)
    expect(seen.near).toBeGreaterThan(20)
    expect(seen.refused).toBeGreaterThan(100)
    expect(seen.wrong).toBeGreaterThan(20)
  })

  it('gives the numbers that the encoder on the GPU is held to (native/test/promotionProofDevice)', () => {
    const path = 'test/fixtures/kernels/promotion_proof.json'
    const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: PromotionCase[] }
    for (const { rows, k, codes, scales, most } of cases) {
      const proof = promotionProof(Uint8Array.from(codes), Uint8Array.from(scales), rows, k)
      const ofTile = (interval: (typeof promotionIntervals)[number], at: number) =>
        Array.from({ length: rows }, (_, row) => proof.of[interval][row * proof.stretches + at]!)
      // From 2^24 on nothing is proved.
      const got = Array.from({ length: proof.stretches }, (_, at) =>
        promotionIntervals.map((interval) => Math.min(2 ** 24, Math.max(...ofTile(interval, at))))
      )
      expect(got).toEqual(most)
    }
  })

  it('looks at blocks that are not zero alone, and refuses NaN', () => {
    const row = border(64)
    const zeros = { codes: repeat(64, 0), scales: [0, 254] }
    expect(proved(row, zeros)).toBe(256)
    const broken = { ...row, scales: [129, 255] }
    expect(proved(broken, row)).toBe(alwaysExact)
    expect(() => promotionProof(new Uint8Array(32), new Uint8Array(1), 1, 64)).toThrow(
      '32 bytes of codes and 1 scales are not 1 rows of K=64 in MXFP4.'
    )
  })

  it('is of a tile what it is of its worst rows in a stretch of K, and tells how many are proved', () => {
    const good = border(512)
    const bad = border(512, [code(0.5)])
    const rows = [good, good, good, bad]
    const codes = Uint8Array.from(rows.flatMap((row) => [...packed(row)]))
    const scales = Uint8Array.from(rows.flatMap((row) => row.scales))
    const proof = promotionProof(codes, scales, 4, 512)
    const all = { first: 0, count: 4 }
    expect(provedInterval(proof, proof, { first: 0, count: 3 }, { first: 0, count: 3 }, 0)).toBe(
      256
    )
    expect([0, 1].map((at) => provedInterval(proof, proof, all, all, at))).toEqual([32, 256])
    expect([...provedCounts(proof, proof, { rows: 2, columns: 2 })]).toEqual([
      [256, 1 + 4],
      [128, 0],
      [64, 0],
      [32, 3]
    ])
  })
})
