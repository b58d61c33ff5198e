/** Draws the boxes of a flame graph with any painter: screen, PNG and SVG alike. */
import type { FlameLayout } from '@shared/profile/ask/flame'
import type { Font, Painter } from '../../canvas/painter'
import { fitOneOf, type Measure } from '../../canvas/textFit'
import type { Fill } from '../../charts/flameFills'
import { rowHeight, thin, type SceneBox } from './flameScene'

export interface FlameInk {
  text: string
  accent: string
  surface: string
  font: Font
  measure: Measure
}

export interface FlamePicture {
  boxes: readonly SceneBox[]
  layout: FlameLayout
  /** Pixels. */
  width: number
  /** Where level 0 is drawn; levels grow downwards, or upwards from there. */
  top: number
  upwards?: boolean
  /** Class of a node. */
  classOf: (node: number) => number
  fills: (painted: number) => Fill
  /** From the longest form of its name to the shortest. */
  labelsOf: (node: number) => readonly string[]
  /** What is written at the right end where there is room; ''. */
  valueOf: (node: number) => string
  /** hitCounts of the layout; null without a search. */
  hits: Int32Array | null
  selected: number
}

const gap = 1
const padding = 5
const roundFrom = 6
/** Below this width a box has no text. */
const textFrom = 24
const leastOpacity = 0.45

export function levelTop({ top, upwards }: Pick<FlamePicture, 'top' | 'upwards'>, level: number) {
  return upwards ? top - level * rowHeight : top + level * rowHeight
}

export function paintFlame(painter: Painter, picture: FlamePicture, ink: FlameInk): void {
  let selected: SceneBox | undefined
  for (const box of picture.boxes) {
    paintBox(painter, box, picture, ink)
    const at = picture.layout.box[picture.selected] ?? -1
    if (at >= box.from && at < box.to) selected = box
  }
  if (selected) {
    const { x, width } = inside(selected, picture.width)
    const y = levelTop(picture, selected.level)
    const room = { width: Math.max(width, 4), height: rowHeight - gap }
    painter.box(x, y, room.width, room.height, { stroke: ink.accent, lineWidth: 2, radius: 2 })
  }
}

/** The part of a box that is in the picture. */
function inside(box: SceneBox, width: number): { x: number; width: number } {
  const x = Math.max(0, box.x)
  const end = Math.min(width, box.x + box.width)
  return { x, width: Math.max(1, end - x - (end - x > thin ? gap : 0)) }
}

function paintBox(painter: Painter, box: SceneBox, picture: FlamePicture, ink: FlameInk): void {
  const node = picture.layout.node[box.box]!
  const several = box.to - box.from > 1
  const fill = picture.fills(picture.classOf(node))
  const { x, width } = inside(box, picture.width)
  const y = levelTop(picture, box.level)
  const height = rowHeight - gap
  const isHit = picture.hits !== null && picture.hits[box.to]! > picture.hits[box.from]!
  painter.box(x, y, width, height, {
    fill: fill.fill,
    hatch: fill.hatch ?? (several ? ink.surface : undefined),
    opacity: several ? leastOpacity + (1 - leastOpacity) * box.covered : 1,
    radius: width > roundFrom ? 2 : 0,
    stroke: isHit ? ink.text : width > 3 ? fill.edge : undefined,
    lineWidth: isHit ? 1.5 : 1,
    dash: !isHit && fill.dashed ? [4, 3] : undefined
  })
  if (several || width < textFrom) return
  const room = width - 2 * padding
  const value = picture.valueOf(node)
  const valueWidth = value === '' ? 0 : ink.measure(value) + 10
  const labels = picture.labelsOf(node)
  // A value stands beside its name, never instead of it.
  const fitsBoth = valueWidth > 0 && ink.measure(labels[labels.length - 1]!) + valueWidth <= room
  const name = fitOneOf(labels, fitsBoth ? room - valueWidth : room, ink.measure)
  if (name === '') return
  const middle = y + height / 2 + 0.5
  const style = { fill: fill.ink, font: ink.font }
  // Letters are not read on a hatch.
  const clear = (left: number, text: string) => {
    if (!fill.hatch) return
    const backed = { fill: fill.fill, radius: 2 }
    painter.box(left - 2, y + 3, ink.measure(text) + 4, height - 6, backed)
  }
  clear(x + padding, name)
  if (fitsBoth) clear(x + width - padding - ink.measure(value), value)
  painter.text(name, x + padding, middle, style)
  if (fitsBoth) painter.text(value, x + width - padding, middle, { ...style, align: 'right' })
}
