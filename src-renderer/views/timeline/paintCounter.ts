/** Draws a counter: filled up to the least of each pixel, and a stroke from there to the largest. */
import type { CounterScene } from '@shared/profile/lanes/counters'
import type { Painter } from '../../canvas/painter'
import { pixelOf, type Span } from '../../canvas/span'
import type { ShownCounter } from '../../workers/timelineProtocol'
import type { LaneLook } from './paintLanes'

interface CounterPicture {
  counter: Pick<ShownCounter, 'least' | 'most'>
  scene: CounterScene
  span: Span
  /** Share of the width under the pointer. */
  pointed: number | undefined
}

const margin = 4

export function paintCounter(
  painter: Painter,
  { width, height }: { width: number; height: number },
  { counter: { least, most }, scene, span, pointed }: CounterPicture,
  { accent, dim }: Pick<LaneLook, 'accent' | 'dim'>
): void {
  const { startNs, endNs, bounds } = scene
  const pixels = bounds.length / 2
  const yOf = (value: number) =>
    height - margin - ((value - least) / (most - least)) * (height - 2 * margin)
  const zero = yOf(Math.max(0, least))
  const xOf = (pixel: number) =>
    pixelOf(startNs + ((endNs - startNs) * pixel) / pixels, span, width)
  for (let pixel = 0; pixel < pixels;) {
    const [low, high] = [bounds[2 * pixel]!, bounds[2 * pixel + 1]!]
    // What does not change is one box.
    let next = pixel + 1
    while (next < pixels && bounds[2 * next] === low && bounds[2 * next + 1] === high) next++
    const [from, to] = [Math.max(0, xOf(pixel)), Math.min(width, xOf(next))]
    pixel = next
    if (Number.isNaN(low) || to <= from) continue
    const [lowY, highY] = [yOf(low), yOf(high)]
    const top = Math.min(lowY, zero)
    painter.box(from, top, to - from, Math.abs(zero - lowY), { fill: accent, opacity: 0.25 })
    painter.box(from, highY - 1, to - from, Math.max(1.5, lowY - highY + 1), { fill: accent })
  }
  if (pointed === undefined) return
  const x = Math.round(pointed * width) + 0.5
  painter.line(x, 0, x, height, { stroke: dim })
}
