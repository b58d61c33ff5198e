/** The scale layouts that people meet, each with where it is defined. */
import { UserError } from '../errors'
import type { Digit, ScaleLayout } from './layout'

/** 'rowTile:0 row4:4 row32:32' as digits, most significant first. */
function digits(axis: Digit['axis'], text: string): Digit[] {
  return text.split(' ').map((part) => {
    const [name, extent] = part.split(':')
    return { axis, name: name!, extent: Number(extent) }
  })
}

/** Names separated by spaces, coordinates by commas. A number is an extent by itself: 'rowTile, 2, 256'. */
function view(name: string, text: string): ScaleLayout['views'][number] {
  return {
    name,
    coordinates: text.split(',').map((part) => part.trim().split(' ').filter(Boolean))
  }
}

export const layouts: readonly ScaleLayout[] = [
  {
    name: 'linear',
    title: 'Linear, row-major',
    source:
      'OCP Microscaling Formats v1.0 leaves the layout open; this is a plain (rows, K / V) matrix',
    rowDigits: digits('row', 'r:0'),
    columnDigits: digits('column', 'c:0'),
    order: ['r', 'c'],
    views: [view('2D', 'r, c')]
  },
  {
    name: 'nvidia_32_4_4',
    title: 'NVIDIA 32x4x4 (cuBLAS 128x4 tiles, tcgen05, cuTile swizzle_32_4_4)',
    source:
      'cuBLAS 13 documentation, "1D Block Scaling Factors Layout"; PTX ISA, tcgen05.mma scale factors',
    rowDigits: digits('row', 'rowTile:0 rowGroup:4 rowInGroup:32'),
    columnDigits: digits('column', 'columnTile:0 columnInTile:4'),
    order: ['rowTile', 'columnTile', 'rowInGroup', 'rowGroup', 'columnInTile'],
    views: [
      view('5D', 'rowTile, columnTile, rowInGroup, rowGroup, columnInTile'),
      view('4D', 'rowTile, columnTile, rowInGroup, rowGroup columnInTile'),
      view('TMA 5D', '1, rowTile, columnTile, 2, 256')
    ]
  },
  {
    name: 'cdna4_mfma32',
    title: 'CDNA4, v_mfma_scale 32x32x64',
    source: 'Triton tutorial 10, shuffle_scales_cdna4 with mfma_nonkdim = 32',
    rowDigits: digits('row', 'rowTile:0 row:32'),
    columnDigits: digits('column', 'columnTile:0 pair:4 half:2'),
    order: ['rowTile', 'columnTile', 'half', 'row', 'pair'],
    views: [view('2D', 'rowTile, columnTile half row pair')]
  },
  {
    name: 'cdna4_mfma16',
    title: 'CDNA4, v_mfma_scale 16x16x128',
    source: 'Triton tutorial 10, shuffle_scales_cdna4 with mfma_nonkdim = 16',
    rowDigits: digits('row', 'rowTile:0 rowHalf:2 row:16'),
    columnDigits: digits('column', 'columnTile:0 columnHalf:2 quarter:4'),
    order: ['rowTile', 'columnTile', 'quarter', 'row', 'columnHalf', 'rowHalf'],
    views: [view('2D', 'rowTile, columnTile quarter row columnHalf rowHalf')]
  }
]

/** Throws a UserError for a name that is none. */
export function findLayout(name: string): ScaleLayout {
  const found = layouts.find((layout) => layout.name === name)
  if (found) return found
  const known = layouts.map((layout) => layout.name).join(', ')
  throw new UserError('usage', `"${name}" is no scale layout. Layouts: ${known}.`)
}
