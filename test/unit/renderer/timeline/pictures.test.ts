/** What the timeline draws, as data. */
import { describe, expect, it } from 'vitest'
import { commandRange, rangeOf } from '@shared/profile/lanes/rangeText'
import type { ShownLane } from '@shared/profile/lanes/lanes'
import type { Scene } from '@shared/profile/lanes/scene'
import { boxAt, snapped } from '../../../../src-renderer/views/timeline/edges'
import {
  layLanes,
  processKey,
  rowAt,
  rowsBetween,
  rowsWhenFolded
} from '../../../../src-renderer/views/timeline/laneLayout'
import { paintLanes } from '../../../../src-renderer/views/timeline/paintLanes'
import { rulerOf } from '../../../../src-renderer/views/timeline/ruler'
import type { BoxStyle, Painter } from '../../../../src-renderer/canvas/painter'

const lane = (name: string, kind: ShownLane['kind'], firstRow: number, rowCount: number) => ({
  ...{ name, kind, firstRow, rowCount, sliceCount: 1 },
  process: 'python',
  processId: kind === 'stream' ? '0' : '4121',
  processLabel: kind === 'stream' ? 'GPU 0' : 'CPU'
})
const lanes = [
  lane('stream 20', 'stream', 0, 1),
  lane('stream 7', 'stream', 1, 2),
  lane('thread 4121', 'thread', 3, 40)
]
const isWork = Array.from({ length: 43 }, (_, row) => row !== 1)
const nothing = {
  closed: new Set<string>(),
  unfolded: new Set<number>(),
  hidden: new Set<number>()
}
const state = { ...nothing, pinned: [] as number[] }
const titles = (of: ReturnType<typeof layLanes>) => of.items.map(({ title }) => title)

describe('lanes', () => {
  it('of calls stand above streams, by their names, below their process; deep ones are folded', () => {
    const layout = layLanes(lanes, isWork, state, 'others')
    expect(titles(layout)).toEqual([
      ...['python, CPU', 'thread 4121', 'python, GPU 0', 'stream 7', 'stream 20']
    ])
    const thread = layout.items[1]!
    expect(thread).toMatchObject({ foldedRows: 40 - rowsWhenFolded, about: '40 deep' })
    expect(layout.rows.map(({ row }) => row)).toEqual([3, 4, 5, 6, 7, 8, 1, 2, 0])
    for (const [at, item] of layout.items.slice(1).entries())
      expect(item.y).toBe(layout.items[at]!.y + layout.items[at]!.height)
    expect(layout.height).toBe(layout.items.at(-1)!.y + layout.items.at(-1)!.height)
  })

  it('of several files stand file by file', () => {
    const ranks = [1, 0].flatMap((part) =>
      lanes.map((of) => ({
        ...of,
        part,
        processLabel: `rank ${part}`,
        processId: `${part} ${of.processId}`
      }))
    )
    const headings = layLanes(ranks, isWork, state, 'others').items.filter(
      ({ kind }) => kind === 'process'
    )
    expect(headings.map(({ title }) => title)).toEqual(
      ['rank 0', 'rank 0', 'rank 1', 'rank 1'].map((rank) => `python, ${rank}`)
    )
  })

  it('unfold, close, hide and are pinned', () => {
    const unfolded = layLanes(lanes, isWork, { ...state, unfolded: new Set([2]) }, 'others')
    expect(unfolded.rows).toHaveLength(43)
    const closed = layLanes(
      lanes,
      isWork,
      { ...state, closed: new Set([processKey(lanes[0]!)]) },
      'others'
    )
    expect(titles(closed)).toEqual(['python, CPU', 'thread 4121', 'python, GPU 0'])
    const some = { ...state, hidden: new Set([2]), pinned: [0] }
    expect(titles(layLanes(lanes, isWork, some, 'others'))).toEqual(['python, GPU 0', 'stream 7'])
    expect(titles(layLanes(lanes, isWork, some, 'pinned'))).toEqual(['stream 20'])
  })

  it('are found at a height', () => {
    const layout = layLanes(lanes, isWork, state, 'others')
    for (const place of layout.rows) {
      expect(rowAt(layout, place.y + place.height / 2)).toBe(place)
      expect(rowsBetween(layout, place.y + 1, place.y + 2)).toEqual([place.row])
    }
    expect(rowAt(layout, 5)).toBeUndefined()
  })
})

describe('a ruler', () => {
  const texts = (start: number, end: number) => {
    const { base, ticks } = rulerOf({ start, end }, 1000)
    return [base, ...ticks.map(({ text }) => text)]
  }

  it('has round ticks, said from a round time near them', () => {
    expect(texts(0, 1e6)).toEqual([
      '',
      '0 ns',
      '100 µs',
      '200 µs',
      '300 µs',
      '400 µs',
      '500 µs',
      '600 µs',
      '700 µs',
      '800 µs',
      '900 µs',
      '1 ms'
    ])
    expect(texts(3.515e6, 3.815e6).slice(0, 3)).toEqual(['', '3.55 ms', '3.6 ms'])
    expect(texts(44.83e6, 44.99e6).slice(0, 3)).toEqual(['44 ms', '+840 µs', '+860 µs'])
  })

  it('tells a nanosecond apart an hour in', () => {
    const hour = 3.6e12
    const { base, ticks } = rulerOf({ start: hour + 3, end: hour + 13 }, 1000)
    expect(base).toBe('3,600 s')
    expect(ticks.map(({ text }) => text).slice(0, 3)).toEqual(['+3 ns', '+4 ns', '+5 ns'])
    expect(ticks[1]!.ns - hour).toBe(4)
  })

  it('never has ticks closer than their words are wide', () => {
    for (let length = 10; length < 1e13; length *= 2.7) {
      const { ticks } = rulerOf({ start: 1e9, end: 1e9 + length }, 1000)
      expect(ticks.length).toBeGreaterThan(2)
      expect(ticks.length).toBeLessThan(13)
    }
  })
})

describe('a range', () => {
  it('is written and read alike', () => {
    for (const range of [
      { startNs: 0, endNs: 12.5 },
      { startNs: 3_642_000, endNs: 3_754_271 },
      { startNs: 3.6e12 + 1, endNs: 3.6e12 + 2 }
    ])
      expect(rangeOf(commandRange(range), 1e13)).toEqual(range)
    expect(rangeOf('..2.5ms', 1e9)).toEqual({ startNs: 0, endNs: 2.5e6 })
    expect(rangeOf('1µs..', 1e9)).toEqual({ startNs: 1000, endNs: 1e9 })
  })
})

const scene: Scene = {
  ...{ startNs: 0, endNs: 1000, width: 1000, count: 3 },
  row: Int32Array.of(0, 0, 2),
  start: Float64Array.of(100, 400, 0),
  end: Float64Array.of(300, 500, 1000),
  slice: Int32Array.of(4, 5, 9),
  several: Int32Array.of(1, 60, 1),
  group: Uint8Array.of(0, 1, 0),
  fill: Uint8Array.of(255, 127, 255),
  hit: Uint8Array.of(0, 1, 0),
  name: Int32Array.of(7, -1, 8)
}

describe('a scene', () => {
  it('has edges that a measurement snaps to, of single slices only', () => {
    expect(snapped(scene, 306, 10)).toBe(300)
    expect(snapped(scene, 320, 10)).toBe(320)
    expect(snapped(scene, 401, 10)).toBe(401)
    expect(boxAt(scene, 0, 200, 2)).toBe(0)
    expect(boxAt(scene, 0, 305, 10)).toBe(0)
    expect(boxAt(scene, 0, 350, 10)).toBe(-1)
  })

  it('is drawn where the span that is shown now puts it, dimmed but for what was found', () => {
    const boxes: { x: number; y: number; width: number; style: BoxStyle }[] = []
    const texts: string[] = []
    const painter: Painter = {
      box: (x, y, width, _height, style) => boxes.push({ x, y, width, style }),
      text: (text) => texts.push(text),
      line: () => undefined,
      curve: () => texts.push('curve')
    }
    const layout = layLanes(lanes, isWork, state, 'others')
    const place = (row: number) => layout.rows.find((one) => one.row === row)!
    const font = { family: 'sans', size: 11 }
    const fills = ['#111111', '#222222'].map((fill) => ({ fill, ink: '#ffffff' }))
    const draw = (isSearching: boolean) => {
      boxes.length = texts.length = 0
      const at = { slice: 4, row: 0, startNs: 100, endNs: 300 }
      paintLanes(
        painter,
        {
          ...{ width: 500, height: 900, scrollTop: 10, layout, isSearching, range: undefined },
          span: { start: 100, end: 600 },
          ruler: { base: '', ticks: [] },
          shown: {
            scene,
            names: new Map([
              [7, 'gemm'],
              [8, 'outer']
            ]),
            gaps: [{ row: 0, startNs: 300, endNs: 400 }]
          },
          facts: {
            ...{
              ...at,
              name: 'gemm',
              shownName: 'gemm',
              category: '',
              lane: 0,
              node: -1,
              path: ''
            },
            ...{ group: 0, bytes: NaN, correlation: NaN, facts: {}, launched: [] },
            launch: { slice: 9, row: 2, startNs: 100, endNs: 200 }
          },
          measure: (text) => text.length * 6,
          lengthText: () => '0.1 µs'
        },
        {
          text: '#t',
          dim: '',
          line: '',
          grid: '',
          accent: '',
          warn: '#w',
          ground: '#g',
          font,
          mono: font,
          fills
        }
      )
    }
    draw(false)
    expect(boxes[0]).toMatchObject({ x: 0, y: place(0).y - 10, width: 199 })
    expect(boxes[0]!.style).toMatchObject({ fill: '#111111', opacity: 1 })
    expect(boxes[1]!.style.opacity).toBeCloseTo(0.4 + 0.6 * (127 / 255))
    expect(boxes[3]).toMatchObject({ x: 200, width: 100, style: { hatch: '#w' } })
    expect(texts).toEqual(['gemm', 'outer', '0.1 µs', 'curve'])
    draw(true)
    expect(boxes[0]!.style.opacity).toBeLessThan(0.3)
    expect(boxes[1]!.style.stroke).toBe('#t')
    expect(texts).not.toContain('gemm')
  })
})
