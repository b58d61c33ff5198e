/** The two CDNA4 layouts beside one another: one tile of scales, and the 64 words of a wavefront that hold it. */
import { findLayout } from '@shared/layouts/registry'
import { packedOffset, scaleAt, type ScaleLayout } from '@shared/layouts/layout'
import { wordOperations, type WordOperation } from '@shared/layouts/wordOperations'
import type { Position } from './inspect'

/** Of either layout: 32 rows by 8 scale columns are the 256 bytes that 64 lanes load at once. */
export const mfmaTile = { rows: 32, columns: 8 } as const
export const laneCount = 64
const bytesPerWord = 4

/** Rows and columns of C that one operation computes: 16 or 32. */
export const mfmaEdges = [16, 32] as const
export type MfmaEdge = (typeof mfmaEdges)[number]

export interface WordByte {
  lane: number
  byte: number
  /** Within the tile. */
  row: number
  column: number
  /** By the lanes that hold one column of an operation: 0 to 3. */
  shade: number
}

export interface MfmaWords {
  edge: MfmaEdge
  layout: ScaleLayout
  instruction: string
  /** In the order of memory: 4 bytes a lane. */
  bytes: readonly WordByte[]
}

export function mfmaWords(edge: MfmaEdge): MfmaWords {
  const layout = findLayout(`cdna4_mfma${edge}`)
  const bytes = Array.from({ length: laneCount * bytesPerWord }, (_, offset): WordByte => {
    const { row, column } = scaleAt(layout, mfmaTile, offset)!
    const lane = Math.floor(offset / bytesPerWord)
    const shade = Math.floor(lane / edge) * (edge / 16)
    return { lane, byte: offset % bytesPerWord, row, column, shade }
  })
  const along = edge === 16 ? 128 : 64
  return { edge, layout, bytes, instruction: `v_mfma_scale_f32_${edge}x${edge}x${along}_f8f6f4` }
}

/** Where the scale at a position of the matrix lies in its tile's words, and which operation takes it. */
export function placeInWords(
  { layout, bytes }: MfmaWords,
  { row, column }: Position,
  scaleBlockSize: number
): { at: WordByte; offset: number; operation: WordOperation } {
  const offset = packedOffset(layout, mfmaTile, row % mfmaTile.rows, column % mfmaTile.columns)
  const at = bytes[offset]!
  return {
    at,
    offset,
    operation: wordOperations(layout, { row, column }, scaleBlockSize)[at.byte]!
  }
}
