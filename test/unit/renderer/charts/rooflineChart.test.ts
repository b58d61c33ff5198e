/** The roofline as a pure option: runs in, what is drawn out. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noRoofs, type Roofs } from '@shared/charts/limits'
import { rooflineOption } from '@shared/charts/roofline'
import { roofChoices } from '@shared/charts/rooflinePlot'
import { sweepLines } from '@shared/charts/sweepSeries'
import { parseRun } from '@shared/contract/parseRun'
import type { Run, Step } from '@shared/contract/run'
import { roofsOfRun } from '@shared/measurement/roofs'
import { count } from '@shared/units'
import { gpu, makeMeasurement, makeRun, makeStep, sweepSpec, sweepSteps } from '../support/samples'
import { themesFromTokens } from '../validate/themes'

const { light, dark } = themesFromTokens()
const roofs: Roofs = { ...noRoofs, entered: { compute: 1979e12, memory: 4800e9 } }

const linesOf = (steps: Step[], overlaid?: Step[]) => {
  const runOf = (id: string, of: Step[]) =>
    makeRun(id, { kind: 'sweep', spec: sweepSpec, device: gpu, steps: of })
  return sweepLines([
    { run: runOf('run-1', steps), title: 'new', overlay: false },
    ...(overlaid ? [{ run: runOf('run-0', overlaid), title: 'before', overlay: true }] : [])
  ])
}
const at = (k: number, medianNs: number): Step =>
  makeStep(k, 'nvfp4', 'mma_sync', { k, measurement: makeMeasurement(medianNs, 2e12) })

const memoryRoof = (run: Run, of: string) =>
  run.roofs!.find((one) => one.kind === 'memory' && one.of === of)!
const measured = (run: Run, of: string) =>
  `${(memoryRoof(run, of).rate / 1e12).toPrecision(3)} TB/s, measured`

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
    const drawn = option.series.filter(({ id }) => id.startsWith('measured '))
    expect(drawn).toHaveLength(2)
    const tops = option.series
      .filter(({ id }) => id.startsWith('roof '))
      .map(({ data }) => (data as number[][]).at(-1)![1]!)
    for (const [at, of] of ['dram', 'l2'].entries()) {
      const [from, to] = drawn[at]!.data as [number, number][]
      expect(from![1] / from![0]).toBeCloseTo(memoryRoof(run, of).rate / 1e12, 6)
      expect(to![1]).toBeCloseTo(Math.max(...tops), 6)
    }
    const said = option.series.map(({ id }) => id)
    expect(said).toContain(`label L2 ${measured(run, 'l2')}`)
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

  it('leaves out the roofs that a person takes away, and closes its axes up to what is left', () => {
    const path = 'docs/results/h200-k-sweep/run.json'
    const run = parseRun(readFileSync(path, 'utf8'), path)
    const lines = linesOf(run.steps)
    const all: Roofs = { ...roofsOfRun(run), entered: {} }
    const choices = roofChoices(lines, all)
    expect(choices.map(({ name }) => name)).toEqual([
      'bf16 1,071 TFLOP/s',
      'fp8 2,141 TFLOP/s',
      'fp32 66.9 TFLOP/s, no tensor core',
      `memory ${measured(run, 'dram')}`,
      `L2 ${measured(run, 'l2')}`
    ])
    const drawn = (hidden: string[]) => {
      const size = { width: 1000, height: 460 }
      const option = rooflineOption(lines, all, light, size, undefined, new Set(hidden))
      const ids = option.series.map(({ id }) => id)
      return { option, roofs: ids.filter((id) => /^(roof|measured) /.test(id)) }
    }
    const idOf = (part: string) => choices.find(({ name }) => name.includes(part))!.id
    for (const { id, name } of choices) {
      const { roofs: left } = drawn([id])
      expect(left).toHaveLength(choices.length - 1)
      expect(left.join()).not.toContain(name)
    }
    expect(drawn([]).option.yAxis.min).toBe(64)
    expect(drawn([idOf('no tensor core')]).option.yAxis.min).toBe(128)
    expect(drawn(choices.map(({ id }) => id)).roofs).toEqual([])
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
