import { packedOffset, scaleAt, type ScaleLayout } from './layout'

/** The four bytes of a lane's word of a CDNA4 layout: which operation takes each, and of which rows and elements. */
export interface WordOperation {
  byte: number
  operation: number
  rows: [number, number]
  k: [number, number]
}

/** Operations are numbered as Triton's tutorial 10 does: along K first, then down the rows. Empty for other layouts. */
export function wordOperations(
  layout: ScaleLayout,
  { row, column }: { row: number; column: number },
  scaleBlockSize = 32
): WordOperation[] {
  const edge = { cdna4_mfma16: 16, cdna4_mfma32: 32 }[layout.name]
  if (!edge) return []
  const tile = { rows: 32, columns: 8 }
  const perOperation = 64 / edge
  const along = tile.columns / perOperation
  const top = row - (row % tile.rows)
  const left = column - (column % tile.columns)
  const start = packedOffset(layout, tile, row - top, column - left)
  const word = start - (start % 4)
  return [0, 1, 2, 3].map((byte) => {
    const at = scaleAt(layout, tile, word + byte)
    const down = Math.floor(at.row / edge)
    const right = Math.floor(at.column / perOperation)
    const k = (left + right * perOperation) * scaleBlockSize
    return {
      byte,
      operation: down * along + right,
      rows: [top + down * edge, top + (down + 1) * edge - 1],
      k: [k, k + perOperation * scaleBlockSize - 1]
    }
  })
}
