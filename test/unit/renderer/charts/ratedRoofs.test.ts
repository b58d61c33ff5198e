/** The rates of a device's instructions as lines in charts of rates, on runs of an H200. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dotPlot } from '@shared/charts/dotPlot'
import { noRoofs, type Roofs } from '@shared/charts/limits'
import { ratedRoofs } from '@shared/charts/ratedRoofs'
import { roofsOf } from '@shared/charts/rooflinePlot'
import { sweepChartOption } from '@shared/charts/sweepChart'
import { sweepLines } from '@shared/charts/sweepSeries'
import { parseRun } from '@shared/contract/parseRun'
import type { Run } from '@shared/contract/run'
import { roofsOfRun } from '@shared/measurement/roofs'
import { themesFromTokens } from '../validate/themes'

const { light } = themesFromTokens()
const linesOf = (run: Run) => sweepLines([{ run, title: '', overlay: false }])

describe('rated roofs', () => {
  const path = 'docs/results/h200-k-sweep/run.json'
  const run = parseRun(readFileSync(path, 'utf8'), path)
  const all: Roofs = { ...roofsOfRun(run), entered: {} }
  const lines = linesOf(run)
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
    const plot = dotPlot(linesOf(one), 'tflops', roofs, undefined)
    expect(plot.roofs.map(({ name }) => name)).toEqual(['bf16 roof 1,071', 'fp8 roof 2,141'])
    expect(plot.ticks.at(-1)).toBeGreaterThanOrEqual(plot.roofs[1]!.value)
    const slow = one.steps.filter(({ kernel }) => kernel === 'triton')
    expect(dotPlot(linesOf({ ...one, steps: slow }), 'tflops', roofs, undefined).roofs).toEqual([])
    expect(dotPlot(linesOf(one), 'time', roofs, undefined).roofs).toEqual([])
  })
})
