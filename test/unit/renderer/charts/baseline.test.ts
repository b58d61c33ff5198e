/** Speed-ups over a baseline, and the dot plot of one K: what the saved H200 run says, a person can see. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noRoofs } from '@shared/charts/limits'
import * as v from 'valibot'
import { runSchema } from '../../../../src-shared/contract/run'
import {
  baselineChoices,
  bestRatios,
  otherBaseline,
  ratioTo,
  usualBaseline
} from '@shared/charts/baseline'
import { dotPlot, hasOnePlace } from '@shared/charts/dotPlot'
import { familyOf } from '@shared/measurement/marks'
import { ticksTo } from '@shared/charts/ticks'
import { standingOut } from '@shared/charts/facets'
import { sweepLines } from '@shared/charts/sweepSeries'

const run = v.parse(
  runSchema,
  JSON.parse(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'))
)
const lines = sweepLines([{ run, title: 'H200', overlay: false }])
const lineOf = (kernel: string, format: string) =>
  lines.find((line) => line.kernel === kernel && line.format === format)!

describe('a baseline', () => {
  it("is Triton's best unless an earlier run is laid over; nothing where neither is", () => {
    const choices = baselineChoices(lines)
    expect(usualBaseline(choices)).toBe('best triton')
    const overlaid = sweepLines([
      { run, title: 'H200', overlay: false },
      { run: { ...run, id: 'before' }, title: 'before', overlay: true }
    ])
    expect(usualBaseline(baselineChoices(overlaid))).toBe('run before')
    expect(
      usualBaseline(baselineChoices(lines.filter(({ provider }) => provider !== 'Triton')))
    ).toBe('')
  })

  it('gives the ratios that the table of the run gives', () => {
    const ratioOf = ratioTo('best triton', lines)
    const of = (kernel: string, format: string) => {
      const line = lineOf(kernel, format)
      return ratioOf(line, line.points[0]!.step)
    }
    expect(of('wgmma-fp8-p256', 'mxfp4')).toBeCloseTo(3.57, 2)
    expect(of('triton-fast-math', 'mxfp4')).toBe(1)
    expect(of('triton', 'mxfp4')).toBeLessThan(1)
    // Triton does not compile nvfp4.
    expect(of('wgmma', 'nvfp4')).toBeUndefined()
    expect(bestRatios(lines, ratioOf).map(({ format }) => format)).toEqual([
      'mxfp4',
      'mxfp8',
      'mixed'
    ])
  })

  it('is another kernel where the chosen one was not measured: a reference, else what there is', () => {
    const choices = baselineChoices(lines)
    const nvfp4 = lines.filter(({ format }) => format === 'nvfp4')
    expect(otherBaseline(choices, nvfp4)?.id).toMatch(/^kernel cublaslt-/)
    const judged = nvfp4.filter(({ mark }) => !mark.hollow)
    expect(otherBaseline(choices, judged)?.id).toBe('kernel wgmma')
    expect(otherBaseline(choices, [])).toBeUndefined()
  })

  it('that is an earlier run compares each kernel with itself', () => {
    const slower = {
      ...run,
      id: 'before',
      steps: run.steps.map((step) => ({
        ...step,
        measurement: step.measurement && {
          ...step.measurement,
          tflops: step.measurement.tflops / 2
        }
      }))
    }
    const both = sweepLines([
      { run, title: 'now', overlay: false },
      { run: slower, title: 'before', overlay: true }
    ])
    const ratioOf = ratioTo('run before', both)
    for (const line of both.filter(({ overlay }) => !overlay)) {
      expect(ratioOf(line, line.points[0]!.step)).toBeCloseTo(2, 9)
    }
    expect(ratioTo('', lines)(lines[0]!, lines[0]!.points[0]!.step)).toBeUndefined()
  })
})

describe('the dot plot', () => {
  const plot = dotPlot(lines, 'tflops', noRoofs, ratioTo('best triton', lines))

  it('is for sweeps with one K, and has a row for every point', () => {
    expect(hasOnePlace(lines)).toBe(true)
    const other = { ...lines[0]!, points: [{ ...lines[0]!.points[0]!, at: 1 }] }
    expect(hasOnePlace([...lines, other])).toBe(false)
    expect(plot.groups.flatMap(({ rows }) => rows)).toHaveLength(
      run.steps.filter(({ measurement }) => measurement).length
    )
  })

  it('sorts each format by rate, references last', () => {
    for (const { rows } of plot.groups) {
      const own = rows.filter(({ line }) => !line.mark.hollow)
      expect(rows.slice(0, own.length)).toEqual(own)
      const rates = own.map(({ figure }) => figure.value)
      expect(rates).toEqual([...rates].sort((a, b) => b - a))
    }
    expect(plot.groups[0]!.rows.map(({ line }) => line.kernel).slice(0, 2)).toEqual([
      'wgmma-fp8-p256',
      'wgmma-fp8-p128'
    ])
    const byTime = dotPlot(lines, 'time', noRoofs, undefined).groups[0]!.rows[0]!
    expect(byTime.line.kernel).toBe('wgmma-fp8-p256')
  })

  it('has round ticks that hold every quartile', () => {
    expect(plot.unit).toBe('TFLOP/s')
    expect(plot.ticks.at(-1)).toBeGreaterThanOrEqual(1317)
    for (const most of [0.031, 1, 7, 918, 1317, 2e5]) {
      const ticks = ticksTo(most)
      expect(ticks[0]).toBe(0)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
      expect(ticks.length).toBeGreaterThan(3)
      expect(ticks.length).toBeLessThanOrEqual(10)
    }
    expect(ticksTo(0)).toEqual([0, 1])
  })
})

describe('names at the ends of lines', () => {
  it('of a crowded panel are those of the best of each provider', () => {
    const crowd = lines.filter(({ format }) => format === 'mxfp4')
    const out = standingOut(
      crowd,
      ({ step }) => step.measurement!.tflops,
      ({ provider }) => provider
    )
    const names = crowd.filter(({ id }) => out.has(id)).map(({ kernel }) => kernel)
    expect(names.sort()).toEqual(['cublaslt-fp8', 'triton-fast-math', 'wgmma-fp8-p256'])
    expect(
      standingOut(
        crowd.slice(0, 3),
        () => 1,
        () => 'one'
      ).size
    ).toBe(3)
  })

  it('are those of kernels that lead elsewhere on the axis too, while there is room', () => {
    const decode = v.parse(
      runSchema,
      JSON.parse(readFileSync('docs/results/h100-decode-list/run.json', 'utf8'))
    )
    const all = sweepLines([{ run: decode, title: 'H100', overlay: false }])
    const namesOf = (shown: typeof all) => {
      const out = standingOut(shown, ({ step }) => step.measurement!.tflops, familyOf)
      return shown.filter(({ id }) => out.has(id)).map(({ kernel }) => kernel)
    }
    const some = all.filter(
      ({ format, variant }) => format === 'mxfp4' && ['8192x8192', '2880x2880'].includes(variant)
    )
    expect(some).toHaveLength(8)
    const [end, fewest, peer] = ['decode-fp8', 'decode-mma', 'cublaslt-bf16']
    // It leads by more than 5 % up to 8 rows, at 2880 x 2880 and at 8192 x 8192.
    expect(namesOf(some).sort()).toEqual([peer, peer, end, end, fewest, fewest])
    // In nvfp4 decode-fp8 has one row alone, the fastest: with few shapes it is named beside what leads at the end, with many it is not.
    const list = v.parse(
      runSchema,
      JSON.parse(readFileSync('docs/results/h200-decode-list/run.json', 'utf8'))
    )
    const ofList = sweepLines([{ run: list, title: 'H200', overlay: false }]).filter(
      ({ format }) => format === 'nvfp4'
    )
    // The list is made again with other kernels, so which shape that is best seen in is asked of it.
    const oneRow = (line: (typeof ofList)[number]) => line.points[0]!.step.measurement!.tflops!
    const leadAt = (shape: string) => {
      const [own, next] = [true, false].map((isOwn) =>
        Math.max(
          ...ofList
            .filter(({ variant, kernel }) => variant === shape && (kernel === end) === isOwn)
            .map(oneRow)
        )
      )
      return own! / next!
    }
    const shapes = ofList.flatMap(({ kernel, variant }) => (kernel === end ? [variant] : []))
    const best = shapes.sort((one, other) => leadAt(other) - leadAt(one))[0]
    const ended = ofList.filter(({ variant }) => variant === best)
    const others = ofList.filter(({ variant }) => variant === '2880x2880')
    expect(ended.find(({ kernel }) => kernel === end)!.points).toHaveLength(1)
    expect(namesOf([...ended, ...others])).toEqual(expect.arrayContaining([end, 'decode']))
    expect(namesOf(ofList).sort()).toEqual([...Array(7).fill(peer), ...Array(7).fill('decode')])
    const many = all.filter(({ format }) => format === 'nvfp4')
    expect(many).toHaveLength(21)
    expect(namesOf(many).sort()).toEqual([...Array(7).fill(peer), ...Array(7).fill('decode')])
  })
})
