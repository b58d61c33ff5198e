/** A block under one's hand as pixels: where values, levels and errors stand. Pure data; BlockPlot.vue draws it. */
import type { BlockFormat } from '@shared/formats/blockFormat'
import { levelsAt, type BlockStudy, type Level } from '@shared/formats/blockStudy'
import { findElementPacking, packElements } from '@shared/layouts/elementPacking'

/** Heights, from the top. */
export const plot = {
  top: 10,
  height: 290,
  error: 336,
  errorHeight: 26,
  code: 372,
  byte: 402
} as const
const gutter = { left: 54, right: 92, narrowLeft: 34, narrowRight: 10 } as const
/** Lines of levels nearer than this would be a grey area. */
const leastApart = 3
const mostRungs = 16

export interface BlockScene {
  left: number
  right: number
  /** One column for each value. */
  columns: { x: number; width: number }[]
  /** Blocks that share a scale: from and to in x, the levels seen, and how far the codes reach. */
  blocks: { from: number; to: number; levels: { y: number }[]; reach: number }[]
  ticks: { value: number; y: number }[]
  /** The levels of the chosen element's block with their codes, spread so that they can be read. */
  rungs: { y: number; atY: number; level: Level; end: boolean }[]
  bytes: { x: number; width: number; byte: number; of: number[] }[]
}

export interface Axis {
  /** The plot goes from -most to most. */
  most: number
}

/** The smallest power of two that the finite values leave some room below. */
export function axisFor(values: ArrayLike<number>): Axis {
  let largest = 0
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i]!)) largest = Math.max(largest, Math.abs(values[i]!))
  }
  return { most: largest === 0 ? 1 : 2 ** Math.ceil(Math.log2(largest * 1.02)) }
}

/** y of a value; beyond the plot it stays at the plot's edge. */
export function yOf(value: number, { most }: Axis): number {
  const inside = Math.min(most, Math.max(-most, value))
  return plot.top + ((most - inside) / (2 * most)) * plot.height
}

/** The value of a y, also of one beyond the plot, up to four times as far. */
export function valueAt(y: number, { most }: Axis): number {
  const value = most - ((y - plot.top) / plot.height) * 2 * most
  return Math.min(4 * most, Math.max(-4 * most, value))
}

export function columnAt(scene: BlockScene, x: number): number {
  const { width } = scene.columns[0]!
  const at = scene.columns.findIndex((column) => x < column.x + width)
  return at === -1 ? scene.columns.length - 1 : at
}

export function blockScene(
  format: BlockFormat,
  study: BlockStudy,
  axis: Axis,
  width: number,
  chosen: number
): BlockScene {
  const narrow = width < 640
  const left = narrow ? gutter.narrowLeft : gutter.left
  const right = Math.max(left + 100, width - (narrow ? gutter.narrowRight : gutter.right))
  const count = study.elements.length
  const ofBlock = format.scaleBlockSize
  // Two blocks of 16 stand apart.
  const gap = study.scales.length > 1 ? 14 : 0
  const each = (right - left - gap * (study.scales.length - 1)) / count
  const columns = study.elements.map((_, i) => ({
    x: left + i * each + Math.floor(i / ofBlock) * gap,
    width: each
  }))
  const blocks = study.scales.map(({ step }, block) => {
    const all = Number.isFinite(step) ? levelsAt(format, step) : []
    const reach = all[0]?.value ?? 0
    const first = columns[block * ofBlock]!
    const last = columns[(block + 1) * ofBlock - 1]!
    const seen = all.filter(({ value }) => Math.abs(value) <= axis.most)
    const levels: { y: number }[] = []
    for (const { value } of seen) {
      const y = yOf(value, axis)
      if (levels.length === 0 || y - levels.at(-1)!.y >= leastApart) levels.push({ y })
    }
    return { from: first.x, to: last.x + last.width, levels, reach }
  })
  const { step } = study.scales[Math.floor(chosen / ofBlock)]!
  return {
    left,
    right,
    columns,
    blocks,
    ticks: [1, 0.5, 0, -0.5, -1].map((part) => ({
      value: part * axis.most,
      y: yOf(part * axis.most, axis)
    })),
    rungs: narrow || !Number.isFinite(step) ? [] : rungsOf(levelsAt(format, step), axis),
    bytes: bytesOf(format, study, columns)
  }
}

function rungsOf(all: readonly Level[], axis: Axis): BlockScene['rungs'] {
  const seen = all.filter(({ value }) => Math.abs(value) <= axis.most)
  if (seen.length > mostRungs || seen.length === 0) return []
  const apart = Math.min(20, plot.height / seen.length)
  const from = plot.top + plot.height / 2 - (apart * (seen.length - 1)) / 2
  return seen.map((level, i) => ({
    y: from + i * apart,
    atY: yOf(level.value, axis),
    level,
    end: level === all[0] || level === all.at(-1)
  }))
}

/** The bytes as kernels hold them, and whose codes each has; fp6 without gaps. */
function bytesOf(
  format: BlockFormat,
  study: BlockStudy,
  columns: BlockScene['columns']
): BlockScene['bytes'] {
  const bits = format.a.storageBits
  const codes = Uint8Array.from(study.elements, ({ code }) => code)
  const packed =
    bits === 8
      ? codes
      : packElements(findElementPacking(bits === 4 ? 'fp4_low_first' : 'fp6_dense'), codes)
  const perByte = codes.length / packed.length
  const { width } = columns[0]!
  return Array.from(packed, (byte, i) => {
    const first = Math.floor((i * 8) / bits)
    const last = Math.min(codes.length - 1, Math.floor((i * 8 + 7) / bits))
    const column = columns[first]!
    const shift = i * perByte - first
    return {
      x: column.x + shift * width,
      width: perByte * width,
      byte,
      of: Array.from({ length: last - first + 1 }, (_, k) => first + k)
    }
  })
}
