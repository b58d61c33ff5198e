/** Names in the charts of real runs: none lies on another, on a mark, or outside of its chart. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRun } from '../../../../src-shared/contract/parseRun'
import { noRoofs } from '@shared/charts/limits'
import { paperTheme } from '@shared/charts/paperTheme'
import {
  everyNth,
  intersects,
  labelHeight,
  labelWidth,
  placeLabels,
  placesAround,
  placesAtLine,
  spreadApart,
  type Box
} from '@shared/charts/placeLabels'
import { rooflineOption } from '@shared/charts/roofline'
import { laidOutSweep, sweepChartOption } from '@shared/charts/sweepChart'
import { sweepLines } from '@shared/charts/sweepSeries'
import { roofsOfRun } from '@shared/measurement/roofs'
import { gpu, makeMeasurement, makeRun, makeStep, sweepSpec } from '../support/samples'

function savedRun(name: string) {
  const path = `docs/results/${name}/run.json`
  return parseRun(readFileSync(path, 'utf8'), path)
}
const overlapping = (boxes: readonly Box[]) =>
  boxes.flatMap((one, index) => boxes.slice(index + 1).filter((other) => intersects(one, other)))

interface LabelSeries {
  id: string
  type: string
  data: {
    value: [number, number]
    label: { position: [number, number]; offset: [number, number]; formatter: string }
  }[]
  xAxisIndex?: number
}
/** What is written, and the middle of it in pixels from the top of its panel. */
const writtenIn = ({ data }: LabelSeries, panelHeight: number, yAxis: object) =>
  data.map(({ value, label }) => ({
    text: label.formatter.replace(/\{\w+\||\}/g, ''),
    middle: panelHeight * (1 - value[1] / (yAxis as { max: number }).max) + label.offset[1]
  }))

describe('names in a roofline', () => {
  const size = { width: 800, height: 460 }
  type Option = ReturnType<typeof rooflineOption>
  const placeIn = ({ grid, xAxis, yAxis }: Option, { width, height } = size) => {
    const share = (value: number, { min, max }: { min: number; max: number }) =>
      Math.log(value / min) / Math.log(max / min)
    return ([intensity, rate]: readonly [number, number]) => ({
      x: grid.left + (width - grid.left - grid.right) * share(intensity, xAxis),
      y: grid.top + (height - grid.top - grid.bottom) * (1 - share(rate, yAxis))
    })
  }
  /** The last point of each line, by the name of the line. */
  const pointsOf = (option: Option, of = size) => {
    const dots = option.series.filter((one) => one.type === 'scatter' && 'name' in one)
    return dots.map((one) => ({
      text: (one as { name: string }).name,
      ...placeIn(option, of)(one.data.at(-1) as [number, number])
    }))
  }
  const boxesOf = (option: Option, of = size) => {
    const named = (option.series as unknown as LabelSeries[]).filter(({ id }) =>
      id.startsWith('label ')
    )
    return named.map(({ data: [only] }) => {
      const { value, label } = only!
      const { x, y } = placeIn(option, of)(value)
      const [left, top] = [x + label.position[0], y + label.position[1]]
      const text = label.formatter
      return { text, left, top, width: labelWidth(text), height: labelHeight }
    })
  }

  it.each([
    ['h200-8192', 400],
    ['h200-8192', 800],
    ['h200-8192-mxfp4', 400],
    ['h200-8192-mxfp4', 800]
  ])('of %s, %i pixels wide, lie apart', (name, width) => {
    const run = savedRun(name)
    const lines = sweepLines([{ run, title: '', overlay: false }])
    const roofs = { ...roofsOfRun(run), entered: {} }
    const option = rooflineOption(lines, roofs, paperTheme, { ...size, width })
    const boxes = boxesOf(option, { ...size, width })
    expect(overlapping(boxes)).toEqual([])
    for (const { left, width: wide } of boxes) {
      expect(left).toBeGreaterThanOrEqual(option.grid.left - 1e-6)
      expect(left + wide).toBeLessThanOrEqual(width - option.grid.right + 1e-6)
    }
    const texts = boxes.map(({ text }) => text)
    expect(texts.filter((text) => /^(fp8|bf16) /.test(text))).toHaveLength(2)
    // What is no mere reference is named first, as far as a name stands nearest to its own point.
    if (width === 800) expect(texts.filter((text) => /^wgmma/.test(text)).length).toBeGreaterThan(1)
    // A text is drawn a pixel below where it was placed.
    const points = pointsOf(option, { ...size, width })
    const distance = (
      { left, top, width: wide, height }: Box,
      { x, y }: { x: number; y: number }
    ) => Math.hypot(Math.max(0, left - x, x - left - wide), Math.max(0, top - y, y - top - height))
    for (const box of boxes) {
      const own = points.find(({ text }) => text === box.text)
      if (!own) continue
      for (const point of points)
        if (Math.hypot(point.x - own.x, point.y - own.y) > 6)
          expect(distance(box, point)).toBeGreaterThan(distance(box, own) - 1)
    }
  })
})

describe('names at the ends of lines', () => {
  const shaped = (k: number) => (m: number) =>
    makeStep(m * k, 'mxfp4', 'cpu', {
      ...{ m, k },
      measurement: makeMeasurement((1e6 * k) / m, 2e9 * m * (k === 512 ? 0.97 : 1))
    })
  const run = makeRun('run-1', {
    kind: 'sweep',
    spec: sweepSpec,
    device: gpu,
    steps: [256, 512, 1024, 2048].flatMap((k) => [1, 16, 64, 256].map(shaped(k)))
  })
  const lines = sweepLines([{ run, title: '', overlay: false }], 'm')
  const choices = { metric: 'tflops', logX: true, logY: false, roofs: noRoofs } as const

  it.each([260, 600, 1000])('over M, %i pixels wide, lie apart and within their panel', (width) => {
    const option = sweepChartOption(lines, { ...choices, width }, paperTheme)
    const [panel] = laidOutSweep(lines, { ...choices, width }).facets.panels
    const series = (option.series as unknown as LabelSeries[]).find(({ id }) =>
      id.startsWith('labels')
    )!
    const written = writtenIn(series, panel!.height, option.yAxis[0]!)
    const boxes = written.map(({ text, middle }) => {
      return { left: 0, width: 1, top: middle - labelHeight / 2, height: labelHeight, text }
    })
    expect(boxes.length).toBeGreaterThan(1)
    expect(overlapping(boxes)).toEqual([])
    for (const box of boxes) {
      expect(box.top).toBeGreaterThanOrEqual(0)
      expect(box.top + box.height).toBeLessThanOrEqual(panel!.height)
      expect(labelWidth(box.text)).toBeLessThanOrEqual(panel!.width + 4)
    }
  })
})

describe('names of lines that end close together', () => {
  const steps = ['mxfp4', 'mxfp8'].flatMap((format) =>
    [256, 512, 1024, 2048].flatMap((k, which) =>
      [1, 16, 64, 256].map((m) =>
        makeStep(m * k + which, format, 'cpu', {
          ...{ m, k },
          measurement: makeMeasurement((1e6 * k) / m, 2e9 * m * (1 + which / 1000))
        })
      )
    )
  )
  const run = makeRun('run-1', { kind: 'sweep', spec: sweepSpec, device: gpu, steps })
  const lines = sweepLines([{ run, title: '', overlay: false }], 'm')
  const choices = {
    metric: 'tflops',
    logX: true,
    logY: false,
    roofs: noRoofs,
    apart: true
  } as const
  const drawn = (width: number) => {
    const option = sweepChartOption(lines, { ...choices, width }, paperTheme)
    const whole = laidOutSweep(lines, { ...choices, width }).facets.panels
    const series = option.series as unknown as LabelSeries[]
    return {
      option,
      whole,
      names: series.filter(({ id }) => id.startsWith('labels ')),
      leaders: series.filter(({ id }) => id.startsWith('leaders '))
    }
  }

  it('stand in a column beside each panel, none left out, each with a line from its end', () => {
    const { option, whole, names, leaders } = drawn(1000)
    for (const [index, series] of names.entries()) {
      const panel = option.grid[index]!
      const written = writtenIn(series, panel.height, option.yAxis[index]!)
      const texts = written.map(({ text }) => text)
      expect(texts.map((text) => text.replace(/ [\d.]+$/, '')).sort()).toEqual(
        ['K = 1,024', 'K = 2,048', 'K = 256', 'K = 512'].map((name) => `${texts[0]![0]} ${name}`)
      )
      const middles = written.map(({ middle }) => middle).sort((a, b) => a - b)
      for (const [at, middle] of middles.slice(1).entries())
        expect(middle - middles[at]!).toBeGreaterThanOrEqual(labelHeight - 1e-9)
      // Beyond the panel, which is as much narrower.
      const room = whole[index]!.width - panel.width
      for (const text of texts) expect(labelWidth(text)).toBeLessThan(room)
      expect(leaders[index]!.data).toHaveLength(4)
    }
    // Whose lines they are is said once.
    expect((option.yAxis[0] as unknown as { name: string }).name).toMatch(/mxfp4} cpu/)
  })

  it('stay in a panel that would be too narrow beside them', () => {
    const { option, whole, leaders } = drawn(260)
    expect(option.grid[0]!.width).toBe(whole[0]!.width)
    expect(leaders).toEqual([])
  })
})

describe('names of a crowded sweep over M', () => {
  const layers = Array.from({ length: 9 }, (_, which) => 512 + 64 * which)
  const steps = ['mxfp4', 'mxfp8', 'mixed', 'nvfp4'].flatMap((format) =>
    layers.flatMap((k, which) =>
      [1, 16, 64].map((m) =>
        makeStep(m * k, format, 'cpu', {
          ...{ m, k },
          measurement: makeMeasurement((1e6 * k) / m, 2e9 * m * (1 + which / 500))
        })
      )
    )
  )
  const run = makeRun('run-1', { kind: 'sweep', spec: sweepSpec, device: gpu, steps })
  const lines = sweepLines([{ run, title: '', overlay: false }], 'm')
  const choices = {
    metric: 'tflops',
    logX: true,
    logY: false,
    roofs: noRoofs,
    apart: true
  } as const

  it('are all of its shapes, in panels wide enough for a column of them', () => {
    const wide = { ...choices, width: 1140 }
    expect(laidOutSweep(lines, wide).facets.columns).toBe(2)
    const series = sweepChartOption(lines, wide, paperTheme).series as unknown as LabelSeries[]
    const names = series.filter(({ id }) => id.startsWith('labels '))
    expect(names.map(({ data }) => data.length)).toEqual([9, 9, 9, 9])
    expect(series.filter(({ id }) => id.startsWith('leaders '))).toHaveLength(4)
  })

  it('leave four panels side by side where only references have no room', () => {
    const saved = savedRun('h200-k-sweep')
    const overK = sweepLines([{ run: saved, title: '', overlay: false }], 'k')
    expect(laidOutSweep(overK, { ...choices, width: 1140 }).facets.columns).toBe(4)
  })
})

describe('heights that are spread', () => {
  it('keep their order and their distance, and what is apart stays where it is', () => {
    expect(spreadApart([10, 60], 14, 0, 100)).toEqual([10, 60])
    expect(spreadApart([52, 50, 51], 14, 0, 100)).toEqual([78, 50, 64])
    expect(spreadApart([99, 98], 14, 0, 100)).toEqual([100, 86])
    expect(spreadApart([-5, 2], 14, 0, 100)).toEqual([0, 14])
  })
})

describe('a label', () => {
  const bounds = { left: 0, top: 0, width: 200, height: 100 }
  const wish = (x: number, y: number, text = 'kernel') => ({
    ...{ x, y, text },
    places: placesAround(labelWidth(text), 8)
  })

  it('stands right of its point, left of it at the edge, and nowhere where nothing is free', () => {
    const [first, edge, none] = placeLabels(
      [wish(20, 50), wish(195, 50), wish(100, 50, 'n'.repeat(40))],
      bounds
    )
    expect(first!.left).toBe(28)
    expect(edge!.left + edge!.width).toBe(187)
    expect(none).toBeUndefined()
  })

  it('ends at its line, in the next row where the first is taken, and begins there only where nothing is free left of it', () => {
    const atLine = (x: number, text: string) => ({
      ...{ x, y: 0, text },
      places: placesAtLine(labelWidth(text), 2)
    })
    const name = 'fp8 roof'
    const width = labelWidth(name)
    const room = { left: 0, top: 0, width: 2 * width, height: 2 * labelHeight }
    const placed = placeLabels([atLine(width, name), atLine(width + 9, name)], room)
    expect(placed.map((box) => [box!.left, box!.top])).toEqual([
      [0, 0],
      [9, labelHeight]
    ])
    const [near] = placeLabels([atLine(width - 9, name)], room)
    expect([near!.left, near!.top]).toEqual([width - 9, 0])
    expect(placeLabels([atLine(9, name)], { ...room, width })).toEqual([undefined])
  })

  it('gives way to what was placed before and to marks, and to lines where it can', () => {
    const twice = placeLabels([wish(50, 50), wish(50, 50)], bounds)
    expect(overlapping(twice.map((box) => box!))).toEqual([])
    const mark = { left: 58, top: 45, width: 10, height: 10 }
    expect(intersects(placeLabels([wish(50, 50)], bounds, { taken: [mark] })[0]!, mark)).toBe(false)
    const [off] = placeLabels([wish(50, 50)], bounds, { lines: [[50, 50, 200, 50]] })
    expect(off!.left + off!.width).toBe(42)
    const everywhere = Array.from({ length: 40 }, (_, y) => [0, y * 3, 200, y * 3] as const)
    expect(placeLabels([wish(50, 50)], bounds, { lines: everywhere })[0]).toBeDefined()
    const most = (mostCrossed: number) =>
      placeLabels([wish(50, 50)], bounds, { lines: everywhere, mostCrossed })[0]
    expect(most(2)).toBeUndefined()
    expect(most(10)).toBeDefined()
  })
})

describe('labels of evenly spaced ticks', () => {
  const texts = ['0', '250', '500', '750', '1,000', '1,250', '1,500', '1,750', '2,000']

  it.each([60, 150, 240, 500, 900])('meet one another nowhere on %d pixels', (room) => {
    const nth = everyNth(texts, room)
    const shown = texts.flatMap((text, at) => (at % nth === 0 ? [{ text, at }] : []))
    const middle = (at: number) => (at * room) / (texts.length - 1)
    for (const [i, { text, at }] of shown.entries()) {
      const next = shown[i + 1]
      if (!next) continue
      const between = middle(next.at) - middle(at)
      expect(between).toBeGreaterThan((labelWidth(text) + labelWidth(next.text)) / 2)
    }
  })

  it('are all written where there is room, and before the room is known', () => {
    expect(everyNth(texts, 900)).toBe(1)
    expect(everyNth(texts, 0)).toBe(1)
  })
})
