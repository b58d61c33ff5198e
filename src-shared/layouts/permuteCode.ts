/** A layout as a permutation of axes, the way that people who write kernels in Python say it. */
import { tileExtent, type ScaleLayout } from './layout'

/**
 * Two functions for PyTorch: `pack` takes (rows, columns) scales, padded to whole tiles, to their order in memory, `unpack` the
 * way back. CDNA4's are those of Triton's tutorial 10.
 */
export function permuteCode(layout: ScaleLayout): string {
  const digits = [...layout.rowDigits, ...layout.columnDigits]
  const tiles = { row: tileExtent(layout.rowDigits), column: tileExtent(layout.columnDigits) }
  const extents = digits.map(({ axis, extent }) => {
    const size = axis === 'row' ? 'rows' : 'columns'
    if (extent !== 0) return String(extent)
    return tiles[axis] === 1 ? size : `${size} // ${tiles[axis]}`
  })
  const forward = layout.order.map((name) => digits.findIndex((digit) => digit.name === name))
  const back = digits.map((_, at) => forward.indexOf(at))
  const inMemory = forward.map((at) => extents[at])
  const multiples = [
    tiles.row > 1 && `rows in multiples of ${tiles.row}`,
    tiles.column > 1 && `columns in multiples of ${tiles.column}`
  ].filter(Boolean)
  const needs = multiples.length > 0 ? `, ${multiples.join(', ')}` : ''
  return [
    'def pack(scales):',
    `    """Scales (rows, columns)${needs}, flat in the order of ${layout.name}."""`,
    '    rows, columns = scales.shape',
    `    return scales.reshape(${extents.join(', ')}).permute(${forward.join(', ')}).reshape(-1)`,
    '',
    '',
    'def unpack(packed, rows, columns):',
    '    """The way back."""',
    `    return packed.reshape(${inMemory.join(', ')}).permute(${back.join(', ')}).reshape(rows, columns)`,
    ''
  ].join('\n')
}
