import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  elementsPerLane,
  findFragment,
  fragmentElement,
  fragmentPlace,
  fragments,
  laneCount,
  registerElements,
  registersPerLane,
  runLength,
  type Fragment
} from '@shared/layouts/fragments'

type Formula = (lane: number, i: number) => [number, number]

/** The formulas of the PTX ISA's fragment sections: (lane, element) to (row, column) of A or C, (column, row) of B. */
const accumulator: Formula = (lane, i) => [(lane >> 2) + (i < 2 ? 0 : 8), (lane % 4) * 2 + (i & 1)]
const ptx: Record<string, Formula> = {
  'm16n8k64 A 4': (lane, i) => [
    (lane >> 2) + (i < 8 || (i >= 16 && i < 24) ? 0 : 8),
    (lane % 4) * 8 + (i & 7) + (i < 16 ? 0 : 32)
  ],
  'm16n8k64 B 4': (lane, i) => [lane >> 2, (lane % 4) * 8 + (i & 7) + (i < 8 ? 0 : 32)],
  'm16n8k64 C 32': accumulator,
  'm16n8k32 A 8': (lane, i) => [
    (lane >> 2) + (i < 4 || (i >= 8 && i < 12) ? 0 : 8),
    (lane % 4) * 4 + (i & 3) + (i < 8 ? 0 : 16)
  ],
  'm16n8k32 B 8': (lane, i) => [lane >> 2, (lane % 4) * 4 + (i & 3) + (i < 4 ? 0 : 16)],
  'm16n8k32 C 32': accumulator
}

/** "Matrix Fragments for mma.m16n8k16 with floating point type". */
ptx['m16n8k16 A 16'] = (lane, i) => [
  (lane >> 2) + (i < 2 || (i >= 4 && i < 6) ? 0 : 8),
  (lane % 4) * 2 + (i & 1) + (i < 4 ? 0 : 8)
]
ptx['m16n8k16 B 16'] = (lane, i) => [lane >> 2, (lane % 4) * 2 + (i & 1) + (i < 2 ? 0 : 8)]
ptx['m16n8k16 C 32'] = accumulator
/** "Register Fragments for wgmma.mma_async": each warp of the warpgroup has 16 rows, as mma.m16n8k16 and k32. */
for (const n of [64, 128, 256]) {
  const rowOf = (lane: number) => Math.floor(lane / 32) * 16 + ((lane % 32) >> 2)
  ptx[`m64n${n}k16 A 16`] = (lane, i) => [
    rowOf(lane) + (i & 2 ? 8 : 0),
    (lane % 4) * 2 + (i & 1) + (i & 4 ? 8 : 0)
  ]
  ptx[`m64n${n}k32 A 8`] = (lane, i) => [
    rowOf(lane) + (i & 4 ? 8 : 0),
    (lane % 4) * 4 + (i & 3) + (i & 8 ? 16 : 0)
  ]
  ptx[`m64n${n}k16 C 32`] = ptx[`m64n${n}k32 C 32`] = (lane, i) => [
    rowOf(lane) + (i & 2 ? 8 : 0),
    (i >> 2) * 8 + (lane % 4) * 2 + (i & 1)
  ]
}

/** Start of a lane's elements and step between its two runs, as Composable Kernel's loads for gfx950 compute them. */
function loadedRuns(edge: number, bits: number): Formula {
  const run = bits === 8 ? 16 : 32
  return (lane, i) => [
    lane % edge,
    Math.floor(lane / edge) * run + Math.floor(i / run) * ((run * 64) / edge) + (i % run)
  ]
}
for (const [shape, edge] of [
  ['16x16x128', 16],
  ['32x32x64', 32]
] as const) {
  for (const bits of [8, 6, 4]) {
    ptx[`${shape} A ${bits}`] = ptx[`${shape} B ${bits}`] = loadedRuns(edge, bits)
  }
  ptx[`${shape} C 32`] = (lane, i) => [
    Math.floor(lane / edge) * 4 + (i % 4) + Math.floor(i / 4) * 8,
    lane % edge
  ]
}

const title = ({ shape, operand, bits }: Fragment) => `${shape} ${operand} ${bits}`

describe.each(fragments.map((one) => [title(one), one] as const))('%s', (name, fragment) => {
  it('follows its formula and covers the matrix exactly once', () => {
    const seen = new Set<number>()
    for (let lane = 0; lane < laneCount(fragment); lane++) {
      const elements = Array.from({ length: elementsPerLane(fragment) }, (_, i) => i)
      const places = elements.map((i) => fragmentElement(fragment, lane, i))
      expect(places.map(({ outer, inner }) => [outer, inner])).toEqual(
        elements.map((i) => ptx[name]!(lane, i))
      )
      for (const { outer, inner } of places) seen.add(outer * fragment.innerExtent + inner)
    }
    expect(seen.size).toBe(fragment.outerExtent * fragment.innerExtent)
    expect(Math.max(...seen)).toBe(seen.size - 1)
  })

  it('finds the way back from every place', () => {
    fc.assert(
      fc.property(
        fc.nat(fragment.outerExtent - 1),
        fc.nat(fragment.innerExtent - 1),
        (outer, inner) => {
          const { lane, element, register, bit } = fragmentPlace(fragment, outer, inner)
          expect(fragmentElement(fragment, lane, element)).toEqual({ outer, inner })
          expect(registerElements(fragment, lane, register)).toContainEqual({ outer, inner, bit })
        }
      )
    )
  })

  it('keeps a run of neighbours in one lane', () => {
    const run = runLength(fragment)
    const lanes = (inner: number) => fragmentPlace(fragment, 0, inner).lane
    for (let start = 0; start < fragment.innerExtent; start += run) {
      expect(lanes(start + run - 1)).toBe(lanes(start))
    }
  })
})

describe('registers', () => {
  it.each([
    ['m16n8k64', 'A', undefined, 4],
    ['m16n8k32', 'b', undefined, 2],
    ['16x16x128', 'A', 8, 8],
    ['16x16x128', 'A', 6, 6],
    ['32x32x64', 'B', 4, 4],
    ['32x32x64', 'C', undefined, 16]
  ])('%s %s of %s bits takes %s', (shape, operand, bits, count) => {
    expect(registersPerLane(findFragment(shape, operand, bits))).toBe(count)
  })

  it('a 6-bit element may begin in one register and end in the next', () => {
    expect(fragmentPlace(findFragment('16x16x128', 'A', 6), 3, 37)).toEqual({
      lane: 19,
      element: 5,
      register: 0,
      bit: 30
    })
  })

  it.each([
    [() => findFragment('m8n8k4', 'A'), '"m8n8k4" is no MMA shape. Shapes: m16n8k64'],
    [() => findFragment('m16n8k64', 'D'), '"D" is no operand'],
    [() => findFragment('m16n8k64', 'A', 8), 'A of m16n8k64 has no elements of 8 bits'],
    [
      () => fragmentPlace(findFragment('m16n8k64', 'B'), 8, 0),
      'n = 8, k = 0 lies outside B of m16n8k64: n goes to 7, k to 63.'
    ],
    [
      () => registerElements(findFragment('m16n8k64', 'A'), 32, 0),
      'lane 32: A of m16n8k64 has lanes 0 to 31.'
    ],
    [
      () => registerElements(findFragment('m16n8k64', 'A'), 0, 4),
      'register 4: A of m16n8k64 has registers 0 to 3.'
    ]
  ])('refuses %s', (work, message) => {
    expect(work).toThrow(message)
  })
})
