import { describe, expect, it } from 'vitest'
import { blockFormats, findBlockFormat, type BlockFormat } from '@shared/formats/blockFormat'
import { encode, floorLog2 } from '@shared/formats/encode'
import { decodeTable, isScaled, largestExponent, numberFormats } from '@shared/formats/numberFormat'
import type { NumberFormat } from '@shared/formats/numberFormat'
import { loadTestAddon } from '../../support/addon'

// Written from docs/operands.md alone, apart from native/core/operands.cpp: both must give the same bytes.

const mask = 0xffffffffn

/** Philox4x32-10. */
function words(seed: bigint, stream: number, index: number): number[] {
  let counter = [BigInt(index) & mask, BigInt(index) >> 32n, BigInt(stream), 0n]
  let key = [seed & mask, seed >> 32n]
  for (let round = 0; round < 10; round++) {
    const first = 0xd2511f53n * counter[0]!
    const third = 0xcd9e8d57n * counter[2]!
    counter = [
      (third >> 32n) ^ counter[1]! ^ key[0]!,
      third & mask,
      (first >> 32n) ^ counter[3]! ^ key[1]!,
      first & mask
    ]
    key = [(key[0]! + 0x9e3779b9n) & mask, (key[1]! + 0xbb67ae85n) & mask]
  }
  return counter.map(Number)
}

interface Side {
  element: NumberFormat
  scale: NumberFormat
  block: number
  codeStream: number
  scaleStream: number
  seed: bigint
}

const wordOf = (side: Side, stream: number, i: number) =>
  words(side.seed, stream, Math.floor(i / 4))[i % 4]!
const times = (a: number, b: number, shift: number) =>
  Number((BigInt(a) * BigInt(b)) >> BigInt(shift))
const isE8m0 = (side: Side) => side.scale.name === 'e8m0'

function largestFinite(format: NumberFormat): number {
  const half = 2 ** (format.exponentBits + format.mantissaBits)
  return decodeTable(format).slice(0, half).findLastIndex(Number.isFinite)
}

function finiteCode(format: NumberFormat, w: number): number {
  const magnitude = times(w & 0x7fffffff, largestFinite(format) + 1, 31)
  return w >>> 31 ? magnitude + signBit(format) : magnitude
}

const signBit = (format: NumberFormat) => 2 ** (format.exponentBits + format.mantissaBits)

interface Block {
  codes: number[]
  scale: number
}
const normalUnit = 0x13988e2 * 2 ** -40

type Distribution = (side: Side, block: number) => Block

const elementWords = (side: Side, block: number) =>
  Array.from({ length: side.block }, (_, i) =>
    wordOf(side, side.codeStream, block * side.block + i)
  )

const tutorial: Distribution = (side, block) => {
  const values = decodeTable(numberFormats.e2m1)
  const codes = elementWords(side, block).map((w) => encode(side.element, values[w >>> 28]!))
  const u = wordOf(side, side.scaleStream, block) >>> 8
  if (isE8m0(side)) return { codes, scale: u === 0 ? 100 : floorLog2(u) - 24 + 127 }
  const uniform = Math.fround(Math.fround(u * 2 ** -24) + Math.fround(1e-8))
  return { codes, scale: encode(side.scale, uniform) }
}

const uniformCodes: Distribution = (side, block) => {
  const w = wordOf(side, side.scaleStream, block)
  return {
    codes: elementWords(side, block).map((word) => finiteCode(side.element, word)),
    scale: isE8m0(side) ? 124 + times(w, 7, 32) : 1 + times(w, 126, 32)
  }
}

/** Values near N(0, 1), each put through `shape`, quantised. */
const quantised =
  (shape: (value: number) => number): Distribution =>
  (side, block) => {
    const unit = normalUnit
    const values = Array.from({ length: side.block }, (_, i) => {
      const drawn = words(side.seed, side.codeStream, block * side.block + i)
      const sum = drawn.reduce((total, w) => total + (w & 0xffff) + (w >>> 16), 0)
      return shape(Math.fround((sum - 262140) * unit))
    })
    const largest = Math.max(...values.map(Math.abs))
    if (isE8m0(side)) {
      const exponent = floorLog2(largest) - largestExponent(side.element)
      const codes = values.map((value) => encode(side.element, value * 2 ** -exponent))
      return { codes, scale: exponent + 127 }
    }
    const scale = encode(side.scale, Math.fround(largest / 6))
    const step = decodeTable(side.scale)[scale]!
    return { codes: values.map((value) => encode(side.element, Math.fround(value / step))), scale }
  }

const normal = quantised((value) => value)
const positive = quantised(Math.abs)

const wideScales: Distribution = (side, block) => {
  const { codes, scale } = normal(side, block)
  const shift = times(wordOf(side, side.scaleStream, block), 13, 32) - 6
  if (isE8m0(side)) return { codes, scale: Math.min(254, Math.max(0, scale + shift)) }
  const value = decodeTable(side.scale)[scale]! * 2 ** Math.trunc(shift / 2)
  return { codes, scale: encode(side.scale, value) }
}

const adversarial: Distribution = (side, block) => {
  const sign = signBit(side.element)
  const codes: number[] = []
  for (const w of elementWords(side, block)) {
    const random = w & 0x100 ? sign : 0
    const kind = w & 7
    if (kind <= 2) codes.push([largestFinite(side.element), 1, 0][kind]! + random)
    else if (kind <= 4 && codes.length > 0) codes.push(codes.at(-1)! ^ sign)
    else codes.push(finiteCode(side.element, w))
  }
  const w = wordOf(side, side.scaleStream, block)
  const extreme = (w & 31) === 0
  if (isE8m0(side)) {
    const usual = 127 - largestExponent(side.element) - 6 + ((w >>> 8) % 8)
    return { codes, scale: extreme ? (w >>> 5) & 7 : usual }
  }
  return { codes, scale: extreme ? [1, 7, 8, 0x7e][(w >>> 5) & 3]! : 0x20 + ((w >>> 8) & 31) }
}

const zeros: Distribution = (side) => ({
  codes: new Array<number>(side.block).fill(0),
  scale: isE8m0(side) ? 127 : 0x38
})

/** Elements without scales; `before`: the code ahead of it in its block. */
type Unscaled = (side: Side, index: number, before: number | undefined) => number

const uniformBf16 = (w: number) =>
  124 * 128 + times(w & 0x7fffffff, 7 * 128, 31) + (w >>> 31 ? 0x8000 : 0)
const wordAt = (side: Side, index: number) => wordOf(side, side.codeStream, index)
const normalAt = (side: Side, index: number) => {
  const halves = words(side.seed, side.codeStream, index).flatMap((w) => [w & 0xffff, w >>> 16])
  return Math.fround((halves.reduce((all, half) => all + half, 0) - 262140) * normalUnit)
}
const unscaled: Record<string, Unscaled> = {
  tutorial: (side, i) =>
    encode(side.element, decodeTable(numberFormats.e2m1)[wordAt(side, i) >>> 28]!),
  'uniform-codes': (side, i) => uniformBf16(wordAt(side, i)),
  normal: (side, i) => encode(side.element, normalAt(side, i)),
  positive: (side, i) => encode(side.element, Math.abs(normalAt(side, i))),
  'wide-scales': (side, i) => {
    const shift = times(wordOf(side, side.scaleStream, Math.floor(i / side.block)), 13, 32) - 6
    return encode(side.element, normalAt(side, i) * 2 ** shift)
  },
  adversarial: (side, i, before) => {
    const w = wordAt(side, i)
    const kind = w & 7
    if (kind <= 2) return [0x407f, 1, 0][kind]! + (w & 0x100 ? 0x8000 : 0)
    return kind <= 4 && before !== undefined ? before ^ 0x8000 : uniformBf16(w)
  },
  zeros: () => 0
}

const distributions: Record<string, Distribution> = {
  tutorial,
  'uniform-codes': uniformCodes,
  normal,
  positive,
  'wide-scales': wideScales,
  adversarial,
  zeros
}

function generate(name: string, side: Side, rows: number, k: number) {
  if (!isScaled(side.element)) {
    const codes = new Uint16Array(rows * k)
    codes.forEach((_, i) => {
      codes[i] = unscaled[name]!(side, i, i % side.block > 0 ? codes[i - 1] : undefined)
    })
    return { codes: new Uint8Array(codes.buffer), scales: new Uint8Array() }
  }
  const distribution = distributions[name]!
  const blocks = Array.from({ length: (rows * k) / side.block }, (_, b) => distribution(side, b))
  return {
    codes: Uint8Array.from(blocks.flatMap((block) => block.codes)),
    scales: Uint8Array.from(blocks, (block) => block.scale)
  }
}

const addon = loadTestAddon()
const [m, n, k, batch] = [19, 23, 192, 2]
// Above 2^32, so that the key's high word counts.
const seed = 5 * 2 ** 32 + 42

async function fromAddon(format: BlockFormat, distribution: string) {
  const cancel = addon.createCancelFlag()
  const operands = { distribution, seed }
  const session = await addon.open(
    {
      device: 'cpu',
      format: format.id,
      m,
      n,
      k,
      batchA: [batch],
      batchB: [batch],
      output: 'f16',
      operands
    },
    cancel
  )
  const made = await session.operands()
  await session.close()
  return made
}

/** E of "The accumulator". */
function exponentOf(name: string, { a, b, scale }: BlockFormat): number {
  const binades = Math.floor(Math.log2(k))
  const half = Math.floor(binades / 2)
  const emaxA = isScaled(a) ? largestExponent(a) : 0
  const [e8m0, ue4m3, besideBf16] = {
    normal: [half, half, half],
    tutorial: [half + 1, half + 1, half + 1],
    positive: [binades - 1, binades - 1, binades - 1],
    'wide-scales': [half + 8, half + 3, half + 5],
    'uniform-codes': [1, 10, 5].map((more) => half + emaxA + largestExponent(b) + more),
    adversarial: [half - 2, half + 8, half + 4],
    zeros: [0, 0, 0]
  }[name]!
  if (scale.name === 'e8m0') return e8m0!
  return (isScaled(a) ? ue4m3 : besideBf16)!
}

describe.each(Object.keys(distributions))('docs/operands.md, the accumulator of %s', (name) => {
  it.each(['mxfp4', 'nvfp4', 'e5m2xe2m1', 'w4a16_mxfp4', 'w4a16_nvfp4'])('%s', async (id) => {
    const format = findBlockFormat(id)
    const cancel = addon.createCancelFlag()
    const session = await addon.open(
      {
        ...{ device: 'cpu', format: id, m, n, k, batchA: [batch], output: 'f32' },
        ...{ accumulate: true, operands: { distribution: name, seed } }
      },
      cancel
    )
    const { accumulator } = await session.operands()
    await session.close()
    const scale = 2 ** exponentOf(name, format)
    const wanted = Float32Array.from({ length: batch * m * n }, (_, i) => {
      const halves = words(BigInt(seed), 4, i).flatMap((word) => [word & 0xffff, word >>> 16])
      const sum = halves.reduce((all, half) => all + half, 0)
      const value = Math.fround((sum - 262140) * normalUnit) * scale
      if (name === 'zeros') return 0
      return name === 'positive' ? Math.abs(value) : value
    })
    expect(accumulator).toEqual(wanted)
  })
})

describe.each(Object.keys(distributions))('docs/operands.md, %s', (name) => {
  it.each(blockFormats.map((format) => [format.id, format] as const))('%s', async (_id, format) => {
    const made = await fromAddon(format, name)
    const common = { scale: format.scale, block: format.scaleBlockSize, seed: BigInt(seed) }
    const a = { ...common, element: format.a, codeStream: 0, scaleStream: 2 }
    const b = { ...common, element: format.b, codeStream: 1, scaleStream: 3 }
    const sideA = generate(name, a, batch * m, k)
    const sideB = generate(name, b, batch * n, k)
    expect(Buffer.compare(made.aCodes, sideA.codes)).toBe(0)
    expect(Buffer.compare(made.aScales, sideA.scales)).toBe(0)
    expect(Buffer.compare(made.bCodes, sideB.codes)).toBe(0)
    expect(Buffer.compare(made.bScales, sideB.scales)).toBe(0)
    expect([made.tensorScaleA, made.tensorScaleB]).toEqual([1, 1])
  })
})
