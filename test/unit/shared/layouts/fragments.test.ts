import { describe, expect, it } from 'vitest'
import {
  elementsPerLane,
  fragmentElement,
  fragments,
  scaleProvider,
  tensorMemoryPlace,
  type ScaleVector
} from '@shared/layouts/fragments'
import { packedOffset } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'

/** The formulas of the PTX ISA's fragment sections: (lane, element) to (row, column) of A or C, (column, row) of B. */
const ptx: Record<string, (lane: number, i: number) => [number, number]> = {
  'm16n8k64 A': (lane, i) => [
    (lane >> 2) + (i < 8 || (i >= 16 && i < 24) ? 0 : 8),
    (lane % 4) * 8 + (i & 7) + (i < 16 ? 0 : 32)
  ],
  'm16n8k64 B': (lane, i) => [lane >> 2, (lane % 4) * 8 + (i & 7) + (i < 8 ? 0 : 32)],
  'm16n8k32 A': (lane, i) => [
    (lane >> 2) + (i < 4 || (i >= 8 && i < 12) ? 0 : 8),
    (lane % 4) * 4 + (i & 3) + (i < 8 ? 0 : 16)
  ],
  'm16n8k32 B': (lane, i) => [lane >> 2, (lane % 4) * 4 + (i & 3) + (i < 4 ? 0 : 16)],
  'm16n8 C': (lane, i) => [(lane >> 2) + (i < 2 ? 0 : 8), (lane % 4) * 2 + (i & 1)]
}

describe.each(fragments.map((one) => [one.name, one] as const))('%s', (name, fragment) => {
  it('follows the PTX ISA and covers the matrix exactly once', () => {
    const seen = new Set<number>()
    for (let lane = 0; lane < 32; lane++) {
      for (let i = 0; i < elementsPerLane(fragment); i++) {
        const { outer, inner } = fragmentElement(fragment, lane, i)
        expect([outer, inner]).toEqual(ptx[name]!(lane, i))
        seen.add(outer * fragment.innerExtent + inner)
      }
    }
    expect(seen.size).toBe(fragment.outerExtent * fragment.innerExtent)
    expect(Math.max(...seen)).toBe(seen.size - 1)
  })
})

describe('providers of scales for mma.sync', () => {
  it('A: rows 0..7 from even lanes, 8..15 from odd ones, as SFALayout (2,2,8):(8,0,1) says', () => {
    for (const threadId of [0, 1]) {
      for (let lane = 0; lane < 32; lane++) {
        if (Math.floor((lane % 4) / 2) !== threadId) continue
        const row = (lane % 2) * 8 + Math.floor(lane / 4)
        expect(scaleProvider('a', 1, row, 0, { threadId, byteId: 3 })).toEqual({ lane, byte: 3 })
      }
    }
  })

  it('B: column L / 4 from one lane of each quad; 2X and 4X take adjacent bytes', () => {
    expect(scaleProvider('b', 2, 5, 1, { threadId: 3, byteId: 2 })).toEqual({ lane: 23, byte: 3 })
    expect(scaleProvider('b', 4, 7, 2)).toEqual({ lane: 28, byte: 2 })
  })

  it.each([
    [1, { threadId: 2 }, 0, 'thread-id-a is 2; it goes from 0 to 1.'],
    [2, { byteId: 1 }, 0, 'byte-id-a is 1; scale_vec::2X takes a multiple of 2 below 4.'],
    [4, { byteId: 2 }, 0, 'a multiple of 4 below 4'],
    [2, {}, 2, 'Scale 2 along K: scale_vec::2X has 2.']
  ] as [ScaleVector, object, number, string][])('refuses %s %j', (vector, ids, index, message) => {
    expect(() => scaleProvider('a', vector, 0, index, ids)).toThrow(message)
  })
})

it('tensor memory holds the 512-byte blocks of nvidia_32_4_4, 16 bytes a lane, four times', () => {
  const layout = findLayout('nvidia_32_4_4')
  for (const scaleVector of [1, 2, 4] as const) {
    for (let row = 0; row < 128; row += 3) {
      for (let scale = 0; scale < 12; scale++) {
        const kBlock = Math.floor(scale / scaleVector)
        const { lanes, column, byte } = tensorMemoryPlace(
          scaleVector,
          row,
          kBlock,
          scale % scaleVector
        )
        const block = Math.floor(column / 4)
        const offset = block * 512 + lanes[0] * 16 + (column % 4) * 4 + byte
        expect(offset).toBe(packedOffset(layout, { rows: 128, columns: 12 }, row, scale))
        expect(lanes.map((lane) => lane % 32)).toEqual(Array(4).fill(row % 32))
      }
    }
  }
})
