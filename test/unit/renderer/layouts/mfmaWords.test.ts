/** CDNA4's two layouts beside one another, held to the readers that know the lanes by themselves. */
import { describe, expect, it } from 'vitest'
import { mfmaScaleLane } from '@shared/layouts/scaleReaders'
import {
  mfmaEdges,
  mfmaWords,
  placeInWords
} from '../../../../src-renderer/views/layouts/mfmaWords'

describe('words of a wavefront', () => {
  it.each(mfmaEdges)(
    'of %i rows hold each scale of the tile once, in the lane that reads it',
    (edge) => {
      const { bytes } = mfmaWords(edge)
      expect(new Set(bytes.map(({ row, column }) => 8 * row + column)).size).toBe(256)
      for (const { lane, row, column } of bytes) expect(lane).toBe(mfmaScaleLane(edge, row, column))
      // One column of an operation stands in one group of lanes.
      for (const { lane, shade } of bytes)
        expect(shade).toBe(edge === 16 ? Math.floor(lane / 16) : 2 * Math.floor(lane / 32))
    }
  )

  it('place row 21, column 5 where both layouts have it, and the operation that takes it', () => {
    const at = { row: 21, column: 5 }
    expect(placeInWords(mfmaWords(16), at, 32)).toMatchObject({
      offset: 87,
      at: { lane: 21, byte: 3 },
      operation: { rows: [16, 31], k: [128, 255] }
    })
    expect(placeInWords(mfmaWords(32), at, 32)).toMatchObject({
      offset: 214,
      at: { lane: 53, byte: 2 },
      operation: { rows: [0, 31], k: [128, 191] }
    })
    // Of a further tile: the same byte of its own words, other rows of the matrix.
    expect(placeInWords(mfmaWords(16), { row: 53, column: 13 }, 32)).toMatchObject({
      offset: 87,
      operation: { rows: [48, 63], k: [384, 511] }
    })
  })
})
