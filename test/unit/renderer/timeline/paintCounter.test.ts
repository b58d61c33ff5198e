/** A counter as boxes: filled up to the least of each pixel, a stroke from there to the largest. */
import { describe, expect, it } from 'vitest'
import type { BoxStyle, Painter } from '../../../../src-renderer/canvas/painter'
import { paintCounter } from '../../../../src-renderer/views/timeline/paintCounter'

const nothing = () => undefined
const size = { width: 40, height: 48 }
const look = { accent: 'accent', dim: 'dim' }

function painted(bounds: number[], more: { span?: [number, number]; pointed?: number } = {}) {
  const boxes: { x: number; y: number; width: number; height: number; style: BoxStyle }[] = []
  const lines: number[] = []
  const painter: Painter = {
    box: (x, y, width, height, style) => boxes.push({ x, y, width, height, style }),
    text: nothing,
    line: (x) => lines.push(x),
    curve: nothing
  }
  const [start, end] = more.span ?? [0, 4]
  const scene = { startNs: 0, endNs: 4, bounds: Float32Array.from(bounds) }
  const counter = { least: 0, most: 10 }
  const { pointed } = more
  paintCounter(painter, size, { counter, scene, span: { start, end }, pointed }, look)
  const areas = boxes.filter(({ style }) => style.opacity !== undefined)
  return { areas, strokes: boxes.filter((box) => !areas.includes(box)), lines }
}

describe('the picture of a counter', () => {
  it('is as high as the value, from the ground to the top of its room', () => {
    const { areas, strokes } = painted([0, 0, 5, 5, 10, 10, 0, 10])
    // 4 pixels of margin above and below: 40 for the whole range.
    expect(areas.map(({ y, height }) => [y, height])).toEqual([
      [44, 0],
      [24, 20],
      [4, 40],
      [44, 0]
    ])
    expect(areas.map(({ x, width }) => [x, width])).toEqual([
      [0, 10],
      [10, 10],
      [20, 10],
      [30, 10]
    ])
    // What lies between the least and the largest of a pixel is drawn full.
    expect(strokes.at(-1)).toMatchObject({ y: 3, height: 41 })
  })

  it('has one box for what does not change, and none where there is no value yet', () => {
    const { areas } = painted([NaN, NaN, 5, 5, 5, 5, 5, 5])
    expect(areas).toHaveLength(1)
    expect(areas[0]).toMatchObject({ x: 10, width: 30 })
  })

  it('follows the span that is shown while the next scene is not there, and is cut at its edges', () => {
    const { areas } = painted([5, 5, 6, 6, 7, 7, 8, 8], { span: [1, 3] })
    expect(areas.map(({ x, width }) => [x, width])).toEqual([
      [0, 20],
      [20, 20]
    ])
  })

  it('marks the place of the pointer', () => {
    expect(painted([5, 5], { pointed: 0.25 }).lines).toEqual([10.5])
    expect(painted([5, 5]).lines).toEqual([])
  })
})
