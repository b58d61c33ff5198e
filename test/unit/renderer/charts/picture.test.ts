/** A chart that leaves the app as a picture carries its own legend, and says what it is of. */
import { describe, expect, it } from 'vitest'
import { drawSvg } from '@shared/charts/drawSvg'
import { dotPlot } from '@shared/charts/dotPlot'
import { dotPlotHeight, dotPlotOption } from '@shared/charts/dotPlotOption'
import {
  heatMap,
  heatMapHeight,
  heatMapOption,
  hasTwoDimensions,
  inkOn
} from '@shared/charts/heatMap'
import { laidOutSweep, sweepChartOption } from '@shared/charts/sweepChart'
import { noRoofs } from '@shared/charts/limits'
import { paperTheme, paperTokens } from '@shared/charts/paperTheme'
import { darkTokens } from '@shared/report/reportDark'
import { asPicture, captionOf, wrapped } from '@shared/charts/picture'
import { rooflineOption } from '@shared/charts/roofline'
import { roofShares } from '@shared/charts/roofShares'
import { sweepLines } from '@shared/charts/sweepSeries'
import { readFileSync } from 'node:fs'
import { gpu, makeMeasurement, makeRun, makeStep, sweepSpec, sweepSteps } from '../support/samples'
import { contrast } from '../support/colourVision'
import { themesFromTokens } from '../validate/themes'

const size = { width: 1000, height: 400 }
const named = (...names: string[]) => ({
  grid: { left: 64, top: 34 },
  series: names.map((name) => ({ name }))
})
type Shown = { legend?: { data: string[] }; grid: { left: number; top: number } }
const shown = (option: Record<string, unknown>, width = size.width) =>
  asPicture(option, { ...size, width }).option as unknown as Shown

describe('the legend of a picture', () => {
  it('names every line once, in order, and not what has no name', () => {
    const { legend, grid } = shown({
      ...named('a', 'b', 'a'),
      series: [{ name: 'a' }, {}, { name: 'b' }, { name: 'a' }]
    })
    expect(legend!.data).toEqual(['a', 'b'])
    expect(grid.left).toBe(64)
    expect(grid.top).toBeGreaterThan(34)
  })

  it('makes room for as many rows as the names take', () => {
    const names = Array.from({ length: 24 }, (_, index) => `kernel_${index} mxfp8_e4m3_e5m2`)
    const one = shown(named(names[0]!)).grid.top
    const wide = shown(named(...names), 2000).grid.top
    const narrow = shown(named(...names), 600).grid.top
    expect(wide).toBeGreaterThan(one)
    expect(narrow).toBeGreaterThan(wide)
  })
})

describe('the light look on paper', () => {
  it('is what tokens.css says', () => {
    expect(paperTheme).toEqual(themesFromTokens().light)
    const css = readFileSync('src-renderer/design/tokens.css', 'utf8')
    const light = css.slice(css.indexOf("[data-theme='light']"))
    for (const [name, value] of Object.entries(paperTokens)) {
      const block = name.startsWith('--font') ? css : light
      expect(new RegExp(`${name}: ([^;]+);`).exec(block)?.[1], name).toBe(value)
    }
  })

  it('is shown dark by what tokens.css says of the dark look', () => {
    const css = readFileSync('src-renderer/design/tokens.css', 'utf8')
    const dark = css.slice(css.indexOf("[data-theme='dark']"))
    for (const [name, value] of Object.entries(darkTokens))
      expect(new RegExp(`${name}: ([^;]+);`).exec(dark)?.[1], name).toBe(value)
  })
})

const run = makeRun('r', {
  kind: 'sweep',
  spec: sweepSpec,
  device: gpu,
  steps: sweepSteps(),
  command: 'blockscope sweep --formats mxfp4,nvfp4 --K-range 512 8192'
})
const lines = sweepLines([
  { run, title: 'new', overlay: false },
  { run: { ...run, id: 'r0' }, title: 'before', overlay: true }
])
const roofs = { ...noRoofs, entered: { compute: 1979e12, memory: 4800e9 } }
const choices = { metric: 'tflops' as const, logX: true, logY: false, roofs }

describe('an SVG', () => {
  it.each([
    [
      'over K',
      sweepChartOption(lines, choices, paperTheme),
      laidOutSweep(lines, choices).facets.height
    ],
    ['roofline', rooflineOption(lines, roofs, paperTheme), 480]
  ])('%s has its lines, axes, legend, title, device, date and command', (_name, option, height) => {
    const picture = asPicture(
      option,
      { width: 1000, height },
      { caption: captionOf(run, 'Throughput') }
    )
    expect(picture.size.height).toBeGreaterThan(height)
    const svg = drawSvg(picture.option, picture.size)
    for (const { kernel, format } of lines) {
      expect(svg).toContain(`>${kernel} ${format}<`)
      expect(svg).toContain(`>${kernel} ${format} (before)<`)
    }
    expect(svg).toContain('>Throughput: Sweep')
    expect(svg).toContain('NVIDIA H200 (sm_90)')
    expect(svg).toContain(run.createdAt.slice(0, 10))
    expect(svg).toContain('$ blockscope sweep --formats mxfp4,nvfp4 --K-range 512 8192')
    expect(svg).toContain(lines[0]!.mark.colour.light)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('without a single point is still a picture', () => {
    const svg = drawSvg(sweepChartOption([], choices, paperTheme), size)
    expect(svg.startsWith('<svg')).toBe(true)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('of one K has names, medians and ratios in their columns', () => {
    const one = lines.map((line) => ({ ...line, points: line.points.slice(0, 1) }))
    const plot = dotPlot(one, 'tflops', roofs, () => 2.5)
    const svg = drawSvg(dotPlotOption(plot, 'tflops', paperTheme, 'Triton'), {
      width: 1000,
      height: dotPlotHeight(plot)
    })
    for (const { kernel } of one) expect(svg).toContain(`>${kernel}<`)
    expect(svg).toContain('>× Triton<')
    expect(svg).toContain('>2.50 ×<')
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('keeps a long command in whole words, line by line as a shell takes them', () => {
    const command = `blockscope sweep ${'--kernels wgmma-fp8-p256 '.repeat(20).trim()}`
    const broken = wrapped(command, 80)
    expect(broken.length).toBeGreaterThan(4)
    expect(Math.max(...broken.map(({ length }) => length))).toBeLessThanOrEqual(80)
    expect(
      broken
        .map((line) => line.replace(/ \\$/, '').trim())
        .join(' ')
        .replace('$ ', '')
    ).toBe(command)
  })
})

describe('the heat map', () => {
  const stepAt = (m: number, k: number, kernel: string, ns: number) =>
    makeStep(m * 1000 + k, 'nvfp4', kernel, { m, k, measurement: makeMeasurement(ns, 2e12) })
  const mapOf = (...steps: ReturnType<typeof stepAt>[]) =>
    heatMap(sweepLines([{ run: { ...run, steps }, title: '', overlay: false }]), 'tflops', noRoofs)

  it('has the kernels over K, and M beside the kernel where both vary', () => {
    const kernels = heatMap(lines, 'tflops', noRoofs)
    expect(kernels.dimension).toBe('K')
    expect(kernels.columns).toEqual([
      ...new Set(lines.flatMap(({ points }) => points.map(({ at }) => at)))
    ])
    const map = mapOf(
      stepAt(1, 512, 'a', 1e6),
      stepAt(1, 1024, 'a', 2e6),
      stepAt(16, 512, 'a', 3e6),
      stepAt(16, 1024, 'a', 4e6),
      stepAt(1, 512, 'b', 5e6)
    )
    expect(map.rows).toEqual(['a nvfp4, M = 1', 'a nvfp4, M = 16', 'b nvfp4, M = 1'])
    expect(map.cells.map(({ row, column }) => [row, column])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0]
    ])
    expect(hasTwoDimensions(map)).toBe(true)
  })

  it('has M over N in the columns where K is one', () => {
    const map = mapOf(...[1, 2, 4].map((m) => stepAt(m, 512, 'a', m * 1e6)))
    expect([map.dimension, map.columns, map.rows]).toEqual(['M', [1, 2, 4], ['a nvfp4']])
    expect(hasTwoDimensions(map)).toBe(false)
    const one = mapOf(...[4, 1].flatMap((m) => [512, 1024].map((k) => stepAt(m, k, 'a', m * k))))
    expect([one.rows, hasTwoDimensions(one)]).toEqual([['M = 1', 'M = 4'], true])
  })

  it('has no holes for a list of shapes, whose layers are its rows', () => {
    const row = (name: string, m: number, n: number, k: number) => ({
      ...{ name, m, n, k, groups: 1, weight: 1, tokens: m }
    })
    const rows = [1, 16].flatMap((m) => [
      row('qkv', m, 5120, 2880),
      row('o', m, 2880, 4096),
      row('up', m, 7168, 2048)
    ])
    const steps = rows.map(({ m, n, k }, index) =>
      makeStep(index, 'nvfp4', 'a', { m, n, k, measurement: makeMeasurement(5, 2e12) })
    )
    const shapes = { source: 'model', rows }
    const listed = { ...run, spec: { ...sweepSpec, kValues: [], shapes } as typeof run.spec, steps }
    const map = heatMap(
      sweepLines([{ run: listed, title: '', overlay: false }]),
      'bandwidth',
      noRoofs
    )
    expect([map.dimension, map.columns]).toEqual(['M', [1, 16]])
    expect(map.rows).toEqual(['up', 'qkv', 'o'])
    expect(map.cells.length).toBe(map.rows.length * map.columns.length)
    expect(map.unit).toMatch(/B\/s$/)
  })

  it('leaves the columns their room in a narrow window, and keeps both ends of the names of rows', () => {
    const map = mapOf(
      stepAt(1, 512, 'cublaslt-block-scaled', 1e6),
      stepAt(16, 1024, 'cublaslt-block-scaled', 2e6),
      stepAt(1, 512, 'a', 1e6)
    )
    const [wide, narrow] = [900, 300].map((width) =>
      heatMapOption(map, 'tflops', paperTheme, width)
    )
    expect(narrow!.grid.left).toBeLessThan(300 / 2)
    const long = 'cublaslt-block-scaled nvfp4, M = 16'
    expect(map.rows).toContain(long)
    expect(narrow!.yAxis.axisLabel.formatter(long)).toMatch(/^cublas.*….*M = 16$/)
    expect(wide!.yAxis.axisLabel.formatter(long)).toBe(long)
    const lines = narrow!.xAxis.name.split('\n')
    expect([lines.length, lines[0]]).toEqual([3, 'K'])
    expect(wide!.xAxis.name).toContain('K; colour: ')
    expect(heatMapHeight(map, 300) - heatMapHeight(map, 900)).toBe(22)
  })

  it('writes its numbers in ink that is read on every fill', () => {
    for (const fill of [...paperTheme.heat, ...themesFromTokens().dark.heat])
      expect(contrast(fill, inkOn(fill)), fill).toBeGreaterThanOrEqual(4.5)
    const option = heatMapOption(heatMap(lines, 'tflops', noRoofs), 'tflops', paperTheme, 1000)
    expect(drawSvg(option, size)).not.toMatch(/NaN|undefined/)
  })
})

describe('shares of the roofs', () => {
  it('stand under the roof that binds, the best first, references last', () => {
    const step = (kernel: string, ns: number, baseline: boolean) =>
      makeStep(ns, 'nvfp4', kernel, {
        baseline,
        instruction: 'fp8',
        measurement: makeMeasurement(ns, 2e12, { meanMHz: 0 })
      })
    const found = roofShares(
      sweepLines([
        {
          run: {
            ...run,
            steps: [step('slow', 4e9, false), step('fast', 2e9, false), step('ref', 1e9, true)]
          },
          title: '',
          overlay: false
        }
      ]),
      { ...noRoofs, device: gpu }
    )
    expect(found.map(({ rows }) => rows.map(({ line }) => line.kernel))).toEqual([
      ['fast', 'slow', 'ref']
    ])
    expect(found[0]!.title).toMatch(/^fp8, [\d,]+ TFLOP\/s$/)
  })

  it('a hot point is ringed and joined to its cold twin', () => {
    const at = (mode: string, ns: number) =>
      makeStep(0, 'nvfp4', 'a', { measurement: makeMeasurement(ns, 2e12, { cacheMode: mode }) })
    const both = sweepLines([
      { run: { ...run, steps: [at('cold', 2e9)] }, title: 'cold', overlay: false },
      { run: { ...run, id: 'hot', steps: [at('hot', 1e9)] }, title: 'hot', overlay: true }
    ])
    const ids = rooflineOption(both, noRoofs, paperTheme).series.map(({ id }) => id)
    expect(ids.filter((id) => id.endsWith(' hot'))).toHaveLength(2)
    expect(ids.some((id) => id.endsWith('cold to hot'))).toBe(true)
  })
})
