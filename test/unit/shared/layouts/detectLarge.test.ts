/** Buffers too large to count every candidate in full: a sample finds the likely ones. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { detectLayout } from '@shared/layouts/detect'
import { mistakenMap } from '@shared/layouts/detectCandidates'
import { packedMap, packScales } from '@shared/layouts/layout'
import type * as Layout from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

vi.mock('@shared/layouts/layout', async (original) => {
  const real = await original<typeof Layout>()
  return { ...real, packedMap: vi.fn(real.packedMap) }
})
const mapsMade = vi.mocked(packedMap)
beforeEach(() => void mapsMade.mockClear())

const shape = { rows: 1024, columns: 256 }
const count = shape.rows * shape.columns

function noise(seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return 100 + ((state >>> 24) % 53)
  })
}
const linear = noise(1)

it('noise has no layout, and few maps are made to say so', () => {
  const found = detectLayout(noise(2), linear, shape)
  expect(found.verdict).toBe('nearest')
  expect(found.agreement).toBeGreaterThan(0.01)
  expect(found.agreement).toBeLessThan(0.03)
  // Nine layouts and six mistakes of each; those of the reverse row order and the plain one share a map each.
  expect(mapsMade.mock.calls.length).toBeLessThan(layouts.length)
})

it.each(['linear', 'nvidia_32_4_4', 'deepgemm_ue8m0'])(
  'finds %s with one byte of 64 spoiled',
  (name) => {
    const packed = packScales(findLayout(name), shape, linear)
    let wrong = 0
    for (let i = 5; i < packed.length; i += 64) {
      packed[i]! ^= 1
      wrong++
    }
    const found = detectLayout(packed, linear, shape)
    // Another layout may be the same at this shape.
    expect([found, ...found.alike].map((one) => one.layout)).toContain(name)
    expect(found).toMatchObject({ verdict: 'nearest', agreement: 1 - wrong / count })
    expect(found.firstDifference?.offset).toBe(5)
  }
)

describe('one byte that no sample hits', () => {
  // Between the multiples of the golden ratio, so that only the whole map shows it.
  const golden = (Math.sqrt(5) - 1) / 2
  const hit = new Set(
    Array.from({ length: 2 ** 16 }, (_, i) => Math.floor(((i * golden) % 1) * count))
  )
  const missed = Array.from({ length: count }, (_, i) => i).find((i) => !hit.has(i))!

  it('is no full agreement', () => {
    const packed = packScales(findLayout('nvidia_32_4_4'), shape, linear)
    packed[missed]! ^= 1
    const found = detectLayout(packed, linear, shape)
    expect(found).toMatchObject({ verdict: 'nearest', layout: 'nvidia_32_4_4' })
    expect(found.firstDifference?.offset).toBe(missed)
  })
})

it('finds a mistake in a large buffer', () => {
  const map = mistakenMap(findLayout('nvidia_32_4_4'), shape, 'major-mix-up')!
  const packed = Uint8Array.from(map, (index) => linear[index]!)
  expect(detectLayout(packed, linear, shape)).toMatchObject({
    verdict: 'defect',
    layout: 'nvidia_32_4_4',
    defect: 'major-mix-up'
  })
})
