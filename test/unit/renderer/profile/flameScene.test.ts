/** What of a flame graph is drawn: pure data. */
import { describe, expect, it } from 'vitest'
import { flameLayout } from '@shared/profile/ask/flame'
import type { PaintedNodes } from '@shared/profile/ask/flamePaint'
import type { BoxStyle, Painter } from '../../../../src-renderer/canvas/painter'
import { fillsOf, legendOf } from '../../../../src-renderer/charts/flameFills'
import {
  flameLayers,
  heightOf,
  levelAt,
  levelsBetween,
  sandwichLayers
} from '../../../../src-renderer/views/profile/flameLayers'
import {
  boxAtPoint,
  hitColumns,
  hitCounts,
  neighbour,
  overviewColumns,
  rowHeight,
  sceneBoxes
} from '../../../../src-renderer/views/profile/flameScene'
import { frameLabels } from '../../../../src-renderer/views/profile/frameLabels'
import { paintFlame } from '../../../../src-renderer/views/profile/paintFlame'

/** A root, `wide` children of 100 each, and `narrow` ones of 1 each after them, which have one child each. */
function shapeOf(wide: number, narrow: number) {
  const count = 1 + wide + 2 * narrow
  const parent = new Int32Array(count).fill(0)
  const depth = new Int32Array(count).fill(1)
  const weights = new Float64Array(count).fill(100)
  parent[0] = -1
  depth[0] = 0
  weights[0] = wide * 100 + narrow
  for (let at = 0; at < narrow; at++) {
    const node = 1 + wide + 2 * at
    weights[node] = 1
    parent[node + 1] = node
    depth[node + 1] = 2
    weights[node + 1] = at === 7 ? 1 : 0.5
  }
  return { shape: { count, parent, depth }, weights }
}
const whole = { start: 0, end: 1 }
const view = { span: whole, width: 1000, firstLevel: 0, endLevel: 9 }

describe('sceneBoxes', () => {
  const { shape, weights } = shapeOf(4, 100_000)
  const layout = flameLayout(shape, weights)

  it('draws nodes thinner than a pixel together, and leaves none out', () => {
    const boxes = sceneBoxes(layout, view)
    expect(boxes.length).toBeLessThan(1200)
    const level1 = boxes.filter(({ level }) => level === 1)
    expect(level1.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(4 + 100_000)
    for (let at = 1; at < level1.length; at++) expect(level1[at]!.from).toBe(level1[at - 1]!.to)
    const level2 = boxes.filter(({ level }) => level === 2)
    expect(level2.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(100_000)
    // Half of the width below them is covered.
    expect(level2[100]!.covered).toBeCloseTo(0.5, 1)
    expect(layout.node[level2[0]!.box]).toBe(1 + 4 + 2 * 7 + 1)
  })

  it('takes the time of its pixels: a million nodes are no more boxes than a thousand', () => {
    const many = shapeOf(0, 500_000)
    const large = flameLayout(many.shape, many.weights)
    expect(sceneBoxes(large, view).length).toBeLessThan(1100)
  })

  it('shows each node by itself once there is room', () => {
    const x0 = layout.x0[layout.box[1 + 4 + 2 * 50]!]!
    const zoomed = { ...view, span: { start: x0, end: x0 + 20 / weights[0]! } }
    const level1 = sceneBoxes(layout, zoomed).filter(({ level }) => level === 1)
    expect(level1.every(({ from, to }) => to - from === 1)).toBe(true)
    expect(level1.length).toBeGreaterThanOrEqual(20)
    expect(level1[3]!.width).toBeCloseTo(50, 0)
  })

  it('finds what is under the pointer, and the widest of what cannot be told apart', () => {
    expect(layout.node[boxAtPoint(layout, view, 0, 500)]).toBe(0)
    const first = layout.box[1]!
    const middle = ((layout.x0[first]! + layout.x1[first]!) / 2) * 1000
    expect(layout.node[boxAtPoint(layout, view, 1, middle)]).toBe(1)
    const place = layout.x0[layout.box[1 + 4 + 2 * 7]!]! * 1000
    expect(layout.node[boxAtPoint(layout, view, 2, place)]).toBe(1 + 4 + 2 * 7 + 1)
    expect(boxAtPoint(layout, view, 5, 500)).toBe(-1)
  })

  it('counts hits of a run in one step, and ticks their columns', () => {
    const found = Int32Array.of(2, 1 + 4 + 2 * 99)
    const counts = hitCounts(layout, found)
    const level1 = sceneBoxes(layout, view).filter(({ level }) => level === 1)
    const hit = level1.filter(({ from, to }) => counts[to]! > counts[from]!)
    expect(hit).toHaveLength(2)
    const first = layout.box[2]!
    expect(hit[0]!.from <= first && first < hit[0]!.to).toBe(true)
    expect(hitColumns(layout, found, 1000)).toHaveLength(2)
  })

  it('the overview has in each column what the deepest level ends in', () => {
    const columns = overviewColumns(layout, 200)
    expect(layout.node[columns[0]!]).toBe(1)
    expect(shape.depth[layout.node[columns[199]!]!]).toBe(2)
  })

  it('arrow keys go along a level, up and to the widest below', () => {
    const at = layout.box[2]!
    expect(neighbour(layout, shape, at, 1, 'left')).toBe(layout.box[1])
    expect(neighbour(layout, shape, at, 1, 'right')).toBe(layout.box[3])
    expect(neighbour(layout, shape, at, 1, 'up')).toBe(0)
    expect(neighbour(layout, shape, at, 1, 'down')).toBe(at)
    expect(neighbour(layout, shape, 0, 0, 'down')).toBe(layout.box[1])
    const narrow = 1 + 4 + 2 * 5
    expect(layout.node[neighbour(layout, shape, layout.box[narrow]!, 1, 'down')]).toBe(narrow + 1)
  })
})

const theme = { look: 'light', surface: '#ffffff', heat: ['#111111'] } as const

describe('the picture', () => {
  const { shape, weights } = shapeOf(3, 400)
  const layout = flameLayout(shape, weights)
  const painted: PaintedNodes = {
    by: 'hue',
    classes: new Uint8Array(shape.count).fill(1),
    legend: ['block-scaled matmul', 'attention'],
    range: null
  }

  it('has names where they fit, values beside them, hatches over several, outlines of hits', () => {
    const texts: string[] = []
    const styles: BoxStyle[] = []
    const painter: Painter = {
      box: (_x, _y, _width, _height, style) => styles.push(style),
      text: (text) => texts.push(text),
      line: () => undefined,
      curve: () => undefined
    }
    const ink = {
      ...{ text: '#000000', accent: '#0000ff', surface: '#ffffff' },
      font: { family: 'x', size: 11 },
      measure: (text: string) => text.length * 6
    }
    const picture = {
      ...{ boxes: sceneBoxes(layout, view), layout, width: 1000, top: 0 },
      classOf: (node: number) => painted.classes[node]!,
      fills: fillsOf(painted, theme),
      labelsOf: (node: number) => [`a_kernel_with_a_long_name_${node}`, `k${node}`],
      valueOf: (node: number) => String(weights[node]),
      hits: hitCounts(layout, Int32Array.of(2)),
      selected: 1
    }
    paintFlame(painter, picture, ink)
    expect(texts).toContain('a_kernel_with_a_long_name_0')
    expect(texts).toContain('700')
    expect(texts).toContain('k1')
    expect(styles.some(({ hatch }) => hatch === '#ffffff')).toBe(true)
    expect(styles.filter(({ stroke }) => stroke === '#000000')).toHaveLength(1)
    expect(styles.at(-1)).toMatchObject({ stroke: '#0000ff', lineWidth: 2 })
  })

  it('names only the fills that are there', () => {
    expect(legendOf(painted, theme).map(({ title }) => title)).toEqual(['block-scaled matmul'])
    const change = legendOf({ ...painted, by: 'change' }, theme).map(({ title }) => title)
    expect(change).toContain('gone')
    expect(
      legendOf({ ...painted, by: 'metric', range: [1, 9], legend: ['x'] }, theme)
    ).toHaveLength(5)
  })

  it('has callers above the frame and called frames below it, the frame once', () => {
    const scene = { layout, painted }
    const flame = flameLayers(scene, shape.parent)
    expect(heightOf(flame)).toBe(3 * rowHeight)
    const side = {
      ...{ count: shape.count, parent: shape.parent, depth: shape.depth, weight: weights },
      ...{ example: Int32Array.from(weights.keys()), layout, painted }
    }
    const layers = sandwichLayers({
      ...{ node: 0, callers: side, callees: side, weight: 1, total: 2 },
      ...{ calls: new Int32Array(0), callWeights: new Float64Array(0) }
    })
    expect(heightOf(layers)).toBe(5 * rowHeight)
    const at = (row: number) => {
      const found = levelAt(layers, (row + 0.5) * rowHeight)
      return found && [found.layer.upwards, found.level]
    }
    expect([0, 1, 2, 3, 4, 5].map(at)).toEqual([
      [true, 2],
      [true, 1],
      [false, 0],
      [false, 1],
      [false, 2],
      undefined
    ])
    expect(levelsBetween(layers[0]!, 0, rowHeight)).toEqual({ firstLevel: 1, endLevel: 3 })
    expect(levelsBetween(layers[1]!, 0, 3 * rowHeight)).toEqual({ firstLevel: 0, endLevel: 2 })
  })
})

describe('frameLabels', () => {
  it('falls back to what tells one launch from another', () => {
    const forms = frameLabels('block_scaled_matmul_kernel_mxfp4 [E=128, M=64, N=5760, K=2880]')
    expect(forms.slice(-2)).toEqual(['mxfp4 5760×2880', '5760×2880'])
    expect(frameLabels('layers.21')).toEqual(['layers.21'])
  })
})
