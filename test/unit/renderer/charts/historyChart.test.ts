/** The history of a point as a pure option. */
import { describe, expect, it } from 'vitest'
import { historyOption } from '@shared/charts/history'
import { paperTheme } from '@shared/charts/paperTheme'
import type { HistoryEntry } from '@shared/contract/history'
import { formatSymbol, kernelColours, kernelKey } from '@shared/measurement/marks'

const entry = (day: number, median: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  ...{ runId: `run-${day}`, title: 'Sweep', provider: 'cuda', sourceHash: 'abcdef0123' },
  ...{ createdAt: `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`, driver: '580.95' },
  ...{ median, q1: median - 1, q3: median + 1, least: median - 5, most: median + 5 },
  ...{ samples: 40, meanMHz: 1800, badges: [], change: 0, verdict: 'same' as const, ...more }
})
const entries = [
  entry(2, 741, { verdict: 'first' }),
  entry(4, 742),
  entry(10, 846, { verdict: 'faster', change: 0.14, driver: '580.159' }),
  entry(13, 831, { verdict: 'noisy', driver: '580.159' }),
  entry(17, 806, { verdict: 'slower', change: -0.047, driver: '580.159' })
]
const kernel = { kernel: 'wgmma', provider: 'cuda' }
const mark = {
  colour: kernelColours([kernel]).get(kernelKey(kernel))!,
  ...formatSymbol('mxfp4'),
  hollow: false
}
interface Drawn {
  id: string
  data: unknown[]
  renderItem: (params: object, api: object) => { children: { type: string; style: object }[] }
}
const drawn = (baselineId: string, by: 'run' | 'date') => {
  const option = historyOption(entries, mark, paperTheme, { baselineId, by })
  const of = (id: string) => (option.series as unknown as Drawn[]).find((one) => one.id === id)
  return { option, of }
}
const coordSys = { x: 50, y: 40, width: 800, height: 300 }
const pillsIn = ({ of }: ReturnType<typeof drawn>, step: number) =>
  of('changes')!.data.map((_, dataIndex) => {
    const api = { coord: ([x, y]: [number, number]) => [step * x, y] }
    const { children } = of('changes')!.renderItem({ dataIndex, coordSys }, api)
    return (children.find(({ type }) => type === 'text')!.style as { text: string }).text
  })

describe('the history of a point', () => {
  it('has one step a run, or each where it stands in time', () => {
    const byRun = drawn('', 'run')
    expect(byRun.option.xAxis).toMatchObject({ type: 'category' })
    expect(byRun.of('medians')!.data[2]).toMatchObject({ value: [2, 846] })
    const byDate = drawn('', 'date')
    expect(byDate.option.xAxis).toMatchObject({ type: 'time' })
    const [first, second, third] = byDate.of('medians')!.data as { value: [number, number] }[]
    expect((third!.value[0] - second!.value[0]) / (second!.value[0] - first!.value[0])).toBe(3)
  })

  it('says changes between their runs, by their signs alone where they crowd', () => {
    expect(pillsIn(drawn('', 'run'), 100)).toEqual(['▲ +14 %', '▼ −4.7 %'])
    expect(pillsIn(drawn('', 'run'), 20)).toEqual(['▲', '▼'])
  })

  it('has a band and a line at the baseline, a stroke for each level, a triangle where the driver changed', () => {
    const { of } = drawn('run-4', 'run')
    expect(of('band')).toBeDefined()
    expect(drawn('', 'run').of('band')).toBeUndefined()
    const { markLine } = of('medians') as unknown as { markLine: { data: object[] } }
    expect(markLine.data).toMatchObject([{ yAxis: 742 }])
    expect(of('levels')!.data).toEqual([
      [0, 741.5],
      [2, 846],
      [4, 806]
    ])
    expect(of('device changes')!.data).toMatchObject([[2, 0]])
  })

  it('says what changed about the device beside its triangle, where that has room', () => {
    const wordsIn = (step: number) => {
      const changes = drawn('', 'run').of('device changes')!
      const api = { coord: ([x, y]: [number, number]) => [50 + step * x, y] }
      const { children } = changes.renderItem({ dataIndex: 0, coordSys }, api)
      expect(children[0]).toMatchObject({ type: 'polygon' })
      return children.slice(1).map(({ style }) => (style as { text: string }).text)
    }
    expect(wordsIn(200)).toEqual(['driver 580.95 → 580.159'])
    expect(wordsIn(390)).toEqual([])
  })
})
