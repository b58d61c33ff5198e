/** What the two grids of the layout inspector show of a scale: the matrix, and memory in lines of 16 bytes. */
import { packedOffset, paddedSize, scaleFinder, tileExtent } from '@shared/layouts/layout'
import type { ScaleLayout, ScaleShape } from '@shared/layouts/layout'
import type { Span, TileLoad } from '@shared/layouts/tileLoad'
import { isPadding, type Position } from './inspect'
import { hexByte } from './scaleBytes'
import type { GridCell } from './ScaleGrid.vue'

export const bytesPerLine = 16

export interface Shown {
  layout: ScaleLayout
  shape: ScaleShape
  /** Real bytes that stand in the cells, when some are open. */
  bytes: Uint8Array | undefined
  /** A tile that is walked, and which of its byte ranges. */
  walked: { load: TileLoad; step: number } | undefined
  /** Of a scale, as the picture of the layout has it. */
  colourOf?: (at: Position) => GridCell['colour']
}

const within = (value: number, [first, last]: Span) => value >= first && value <= last

export function scaleCells({ layout, shape, bytes, walked, colourOf }: Shown) {
  const size = paddedSize(layout, shape.rows, shape.columns)
  const tile = { rows: tileExtent(layout.rowDigits), columns: tileExtent(layout.columnDigits) }
  const scaleOf = scaleFinder(layout, shape)
  const stepBytes = walked?.load.steps[walked.step]

  function mark(at: Position, byte: number): GridCell['mark'] {
    if (!walked) return undefined
    if (stepBytes && within(byte, stepBytes)) return 'step'
    const { rows, columns } = walked.load
    return within(at.row, rows) && within(at.column, columns) ? 'tile' : undefined
  }

  function cellAt(at: Position, byte: number, text: string, inMemory: boolean): GridCell {
    const padding = isPadding(shape, at)
    const real = bytes?.[byte]
    const tiles = Math.floor(at.row / tile.rows) + Math.floor(at.column / tile.columns)
    const place = `row ${at.row}, scale column ${at.column}`
    const seen = real === undefined ? (padding && inMemory ? 'pad' : text) : hexByte(real)
    const marked = mark(at, byte)
    return {
      text: seen,
      // Spoken names begin with the visible text, so that voice control finds the cell.
      words:
        `${seen}: ` +
        (inMemory ? `byte ${byte}, ${place}` : `${place}, byte ${byte}`) +
        (padding ? ', padding' : '') +
        (marked === 'step' ? ', in this load' : ''),
      padding,
      shaded: tile.rows * tile.columns > 1 && tiles % 2 === 1,
      mark: marked,
      ...(colourOf && { colour: colourOf(at) })
    }
  }

  return {
    matrix(row: number, column: number): GridCell {
      const byte = packedOffset(layout, shape, row, column)
      return cellAt({ row, column }, byte, String(byte), false)
    },
    memory(line: number, place: number): GridCell | undefined {
      const byte = line * bytesPerLine + place
      if (byte >= size) return undefined
      const at = scaleOf(byte)
      return cellAt(at, byte, `${at.row},${at.column}`, true)
    }
  }
}
