/** A chart that leaves the app as a picture carries its own legend. */
import { describe, expect, it } from 'vitest'
import { chartSvg, withLegend } from '../../../../src-renderer/charts/exportChart'
import { kSweepOption } from '@shared/charts/kSweep'
import { noRoofs } from '@shared/charts/limits'
import { rooflineOption } from '@shared/charts/roofline'
import { sweepLines } from '@shared/charts/sweepSeries'
import { makeRun, sweepSpec, sweepSteps } from '../support/samples'
import { themesFromTokens } from '../validate/themes'

const { light } = themesFromTokens()
const named = (...names: string[]) => ({
  grid: { left: 64, top: 34 },
  series: names.map((name) => ({ name }))
})
type Shown = { legend?: { data: string[] }; grid: { left: number; top: number } }
const shown = (option: Record<string, unknown>, width?: number) =>
  withLegend(option, width) as unknown as Shown

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

  it('leaves a chart without lines as it is', () => {
    expect(withLegend(named())).toEqual(named())
    expect(withLegend({})).toEqual({})
  })
})

describe('an SVG', () => {
  const run = makeRun('r', { kind: 'sweep', spec: sweepSpec, steps: sweepSteps() })
  const lines = sweepLines([
    { run, title: 'new', overlay: false },
    { run: { ...run, id: 'r0' }, title: 'before', overlay: true }
  ])
  const roofs = { ...noRoofs, entered: { compute: 1979e12, memory: 4800e9 } }
  const choices = { metric: 'tflops' as const, logX: true, logY: false, roofs }

  it.each([
    ['over K', kSweepOption(lines, choices, light)],
    ['roofline', rooflineOption(lines, roofs, light)]
  ])('%s has its lines, axes and legend as text', (_name, option) => {
    const svg = chartSvg(option)
    for (const { kernel, format } of lines) {
      expect(svg).toContain(`>${kernel} ${format}<`)
      expect(svg).toContain(`>${kernel} ${format} (before)<`)
    }
    expect(svg).toContain('Throughput')
    expect(svg).toContain(lines[0]!.mark.colour.light)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('without a single point is still a picture', () => {
    const svg = chartSvg(kSweepOption([], choices, light))
    expect(svg.startsWith('<svg')).toBe(true)
    expect(svg).not.toMatch(/NaN|undefined/)
  })
})
