/** What wgmma-fp8-folded loses, predicted on the CPU: elements as common/fold.cuh makes them, sums as the tensor cores make them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encode } from '@shared/formats/encode'
import { decodeTable, numberFormats } from '@shared/formats/numberFormat'
import { quantizeMx } from '@shared/formats/quantize'
import { fp8Row, hopperSums, type Fp8Row } from '../../../support/fp8Sums'

type Element = 'e4m3' | 'e5m2' | 'e2m1'
type Distribution = 'normal' | 'positive' | 'wide-scales'

const [block, chunk] = [32, 128]
/** Of the type that is multiplied: largest exponent, smallest normal one; binades between blocks that the guard lets through. */
const folding = {
  e4m3: { to: 'e4m3', top: 8, smallestNormal: -6, spread: 8 },
  e5m2: { to: 'e5m2', top: 15, smallestNormal: -14, spread: 22 },
  e2m1: { to: 'e5m2', top: 15, smallestNormal: -14, spread: 28 }
} as const

/** Exact numbers of a row, and those that the tensor cores are given: times 2^-reference, of a chunk's own or of the row's. */
interface Folded {
  exact: Float64Array
  row: Fp8Row
  references: number[]
  /** Whether scales lie further apart than the guard lets through. */
  isOutside: boolean
}

/** B's rows have one reference each; A's as well, or where that does not hold a row, one for each chunk. */
function fold(codes: Uint8Array, scales: Uint8Array, element: Element, side: 'a' | 'b'): Folded {
  const ofRow = foldGroups(codes, scales, element, codes.length)
  if (side === 'b' || !ofRow.isOutside) return ofRow
  return foldGroups(codes, scales, element, chunk)
}

function foldGroups(
  codes: Uint8Array,
  scales: Uint8Array,
  element: Element,
  group: number
): Folded {
  const { to, top, smallestNormal, spread } = folding[element]
  const table = decodeTable(numberFormats[element])
  const target = decodeTable(numberFormats[to])
  const exact = Float64Array.from(codes, (code, at) => {
    return table[code]! * 2 ** (scales[Math.floor(at / block)]! - 127)
  })
  const values = new Float64Array(codes.length)
  const references: number[] = []
  let isOutside = false
  for (let from = 0; from < codes.length; from += group) {
    const end = Math.min(from + group, codes.length)
    const binades: number[] = []
    for (let at = from; at < end; at += block) {
      const most = exact.subarray(at, at + block).reduce((a, b) => Math.max(a, Math.abs(b)), 0)
      if (most > 0) binades.push(Math.floor(Math.log2(most)))
    }
    const [low, high] = [Math.min(...binades), Math.max(...binades)]
    isOutside ||= high - low > spread
    const reference = element === 'e2m1' ? Math.max(high - top, low + 11) : high - top
    for (let at = from; at < end; at += chunk) references.push(reference)
    for (let at = from; at < end; at++)
      values[at] = target[encode(numberFormats[to], exact[at]! * 2 ** -reference)]!
  }
  return { exact, row: fp8Row(values, smallestNormal), references, isOutside }
}

/** One element of C: partial sums times A's power, added in float32, then times B's; and without what sums lose. */
function product(a: Folded, b: Folded): { asSummed: number; ofElements: number; exact: number } {
  let [total, ofElements, exact] = [0, 0, 0]
  for (const [at, sum] of hopperSums(a.row, b.row, chunk).entries())
    total = Math.fround(total + sum * 2 ** a.references[at]!)
  for (let at = 0; at < a.exact.length; at++) {
    const power = 2 ** (a.references[Math.floor(at / chunk)]! + b.references[0]!)
    ofElements += a.row.values[at]! * b.row.values[at]! * power
    exact += a.exact[at]! * b.exact[at]!
  }
  return { asSummed: total * 2 ** b.references[0]!, ofElements, exact }
}

let state = 0
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

/** A row as docs/operands.md has it of this distribution, from other random numbers. */
function rowOf(k: number, element: Element, distribution: Distribution, side: 'a' | 'b'): Folded {
  const values = Float64Array.from({ length: k }, () => {
    let sum = -262140
    for (let at = 0; at < 8; at++) sum += random(65536)
    return (distribution === 'positive' ? Math.abs(sum) : sum) / (65536 * Math.sqrt(8 / 12))
  })
  const { codes, scales } = quantizeMx(values, numberFormats[element], block)
  if (distribution === 'wide-scales')
    for (let at = 0; at < scales.length; at++) scales[at] = scales[at]! + random(13) - 6
  return fold(codes, scales, element, side)
}

/** Norm-wise errors over some elements of C, and whether the guard sends the product to the exact path. */
function errorsOf(elements: readonly [Element, Element], distribution: Distribution, k = 8192) {
  state = 5
  const rows = Array.from({ length: 12 }, () => rowOf(k, elements[0], distribution, 'a'))
  const columns = Array.from({ length: 12 }, () => rowOf(k, elements[1], distribution, 'b'))
  const isOutside = [...rows, ...columns].some((one) => one.isOutside)
  let [off, offByElements, all] = [0, 0, 0]
  for (const row of rows)
    for (const column of columns) {
      const { asSummed, ofElements, exact } = product(row, column)
      off += (asSummed - exact) ** 2
      offByElements += (ofElements - exact) ** 2
      all += exact ** 2
    }
  return { isOutside, error: Math.sqrt(off / all), byElements: Math.sqrt(offByElements / all) }
}

interface StatedError {
  format: string
  error: Partial<Record<string, number>>
}
const manifest = JSON.parse(readFileSync('resources/kernels/cuda/manifest.json', 'utf8')) as {
  kernels: { variants?: { id: string; formats?: StatedError[] }[] }[]
}
const statedErrors = manifest.kernels
  .flatMap(({ variants = [] }) => variants)
  .find(({ id }) => id === 'wgmma-fp8-folded')!.formats!

const pairs = {
  mxfp8: ['e4m3', 'e4m3'],
  mixed: ['e4m3', 'e2m1'],
  mxfp8_e5m2: ['e5m2', 'e5m2'],
  mxfp8_e4m3_e5m2: ['e4m3', 'e5m2']
} as const

describe('the error of wgmma-fp8-folded', () => {
  // docs/kernels.md has these beside what an H200 makes.
  it.each([
    ['mxfp8', 'normal', 1.4e-4],
    ['mxfp8', 'positive', 6.1e-4],
    ['mixed', 'normal', 5.5e-5],
    ['mixed', 'positive', 1.4e-4],
    ['mxfp8_e5m2', 'normal', 8.1e-5],
    ['mxfp8_e5m2', 'positive', 2.6e-4],
    ['mxfp8_e5m2', 'wide-scales', 1.5e-4],
    ['mxfp8_e4m3_e5m2', 'normal', 1.2e-4],
    ['mxfp8_e4m3_e5m2', 'positive', 4.1e-4]
  ] as const)(
    '%s, %s: %d, of which elements are next to nothing',
    (format, distribution, error) => {
      const found = errorsOf(pairs[format], distribution)
      expect(found.isOutside).toBe(false)
      expect(found.error / error).toBeGreaterThan(0.95)
      expect(found.error / error).toBeLessThan(1.05)
      expect(found.byElements).toBeLessThan(1e-7)
      // What its row states is more, but less than a kernel that loses one bit more would make.
      const stated = statedErrors.find((row) => row.format === format)!.error[distribution]!
      expect(stated).toBeGreaterThan(error)
      expect(stated).toBeLessThan(2 * error)
    }
  )

  it.each(['mxfp8', 'mixed', 'mxfp8_e4m3_e5m2'] as const)(
    '%s, wide-scales: the guard refuses scales 14 binades apart, though even they cost sums more than elements',
    (format) => {
      const found = errorsOf(pairs[format], 'wide-scales')
      expect(found.isOutside).toBe(true)
      expect(found.byElements).toBeGreaterThan(1e-6)
      expect(found.byElements).toBeLessThan(found.error / 20)
    }
  )

  it('is bounded by the guard where a block counts that lies far below its neighbours, which meet zeros of B', () => {
    const ofElements = (spread: number) => {
      state = 9
      const a = { codes: new Uint8Array(chunk), scales: new Uint8Array(chunk / block).fill(127) }
      for (let at = 0; at < chunk; at++) a.codes[at] = random(127)
      for (let at = 0; at < chunk; at += block) a.codes[at] = 126
      a.scales[2] = 127 - spread
      const b = new Uint8Array(chunk)
      for (let at = 2 * block; at < 3 * block; at++) b[at] = 1 + random(126)
      const row = fold(a.codes, a.scales, 'e4m3', 'a')
      const column = fold(
        b,
        a.scales.map(() => 127),
        'e4m3',
        'b'
      )
      const { ofElements: sum, exact } = product(row, column)
      const largest = 448 * 2 ** -spread
      const most = largest * column.exact.reduce((total, one) => total + Math.abs(one), 0)
      return { isOutside: row.isOutside, relative: Math.abs(sum - exact) / most }
    }
    const [at, past] = [ofElements(8), ofElements(9)]
    expect([at.isOutside, past.isOutside]).toEqual([false, true])
    expect(at.relative).toBeGreaterThan(0)
    expect(at.relative).toBeLessThan(2 ** -10)
    // What the guard keeps away.
    expect(ofElements(18).relative).toBeGreaterThan(0.01)
  })
})
