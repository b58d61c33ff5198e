/** The charts of a sweep as pure options: runs in, what is drawn out. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Run, Step } from '@shared/contract/run'
import { parseRun } from '../../../../src-shared/contract/parseRun'
import { roofsOfRun } from '@shared/measurement/roofs'
import { isGeometric, placeTicks } from '@shared/charts/sweepAxis'
import { sweepChartFacets, sweepChartOption } from '@shared/charts/sweepChart'
import { noRoofs, type Roofs } from '@shared/charts/limits'
import { dotPlot } from '@shared/charts/dotPlot'
import { ratedRoofs } from '@shared/charts/ratedRoofs'
import { rooflineOption } from '@shared/charts/roofline'
import { roofsOf } from '@shared/charts/rooflinePlot'
import {
  figureOf,
  groupOf,
  lineName,
  sweepLines,
  sweepScale,
  type SweepMetric
} from '@shared/charts/sweepSeries'
import { count } from '@shared/units'
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

  it("run over the tokens of a model, one for each of its layers' names", () => {
    const row = (name: string, m: number, n: number) => ({
      ...{ name, m, n, k: 64, groups: 1, weight: 1, tokens: m }
    })
    const rows = [row('qkv', 1, 96), row('o', 1, 64), row('qkv', 16, 96), row('o', 16, 64)]
    const steps = rows.map(({ m, n, k }, index) =>
      makeStep(index, 'nvfp4', 'mma_sync', { m, n, k, measurement: makeMeasurement(5, 2e12) })
    )
    const spec = { ...sweepSpec, kValues: [], shapes: { source: 'model', rows } }
    const run = makeRun('run-1', { kind: 'sweep', spec, device: gpu, steps })
    const lines = sweepLines([{ run, title: 'new', overlay: false }])
    const drawn = lines.map(({ over, variant, points }) => [
      over,
      variant,
      ...points.map((p) => p.at)
    ])
    expect(drawn).toEqual([
      ['m', 'qkv', 1, 16],
      ['m', 'o', 1, 16]
    ])
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
    expect(own!.itemStyle).toEqual({ color: ramps.blockscope[0]![name] })
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
    const { panels } = sweepChartFacets(lines, apart)
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
    const narrow = sweepChartFacets(lines, { ...apart, width: 360 })
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

describe('rated roofs', () => {
  const path = 'docs/results/h200-k-sweep/run.json'
  const run = parseRun(readFileSync(path, 'utf8'), path)
  const all: Roofs = { ...roofsOfRun(run), entered: {} }
  const lines = linesOf(run.steps)
  const choices = { metric: 'tflops', logX: true, logY: false, apart: true, width: 1150 } as const
  const drawn = (roofs: Roofs, metric: 'tflops' | 'time' = 'tflops') =>
    sweepChartOption(lines, { ...choices, metric, roofs }, light).series as {
      id: string
      data: unknown[]
    }[]

  it('are of each instruction at the highest clock, once, lowest first', () => {
    expect(ratedRoofs(lines, all, 1).map(({ name }) => name)).toEqual([
      'bf16 roof 1,071',
      'fp8 roof 2,141'
    ])
    // In the unit of the chart, names too.
    expect(ratedRoofs(lines, all, 1000)[0]!.name).toBe('bf16 roof 1,070,531')
    expect(ratedRoofs(lines, { ...all, entered: { compute: 1e12 } }, 1)).toEqual([])
    expect(ratedRoofs(lines, noRoofs, 1)).toEqual([])
  })

  it('are those that the roofline draws', () => {
    const rates = roofsOf(lines, all).map(({ compute }) => compute!.rate / 1e12)
    expect(rates.sort((a, b) => a - b)).toEqual(ratedRoofs(lines, all, 1).map(({ value }) => value))
  })

  it('stand in every panel of rates that has such a kernel: a line on the axis, an arrow above it', () => {
    const series = drawn(all)
    const inside = series.filter(({ id }) => id.startsWith('roof ') && id.includes('bf16'))
    expect(inside.map(({ id }) => id)).toEqual(
      ['mxfp4', 'mxfp8', 'mixed', 'nvfp4'].map((format) => `roof ${format} bf16 roof 1,071`)
    )
    for (const { data } of inside)
      for (const [, value] of data as [number, number][]) expect(value).toBeCloseTo(1070.5, 1)
    const names = series
      .filter(({ id }) => id.startsWith('roof names'))
      .map(({ data }) =>
        (data as { label: { formatter: string } }[]).map((one) => one.label.formatter)
      )
    expect(names).toEqual(Array(4).fill(['bf16 roof 1,071', 'fp8 roof 2,141 ↑']))
    expect(drawn(all, 'time').filter(({ id }) => id.startsWith('roof'))).toEqual([])
  })

  it('are lines of the dot plot where its axis holds them', () => {
    const path = 'docs/results/h200-8192/run.json'
    const one = parseRun(readFileSync(path, 'utf8'), path)
    const roofs: Roofs = { ...roofsOfRun(one), entered: {} }
    const plot = dotPlot(linesOf(one.steps), 'tflops', roofs, undefined)
    expect(plot.roofs.map(({ name }) => name)).toEqual(['bf16 roof 1,071', 'fp8 roof 2,141'])
    expect(plot.ticks.at(-1)).toBeGreaterThanOrEqual(plot.roofs[1]!.value)
    const slow = one.steps.filter(({ kernel }) => kernel === 'triton')
    expect(dotPlot(linesOf(slow), 'tflops', roofs, undefined).roofs).toEqual([])
    expect(dotPlot(linesOf(one.steps), 'time', roofs, undefined).roofs).toEqual([])
  })
})

describe('the roofline', () => {
  const only = (kind: 'compute' | 'memory'): Roofs => ({
    ...noRoofs,
    entered: { [kind]: roofs.entered[kind] }
  })
  const roofData = (option: ReturnType<typeof rooflineOption>) =>
    (option.series[0] as { data: number[][] } | undefined)?.data ?? []

  it('bends where both limits meet and is flat after', () => {
    const option = rooflineOption(linesOf(sweepSteps()), roofs, light)
    const ridge = 1979e3 / 4800
    const [start, bend, end] = roofData(option)
    expect(start![1]).toBeCloseTo((4800 * start![0]!) / 1e3, 9)
    expect(bend![0]).toBeCloseTo(ridge, 9)
    expect(bend![1]).toBeCloseTo(1979, 9)
    expect(end![1]).toBe(1979)
    expect(option.xAxis.min).toBeLessThanOrEqual(ridge)
    expect(option.xAxis.max).toBeGreaterThanOrEqual(900)
  })

  it('draws what memory and L2 gave beside a rated roof, up to the highest roof they meet, and says where roofs bend', () => {
    const path = 'docs/results/h200-k-sweep/run.json'
    const run = parseRun(readFileSync(path, 'utf8'), path)
    const lines = linesOf(run.steps)
    const option = rooflineOption(lines, { ...roofsOfRun(run), entered: {} }, light)
    const level = (of: string) => run.roofs!.find((one) => one.kind === 'memory' && one.of === of)!
    const drawn = option.series.filter(({ id }) => id.startsWith('measured '))
    expect(drawn).toHaveLength(2)
    const tops = option.series
      .filter(({ id }) => id.startsWith('roof '))
      .map(({ data }) => (data as number[][]).at(-1)![1]!)
    for (const [at, of] of ['dram', 'l2'].entries()) {
      const [from, to] = drawn[at]!.data as [number, number][]
      expect(from![1] / from![0]).toBeCloseTo(level(of).rate / 1e12, 6)
      expect(to![1]).toBeCloseTo(Math.max(...tops), 6)
    }
    const said = option.series.map(({ id }) => id)
    expect(said).toContain('label L2 7.98 TB/s, measured')
    expect(said).toContain('label ridge 222 FLOP/B')
    const entered = rooflineOption(lines, { ...roofsOfRun(run), entered: roofs.entered }, light)
    expect(entered.series.filter(({ id }) => id.startsWith('measured '))).toEqual([])
  })

  it('draws what the device does without tensor cores, thinner, and no roof of it for points that have it themselves', () => {
    const path = 'docs/results/h200-k-sweep/run.json'
    const run = parseRun(readFileSync(path, 'utf8'), path)
    const option = rooflineOption(linesOf(run.steps), { ...roofsOfRun(run), entered: {} }, light)
    const plain = option.series.find(({ id }) => id.startsWith('roof fp32'))!
    // 132 SMs of 256 FLOP a clock at 1980 MHz.
    expect((plain.data as number[][]).at(-1)![1]).toBeCloseTo((132 * 256 * 1.98e9) / 1e12, 6)
    expect((plain as { lineStyle: { width: number } }).lineStyle.width).toBeLessThan(1)
    expect(option.yAxis.min).toBeLessThan(66)
    const plainSteps = run.steps.map((step) => ({ ...step, instruction: 'fp32' as const }))
    const own = rooflineOption(linesOf(plainSteps), { ...roofsOfRun(run), entered: {} }, light)
    expect(own.series.some(({ id }) => id.includes('no tensor core'))).toBe(false)
  })

  it('measures one point up to its roof: the fastest that is no reference, or the one that is pointed at', () => {
    const path = 'docs/results/h200-8192/run.json'
    const run = parseRun(readFileSync(path, 'utf8'), path)
    const all: Roofs = { ...roofsOfRun(run), entered: {} }
    const lines = linesOf(run.steps)
    const dropIn = (option: ReturnType<typeof rooflineOption>) => ({
      data: option.series.find(({ id }) => id === 'drop')?.data as number[][] | undefined,
      said: option.series.map(({ id }) => id).filter((id) => / of the .* roof/.test(id))
    })
    const fastest = run.steps
      .filter(({ baseline, measurement }) => !baseline && measurement)
      .sort((a, b) => b.measurement!.tflops - a.measurement!.tflops)[0]!
    const usual = dropIn(rooflineOption(lines, all, light))
    expect(usual.data![0]![1]).toBeCloseTo(fastest.measurement!.tflops, 9)
    expect(usual.said).toEqual([
      `label 82 % of the fp8 roof at ${count(Math.round(fastest.measurement!.meanMHz))} MHz`
    ])
    const triton = run.steps.find(
      ({ kernel, format }) => kernel === 'triton' && format === 'mxfp4'
    )!
    const size = { width: 1000, height: 460 }
    const asked = dropIn(rooflineOption(lines, all, light, size, triton))
    expect(asked.data![0]![1]).toBeCloseTo(triton.measurement!.tflops, 9)
    expect(asked.said).toEqual(['label 22 % of the bf16 roof'])
    expect(triton.measurement!.tflops / asked.data![1]![1]!).toBeCloseTo(0.216, 2)
    expect(dropIn(rooflineOption(lines, noRoofs, light))).toEqual({ data: undefined, said: [] })
  })

  it('is flat, rising or absent when a limit is not known', () => {
    const lines = linesOf(sweepSteps())
    const flat = roofData(rooflineOption(lines, only('compute'), light))
    expect(flat.map((point) => point[1])).toEqual([1979, 1979])
    const [low, high] = roofData(rooflineOption(lines, only('memory'), light))
    expect(high![1]! / high![0]!).toBeCloseTo(low![1]! / low![0]!, 9)
    const ids = rooflineOption(lines, noRoofs, light).series.map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('roof'))).toEqual([])
  })

  it('names its dots, so that a saved picture has a legend', () => {
    const option = rooflineOption(linesOf([at(512, 5)], [at(512, 6)]), roofs, dark)
    expect(option.series.filter(({ id }) => !/^(roof|label) /.test(id))).toMatchObject([
      {
        name: 'mma_sync nvfp4',
        type: 'scatter',
        itemStyle: { color: expect.any(String) as string }
      },
      { name: 'mma_sync nvfp4 (before)' }
    ])
  })

  it('draws one point, none, and no point that has no logarithm', () => {
    const one = rooflineOption(linesOf([at(512, 2e9)]), noRoofs, light)
    const [[x, y]] = one.series[0]!.data as [[number, number]]
    expect(x).toBeCloseTo(900, 9)
    expect(y).toBeCloseTo(1, 9)
    expect(rooflineOption([], noRoofs, light).xAxis).toMatchObject({ min: 1, max: 1024 })
    const wrong = makeStep(0, 'nvfp4', 'mma_sync', {
      measurement: makeMeasurement(5, 2e12, { tflops: NaN, bytes: 0 })
    })
    const gaps = rooflineOption(linesOf([wrong]), noRoofs, light)
    expect(gaps.series[0]!.data).toEqual([[null, null]])
    expect(gaps.xAxis).toMatchObject({ min: 1, max: 1024 })
  })

  it('tells the share of the limit that binds', () => {
    const lines = linesOf([at(512, 2e9)])
    const tip = rooflineOption(lines, roofs, light).tooltip.formatter
    expect(tip({ seriesId: lines[0]!.id, dataIndex: 0 }).split('\n')).toEqual([
      'mma_sync nvfp4, K = 512',
      '1.00 TFLOP/s',
      '900 FLOP/B',
      '0.1 % of the compute limit',
      'entered'
    ])
    expect(tip({ seriesId: 'roof', dataIndex: 0 })).toBe('')
  })
})
