/** The charts of a sweep as pure options: runs in, what is drawn out. */
import { describe, expect, it } from 'vitest'
import type { Run, Step } from '@shared/contract/run'
import { isGeometric, placeTicks } from '@shared/charts/sweepAxis'
import { laidOutSweep, sweepChartOption } from '@shared/charts/sweepChart'
import { noRoofs, type Roofs } from '@shared/charts/limits'
import {
  figureOf,
  groupOf,
  lineName,
  sweepLines,
  sweepScale,
  type SweepMetric
} from '@shared/charts/sweepSeries'
import { ramps, type Mark } from '../../../../src-shared/measurement/marks'
import { blindness, difference } from '../support/colourVision'
import { gpu, makeMeasurement, makeRun, makeStep, sweepSpec, sweepSteps } from '../support/samples'
import { themesFromTokens } from '../validate/themes'

const themes = themesFromTokens()
const { light, dark } = themes
const roofs: Roofs = { ...noRoofs, entered: { compute: 1979e12, memory: 4800e9 } }

const runOf = (steps: Step[], id = 'run-1'): Run =>
  makeRun(id, { kind: 'sweep', spec: sweepSpec, device: gpu, steps })
const linesOf = (steps: Step[], overlaid?: Step[]) =>
  sweepLines([
    { run: runOf(steps), title: 'new', overlay: false },
    ...(overlaid ? [{ run: runOf(overlaid, 'run-0'), title: 'before', overlay: true }] : [])
  ])
const at = (k: number, medianNs: number, kernel = 'mma_sync', more: Partial<Step> = {}): Step =>
  makeStep(k, 'nvfp4', kernel, { k, measurement: makeMeasurement(medianNs, 2e12), ...more })
const choices = (metric: SweepMetric, more = {}) => ({
  metric,
  logX: false,
  logY: false,
  roofs,
  ...more
})

type Drawn = {
  id: string
  name?: string
  type: string
  data: (number | null)[][]
  lineStyle: { color: string; type: unknown }
  itemStyle: { color: string; borderColor?: string }
}
const drawnLines = (option: { series: unknown[] }) =>
  (option.series as Drawn[]).filter(({ type }) => type === 'line')
const bands = (option: { series: unknown[] }) =>
  (option.series as Drawn[]).filter(({ type }) => type === 'custom')

describe('lines of a sweep', () => {
  it('are one per kernel, format and level, in order of K, without what was not measured', () => {
    const lines = linesOf([
      at(1024, 10),
      at(512, 5),
      at(512, 4, 'mma_sync', { level: 'native' }),
      makeStep(9, 'nvfp4', 'broken', { disposition: 'incorrect' })
    ])
    expect(lines.map(({ level, points }) => [level, points.map(({ at }) => at)])).toEqual([
      ['exact', [512, 1024]],
      ['native', [512]]
    ])
    expect(sweepLines([])).toEqual([])
  })

  it('run over M where K is one, over what is asked for where both vary, and tell the rest', () => {
    const shaped = (m: number, k: number) => at(k, m + k, 'mma_sync', { m, index: m * k })
    const namesOf = (steps: Step[], over?: 'k' | 'm') =>
      sweepLines([{ run: runOf(steps), title: '', overlay: false }], over).map(
        ({ over: runsOver, variant, points }) => [runsOver, variant, points.map((one) => one.at)]
      )
    const steps = [shaped(16, 512), shaped(64, 512), shaped(16, 1024), shaped(64, 1024)]
    expect(namesOf(steps)).toEqual([
      ['k', 'M = 16', [512, 1024]],
      ['k', 'M = 64', [512, 1024]]
    ])
    expect(namesOf(steps, 'm')).toEqual([
      ['m', 'K = 512', [16, 64]],
      ['m', 'K = 1,024', [16, 64]]
    ])
    const oneK = makeRun('run-2', {
      kind: 'sweep',
      spec: { ...sweepSpec, kValues: [512] } as Run['spec'],
      device: gpu,
      steps: [shaped(64, 512), shaped(16, 512)]
    })
    const [line, ...more] = sweepLines([{ run: oneK, title: '', overlay: false }], 'n')
    expect(line).toMatchObject({ over: 'm', variant: '' })
    expect(line!.points.map((one) => one.at)).toEqual([16, 64])
    expect(more).toEqual([])
  })

  describe('over the M of listed shapes', () => {
    const row = (name: string, m: number, n: number) => ({
      ...{ name, m, n, k: 64, groups: 1, weight: 1, tokens: m }
    })
    const drawn = (rows: ReturnType<typeof row>[]) => {
      const steps = rows.map(({ m, n, k }, index) =>
        makeStep(index, 'nvfp4', 'mma_sync', { m, n, k, measurement: makeMeasurement(5, 2e12) })
      )
      const spec = { ...sweepSpec, kValues: [], shapes: { source: 'model', rows } }
      const run = makeRun('run-1', { kind: 'sweep', spec, device: gpu, steps })
      return sweepLines([{ run, title: 'new', overlay: false }]).map(
        ({ over, variant, points }) => [over, variant, ...points.map(({ at: m }) => m)]
      )
    }

    it("run over the tokens of a model, one for each of its layers' names", () => {
      const rows = [row('qkv', 1, 96), row('o', 1, 64), row('qkv', 16, 96), row('o', 16, 64)]
      expect(drawn([...rows, row('up', 1, 96), row('up', 16, 96)])).toEqual([
        ['m', 'qkv, up', 1, 1, 16, 16],
        ['m', 'o', 1, 16]
      ])
    })

    it('are called by N × K where each row has a name of its own', () => {
      expect(drawn([row('a', 1, 96), row('b', 16, 96), row('c', 1, 64), row('d', 16, 64)])).toEqual(
        [
          ['m', '96 × 64', 1, 16],
          ['m', '64 × 64', 1, 16]
        ]
      )
    })

    it('stay apart where two layers have one name', () => {
      const at = (m: number) => [row('proj', m, 96), row('proj', m, 64), row('o', m, 32)]
      expect(drawn([...at(1), ...at(16)])).toEqual([
        ['m', 'proj, 96 × 64', 1, 16],
        ['m', 'proj, 64 × 64', 1, 16],
        ['m', 'o', 1, 16]
      ])
    })
  })

  it('stand on a logarithmic axis where their values are powers', () => {
    const places = (values: number[]) => isGeometric(linesOf(values.map((k) => at(k, k))))
    expect(places([1, 16, 64, 4096])).toBe(true)
    expect(places([512, 1024, 1536, 2048])).toBe(false)
    expect(places([512, 8192])).toBe(false)
    expect(isGeometric([])).toBe(false)
  })

  it('look the same in every run, live and finished, alone and overlaid', () => {
    const look = ({ mark }: { mark: Mark }) => JSON.stringify(mark)
    const lines = linesOf(sweepSteps(), sweepSteps(0.9))
    const current = lines.filter(({ overlay }) => !overlay)
    expect(new Set(current.map(look)).size).toBe(current.length)
    for (const line of current) {
      const twin = lines.find(
        ({ overlay, kernel, format }) => overlay && kernel === line.kernel && format === line.format
      )!
      expect(look(twin)).toBe(look(line))
      expect(lineName(twin)).toBe(`${lineName(line)} (before)`)
      expect(groupOf(twin)).toBe('Overlay: before')
    }
    // While it runs, steps come one by one and in any order.
    const steps = sweepSteps()
    for (let count = 1; count <= steps.length; count++) {
      for (const line of linesOf(steps.slice(-count))) {
        const finished = current.find(
          ({ kernel, format }) => kernel === line.kernel && format === line.format
        )!
        expect(look(line)).toBe(look(finished))
      }
    }
  })

  it('of two providers never share a colour, and of two formats never a symbol', () => {
    const ours = at(512, 5, 'wgmma', { provider: 'blockscope', format: 'mxfp4' })
    const triton = at(512, 5, 'triton', { provider: 'Triton', format: 'mxfp4' })
    const [one, other] = linesOf([ours, triton])
    expect(one!.mark.colour).not.toEqual(other!.mark.colour)
    expect(one!.mark.symbol).toBe(other!.mark.symbol)
    const [nvfp4, mxfp8] = linesOf([at(512, 5), at(512, 5, 'mma_sync', { format: 'mxfp8' })])
    expect(nvfp4!.mark.symbol).not.toBe(mxfp8!.mark.symbol)
    expect(nvfp4!.mark.colour).toEqual(mxfp8!.mark.colour)
  })

  it('have the quartile band on the right side: less time is more rate', () => {
    const [line] = linesOf([at(512, 1e9)])
    const { step } = line!.points[0]!
    const time = figureOf(step, 'time')!
    const rate = figureOf(step, 'tflops')!
    expect([time.low < time.value, time.value < time.high]).toEqual([true, true])
    expect(rate.value).toBeCloseTo(2, 12)
    expect(rate.low).toBeCloseTo(2 / 1.011, 12)
    expect(rate.high).toBeCloseTo(2 / 0.993, 12)
    expect(figureOf(step, 'share')).toBeUndefined()
    expect(figureOf(makeStep(0, 'nvfp4', 'none'), 'time')).toBeUndefined()
  })
})

describe.each(['light', 'dark'] as const)('the chart over K, %s', (name) => {
  const theme = themes[name]

  it('draws with the colours of its look, hollow what is only a reference', () => {
    const [own, reference] = drawnLines(
      sweepChartOption(
        linesOf([
          at(512, 5, 'wgmma', { provider: 'blockscope' }),
          at(512, 4, 'cublaslt-bf16', { provider: 'cuBLASLt', baseline: true })
        ]),
        choices('tflops'),
        theme
      )
    )
    const option = sweepChartOption(linesOf([at(512, 5)]), choices('tflops'), theme)
    expect(own!.itemStyle).toEqual({ color: ramps.blockscope[0]![name], opacity: 1 })
    expect(reference!.itemStyle).toMatchObject({
      color: theme.surface,
      borderColor: ramps.cublaslt[0]![name]
    })
    expect(option.xAxis[0]!.axisLabel.color).toBe(theme.dim)
    expect(option.tooltip).toMatchObject({
      renderMode: 'richText',
      backgroundColor: theme.surface
    })
    expect(JSON.stringify(option)).not.toContain('""')
  })

  it('has neighbouring colours that people who see no red, green or blue tell apart', () => {
    const justNoticeable = 2.3
    for (const [kind, matrix] of Object.entries(blindness)) {
      theme.series.slice(1).forEach((colour, index) => {
        const before = theme.series[index]!
        const apart = difference(before, colour, matrix)
        expect(apart, `${before} ${colour} ${kind}`).toBeGreaterThan(4 * justNoticeable)
      })
    }
  })
})

describe('the chart over K', () => {
  it('draws a baseline dashed and an earlier run dotted, both not solid', () => {
    const steps = [at(512, 5), at(512, 4, 'cublas', { baseline: true })]
    const option = sweepChartOption(linesOf(steps, [at(512, 6)]), choices('time'), light)
    expect(drawnLines(option).map(({ lineStyle }) => lineStyle.type)).toEqual([
      'solid',
      [5, 3],
      [2, 3]
    ])
  })

  it('shows one point in the middle of its axis, without a band', () => {
    const option = sweepChartOption(linesOf([at(1024, 5)]), choices('time'), light)
    expect([option.xAxis[0]!.min, option.xAxis[0]!.max]).toEqual([512, 1536])
    expect(option.xAxis[0]!.axisLabel.customValues).toEqual([1024])
    expect(drawnLines(option)[0]!.data).toEqual([[1024, 5]])
    const { renderItem } = bands(option)[0] as unknown as {
      renderItem: (params: object, api: object) => unknown
    }
    expect(renderItem({ dataIndex: 0 }, { coord: (point: unknown) => point })).toBeNull()
  })

  it('draws the band once, upper edge there and lower edge back', () => {
    const option = sweepChartOption(
      linesOf([at(512, 1000), at(1024, 2000)]),
      choices('time'),
      light
    )
    const { renderItem } = bands(option)[0] as unknown as {
      renderItem: (params: object, api: object) => { shape: { points: [number, number][] } } | null
    }
    const api = { coord: (point: unknown) => point }
    const points = renderItem({ dataIndex: 0 }, api)!.shape.points
    expect(points.map(([k]) => k)).toEqual([512, 1024, 1024, 512])
    expect(points[0]![1]).toBeGreaterThan(points[3]![1])
    expect(renderItem({ dataIndex: 1 }, api)).toBeNull()
  })

  it('is an empty frame without lines', () => {
    const option = sweepChartOption([], choices('tflops'), dark)
    expect(option.series).toEqual([])
    expect(option.xAxis[0]!.max).toBeGreaterThan(option.xAxis[0]!.min)
    expect(option.tooltip.formatter([])).toBe('')
  })

  it('leaves a gap where there is no number, and keeps its unit', () => {
    const lines = linesOf([at(512, NaN), at(1024, 2e6), at(2048, Infinity)])
    const option = sweepChartOption(lines, choices('time'), light)
    expect(drawnLines(option)[0]!.data).toEqual([
      [512, null],
      [1024, 2],
      [2048, null]
    ])
    expect(bands(option)[0]!.data).toHaveLength(1)
    expect(option.yAxis[0]!.name).toBe('Time per operation, ms')
    expect(sweepScale(linesOf([at(512, NaN)]), 'time').unit).toBe('ns')
  })

  it('shows the share of the limit, and a gap where no limit is known', () => {
    const lines = linesOf([at(512, 2e9)])
    const share = sweepChartOption(lines, choices('share'), light)
    expect(drawnLines(share)[0]!.data[0]![1]).toBeCloseTo(100 / 1979, 6)
    expect(share.yAxis[0]!.name).toBe('Share of the limit, %')
    const text = share.tooltip.formatter([{ seriesId: lines[0]!.id, dataIndex: 0 }])
    expect(text).toContain('limit: compute, entered')
    const unknown = sweepChartOption(lines, choices('share', { roofs: noRoofs }), light)
    expect(drawnLines(unknown)[0]!.data).toEqual([[512, null]])
  })

  it('tells in its tip the nearest line first, with its quartiles, and stops at eight', () => {
    const kernels = Array.from({ length: 16 }, (_, index) => at(512, 100 + index, `kernel${index}`))
    const lines = linesOf(kernels, [at(512, 50, 'old')])
    const hits = lines.map(({ id }) => ({ seriesId: id, dataIndex: 0, marker: '* ' }))
    const fastest = sweepChartOption(lines, choices('tflops'), light)
      .tooltip.formatter(hits)
      .split('\n')
    expect(fastest[0]).toMatch(/^K = 512 +q1–q3 .* TFLOP\/s$/)
    expect(fastest[1]).toMatch(/^\* old nvfp4 \(before\) /)
    expect(fastest.at(-1)).toBe('and 9 more, in the table')
    expect(fastest).toHaveLength(10)
    // At the foot of the chart the slowest is the nearest.
    const pointer = () => ({ x: 300, y: 344 })
    const nearest = sweepChartOption(lines, choices('tflops', { pointer }), light)
      .tooltip.formatter(hits)
      .split('\n')
    expect(nearest[1]).toContain('kernel15')
  })

  it('has a panel for each format on one scale, and only the panel pointed at in its tip', () => {
    const lines = linesOf([
      at(512, 100, 'wgmma', { format: 'mxfp4' }),
      at(1024, 90, 'wgmma', { format: 'mxfp4' }),
      at(512, 300, 'wgmma', { format: 'nvfp4' }),
      at(1024, 280, 'wgmma', { format: 'nvfp4' })
    ])
    const apart = choices('tflops', { apart: true, width: 1000 })
    const option = sweepChartOption(lines, apart, light)
    const { panels } = laidOutSweep(lines, apart).facets
    expect(panels.map(({ format }) => format)).toEqual(['mxfp4', 'nvfp4'])
    expect(new Set(option.yAxis.map(({ max }) => max)).size).toBe(1)
    const hits = lines.map(({ id }) => ({ seriesId: id, dataIndex: 0 }))
    for (const { format, left, top } of panels) {
      const pointer = () => ({ x: left + 10, y: top + 10 })
      const text = sweepChartOption(lines, { ...apart, pointer }, light).tooltip.formatter(hits)
      expect(text).toContain(`   ${format}   `)
      expect(text.split('\n')).toHaveLength(2)
    }
    // A narrow window has them one below the other.
    const narrow = laidOutSweep(lines, { ...apart, width: 360 }).facets
    expect(narrow.panels[1]!.top).toBeGreaterThan(narrow.panels[0]!.top)
    expect(narrow.panels.every(({ left, width }) => left + width <= 360)).toBe(true)
  })

  it('puts ticks at measured values of K only, first and last among them, never crowded', () => {
    const many = linesOf(Array.from({ length: 200 }, (_, index) => at(64 * (index + 1), 5)))
    for (const logX of [false, true]) {
      const ticks = placeTicks(many, logX)
      expect([ticks[0], ticks.at(-1)]).toEqual([64, 12_800])
      expect(ticks.length).toBeLessThanOrEqual(17)
      for (const tick of ticks) expect(tick % 64).toBe(0)
    }
    expect(placeTicks(linesOf([at(100, 5), at(700, 5)]), false)).toEqual([100, 700])
    expect(placeTicks([], true)).toEqual([])
  })
})
