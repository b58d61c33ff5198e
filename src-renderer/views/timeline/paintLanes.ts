/** Draws a scene of slices: where each box lies follows from the span that is shown now, also while a newer scene is computed. */
import type { Window } from '@shared/profile/lanes/window'
import { fitText, type Measure } from '../../canvas/textFit'
import { pixelOf, type Span } from '../../canvas/span'
import type { Font, Painter } from '../../canvas/painter'
import type { ShownFacts, ShownScene } from '../../workers/timelineProtocol'
import type { SliceFill } from './fills'
import type { LaneLayout, RowPlace } from './laneLayout'
import type { Ruler } from './ruler'

export interface LaneLook {
  text: string
  dim: string
  line: string
  grid: string
  accent: string
  warn: string
  ground: string
  font: Font
  mono: Font
  /** By group. */
  fills: readonly SliceFill[]
}

export interface LanePicture {
  width: number
  height: number
  /** Of the lanes, pixels. */
  scrollTop: number
  span: Span
  layout: LaneLayout
  ruler: Ruler
  shown: ShownScene | undefined
  facts: ShownFacts | undefined
  range: Window | undefined
  isSearching: boolean
  measure: Measure
  /** In words, of a gap: '11.4 µs'. */
  lengthText: (ns: number) => string
}

const leastOpacity = 0.4
const dimmed = 0.22
const roundFrom = 6

export function paintLanes(painter: Painter, picture: LanePicture, look: LaneLook): void {
  const places = new Map(picture.layout.rows.map((place) => [place.row, place]))
  paintGround(painter, picture, look)
  if (picture.shown) {
    paintBoxes(painter, picture, look, places)
    paintGaps(painter, picture, look, places)
  }
  paintRange(painter, picture, look)
  if (picture.facts) paintSelection(painter, picture, look, places, picture.facts)
}

function paintGround(painter: Painter, picture: LanePicture, { grid, line }: LaneLook): void {
  const { width, height, scrollTop, span, layout, ruler } = picture
  for (const { ns } of ruler.ticks) {
    const x = Math.round(pixelOf(ns, span, width)) + 0.5
    painter.line(x, 0, x, height, { stroke: grid })
  }
  for (const item of layout.items) {
    const y = item.y + item.height - scrollTop
    if (y < 0 || item.y - scrollTop > height) continue
    painter.line(0, Math.round(y) - 0.5, width, Math.round(y) - 0.5, { stroke: line })
  }
}

function paintBoxes(
  painter: Painter,
  picture: LanePicture,
  look: LaneLook,
  places: ReadonlyMap<number, RowPlace>
): void {
  const { scene, names } = picture.shown!
  const { width, height, scrollTop, span, isSearching } = picture
  for (let box = 0; box < scene.count; box++) {
    const place = places.get(scene.row[box]!)
    if (!place) continue
    const y = place.y - scrollTop
    if (y > height || y + place.height < 0) continue
    const left = Math.max(-2, pixelOf(scene.start[box]!, span, width))
    const right = Math.min(width + 2, pixelOf(scene.end[box]!, span, width))
    if (left > width || right < 0) continue
    // Neighbours are told apart by a pixel of ground between them, where there is room.
    const wide = right - left
    const drawn = Math.max(1, wide > 4 ? wide - 1 : wide)
    const isHit = scene.hit[box] === 1
    const density = leastOpacity + (1 - leastOpacity) * (scene.fill[box]! / 255)
    const isFull = scene.several[box] === 1
    const { fill, ink } = look.fills[scene.group[box]!]!
    const stroke = isSearching && isHit && wide >= 3 ? look.text : undefined
    painter.box(left, y, drawn, place.height, {
      fill,
      radius: wide >= roundFrom ? 2 : 0,
      opacity: isSearching && !isHit ? dimmed : isFull ? 1 : density,
      stroke
    })
    if (isSearching && isHit && wide < 3)
      painter.box(left, y + place.height, Math.max(2, drawn), 2, { fill: look.text })
    const name = scene.name[box]! >= 0 && (!isSearching || isHit) && names.get(scene.name[box]!)
    if (!name) continue
    const from = Math.max(0, left) + 5
    const room = Math.min(width, right) - from - 4
    const label = fitText(name, room, picture.measure)
    if (label !== '')
      painter.text(label, from, y + place.height / 2 + 0.5, { fill: ink, font: look.mono })
  }
}

function paintGaps(
  painter: Painter,
  picture: LanePicture,
  { warn, ground, font }: LaneLook,
  places: ReadonlyMap<number, RowPlace>
): void {
  const { width, height, scrollTop, span, lengthText, measure } = picture
  for (const { row, startNs, endNs } of picture.shown!.gaps) {
    const place = places.get(row)
    const left = Math.max(-2, pixelOf(startNs, span, width))
    const right = Math.min(width + 2, pixelOf(endNs, span, width))
    if (!place || right - left < 2 || left > width || right < 0) continue
    const y = place.y - scrollTop
    if (y > height || y + place.height < 0) continue
    const style = { hatch: warn, stroke: warn, dash: right - left > 8 ? [3, 2] : [], opacity: 0.75 }
    painter.box(left, y, right - left, place.height, style)
    const words = lengthText(endNs - startNs)
    if (measure(words) + 4 < right - left) {
      const middle = (left + right) / 2
      const wide = measure(words) + 2
      painter.box(middle - wide / 2, y + place.height / 2 - 7, wide, 14, { fill: ground })
      painter.text(words, middle, y + place.height / 2, { fill: warn, font, align: 'center' })
    }
  }
}

function paintRange(painter: Painter, picture: LanePicture, { accent }: LaneLook): void {
  const { range, span, width, height } = picture
  if (!range) return
  const left = pixelOf(range.startNs, span, width)
  const right = pixelOf(range.endNs, span, width)
  const from = Math.max(0, left)
  const to = Math.min(width, right)
  if (to > from) painter.box(from, 0, to - from, height, { fill: accent, opacity: 0.1 })
  for (const x of [left, right]) {
    if (x >= 0 && x <= width) painter.line(x, 0, x, height, { stroke: accent, lineWidth: 1.5 })
  }
}

function paintSelection(
  painter: Painter,
  picture: LanePicture,
  { text }: LaneLook,
  places: ReadonlyMap<number, RowPlace>,
  facts: ShownFacts
): void {
  const { width, scrollTop, span } = picture
  const top = (row: number) => {
    const place = places.get(row)
    return place && { y: place.y - scrollTop, height: place.height }
  }
  const own = top(facts.row)
  if (own) {
    const left = Math.max(-4, pixelOf(facts.startNs, span, width))
    const right = Math.min(width + 4, pixelOf(facts.endNs, span, width))
    if (right >= 0 && left <= width) {
      const wide = Math.max(3, right - left)
      painter.box(left - 1, own.y - 1, wide + 1, own.height + 2, { stroke: text, lineWidth: 2 })
    }
  }
  const flows = [
    ...(facts.launch ? [[facts.launch, facts] as const] : []),
    ...facts.launched.map((other) => [facts, other] as const)
  ]
  for (const [from, to] of flows) {
    const [above, below] = [top(from.row), top(to.row)]
    if (!above || !below) continue
    const x1 = pixelOf(from.startNs, span, width)
    const x2 = pixelOf(to.startNs, span, width)
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue
    const isDown = above.y < below.y
    const y1 = isDown ? above.y + above.height : above.y
    const y2 = isDown ? below.y : below.y + below.height
    painter.curve(x1, y1, x2, y2, { stroke: text, lineWidth: 1.3 })
    painter.box(x1 - 2.5, y1 - 2.5, 5, 5, { fill: text, radius: 2 })
  }
}
