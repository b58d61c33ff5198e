/**
 * The tensor maps of a block-scaled product for TMA: of each tensor its shape, strides and box, the swizzle, and what the
 * hardware would refuse. Limits are those of cuTensorMapEncodeTiled (CUDA driver API): at most 256 a box extent, strides and
 * innermost box in multiples of 16 bytes, an innermost box no wider than the swizzle.
 */
import type { BlockFormat } from '../formats/blockFormat'
import { paddedShape, viewCoordinates } from './layout'
import { findLayout } from './registry'

export interface TmaTile {
  m: number
  n: number
  k: number
}

export interface TmaBox {
  tensor: 'A' | 'B' | 'scales of A' | 'scales of B' | 'C'
  /** 'uint8', 'float16', or '16U4_ALIGN16B': fp4 that TMA spreads to 16 codes in 16 bytes for kind::f8f6f4. */
  element: string
  /** Outermost first, in elements; strides in bytes, the innermost left out. */
  shape: number[]
  strides: number[]
  box: number[]
  swizzle: 'none' | '32B' | '64B' | '128B'
  /** Loads that bring one tile. */
  loads: number
  /** What TMA refuses, in a sentence; undefined: nothing. */
  problem: string | undefined
}

const outputs: Record<string, [element: string, bytes: number]> = {
  f16: ['float16', 2],
  bf16: ['bfloat16', 2],
  f32: ['float32', 4],
  e4m3: ['uint8', 1],
  e5m2: ['uint8', 1]
}

interface Problem extends TmaTile {
  format: BlockFormat
  output: string
}

/** A, B as (N, K), their scales in the view TMA 5D of nvidia_32_4_4, and C. Extents of the product and of the tile. */
export function tmaBoxes({ format, output, ...size }: Problem, tile: TmaTile): TmaBox[] {
  const mixes = format.a.storageBits !== format.b.storageBits
  const operand = (tensor: 'A' | 'B', bits: number, rows: number, box: number): TmaBox => {
    const row = { rows, columns: size.k, box: [box, tile.k] as const }
    // Packed codes beside bytes: kind::f8f6f4 wants every operand in 8-bit places.
    if (mixes && bits < 8)
      return matrix(tensor, `16U${bits}_ALIGN16B`, row, { stored: bits / 8, shared: 1 })
    const perByte = bits === 4 ? 2 : 1
    const packed = { ...row, columns: size.k / perByte, box: [box, tile.k / perByte] as const }
    return bits === 6
      ? matrix(tensor, '16U6_ALIGN16B', row, { stored: 6 / 8, shared: 1 })
      : matrix(tensor, 'uint8', packed, { stored: 1, shared: 1 })
  }
  const [element, bytes] = outputs[output]!
  return [
    operand('A', format.a.storageBits, size.m, tile.m),
    operand('B', format.b.storageBits, size.n, tile.n),
    scaleBox('scales of A', format, { rows: size.m, k: size.k }, { rows: tile.m, k: tile.k }),
    scaleBox('scales of B', format, { rows: size.n, k: size.k }, { rows: tile.n, k: tile.k }),
    matrix(
      'C',
      element,
      { rows: size.m, columns: size.n, box: [tile.m, tile.n] },
      { stored: bytes, shared: bytes }
    )
  ]
}

/** A row-major matrix; the box is cut to what one load may bring. `bytes`: of an element in memory and where TMA puts it. */
function matrix(
  tensor: TmaBox['tensor'],
  element: string,
  { rows, columns, box }: { rows: number; columns: number; box: readonly [number, number] },
  bytes: { stored: number; shared: number }
): TmaBox {
  const [boxRows, boxColumns] = box
  const rowBytes = boxColumns * bytes.shared
  const swizzle = rowBytes >= 128 ? '128B' : rowBytes >= 64 ? '64B' : '32B'
  const isSpread = element.endsWith('ALIGN16B')
  const widest = isSpread ? 128 : parseInt(swizzle) / bytes.shared
  const cut = [Math.min(boxRows, 256), Math.min(boxColumns, widest)]
  const stride = columns * bytes.stored
  const problems = [
    stride % 16 !== 0 && `a row of ${stride} bytes; strides are multiples of 16 bytes`,
    (cut[1]! * bytes.shared) % 16 !== 0 &&
      `a box ${cut[1]! * bytes.shared} bytes wide; the innermost is a multiple of 16 bytes`,
    isSpread && cut[1] !== 128 && `a box of ${cut[1]} codes; ${element} takes 128 codes a row`
  ]
  return {
    ...{ tensor, element, shape: [rows, columns], strides: [stride], box: cut },
    // CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B and 16U6_ALIGN16B take the widest swizzle or none.
    swizzle: isSpread ? '128B' : swizzle,
    loads: Math.ceil(boxRows / cut[0]!) * Math.ceil(boxColumns / cut[1]!),
    problem: sentence(problems)
  }
}

function scaleBox(
  tensor: TmaBox['tensor'],
  format: BlockFormat,
  of: { rows: number; k: number },
  tile: { rows: number; k: number }
): TmaBox {
  const layout = findLayout('nvidia_32_4_4')
  const view = layout.views.find(({ name }) => name === 'TMA 5D')!
  const columns = Math.ceil(of.k / format.scaleBlockSize)
  const tileColumns = tile.k / format.scaleBlockSize
  const shapeOf = (rows: number, scales: number) =>
    viewCoordinates(layout, { rows, columns: scales }, view, 0, 0).shape
  const shape = shapeOf(of.rows, columns)
  const box = shapeOf(tile.rows, Math.max(1, Math.ceil(tileColumns)))
  const strides = shape.slice(1).map((_, at) => shape.slice(at + 1).reduce((all, one) => all * one))
  const whole = paddedShape(layout, { rows: 1, columns: 1 })
  const problems = [
    tile.rows % whole.rows !== 0 && `a tile of ${tile.rows} rows; scales lie in tiles of 128 rows`,
    tileColumns % whole.columns !== 0 &&
      `a tile of ${tileColumns} scales along K; scales lie in tiles of 4`,
    Math.max(...box) > 256 && 'a box of more than 256'
  ]
  return {
    ...{ tensor, element: 'uint8', shape, strides, box, swizzle: 'none' as const, loads: 1 },
    problem: sentence(problems)
  }
}

function sentence(problems: readonly (string | false)[]): string | undefined {
  const said = problems.filter((problem) => problem !== false)
  return said.length > 0 ? `It has ${said.join(', and ')}.` : undefined
}
