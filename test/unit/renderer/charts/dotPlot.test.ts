/** Rows of a sweep of one shape, as a person groups and sorts them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ratioTo } from '@shared/charts/baseline'
import { dotPlot, type DotArrangement } from '@shared/charts/dotPlot'
import { dotPlotOption } from '@shared/charts/dotPlotOption'
import type { Roofs } from '@shared/charts/limits'
import { paperTheme } from '@shared/charts/paperTheme'
import { sweepLines } from '@shared/charts/sweepSeries'
import { parseRun } from '@shared/contract/parseRun'
import { roofsOfRun } from '@shared/measurement/roofs'

const path = 'docs/results/h200-8192/run.json'
const run = parseRun(readFileSync(path, 'utf8'), path)
const lines = sweepLines([{ run, title: '', overlay: false }])
const roofs: Roofs = { ...roofsOfRun(run), entered: {} }
const plotOf = (arrangement: DotArrangement, metric: 'tflops' | 'time' = 'tflops') =>
  dotPlot(lines, metric, roofs, ratioTo('best triton', lines), arrangement)
const rowsOf = (arrangement: DotArrangement, metric?: 'time') =>
  plotOf(arrangement, metric).groups.map(({ name, rows }) => ({
    name,
    kernels: rows.map(({ line }) => line.kernel),
    formats: rows.map(({ line }) => line.format),
    rows
  }))

describe('rows of a dot plot', () => {
  it('by kernel stand with their formats, the fastest kernel first, references last', () => {
    const groups = rowsOf({ by: 'kernel', sort: 'best' })
    expect(groups.map(({ name }) => name)).toEqual([
      ...['wgmma-fp8-p128', 'wgmma-fp8-p256', 'wgmma-fp8-p64', 'wgmma-fp8-p32', 'wgmma', 'triton'],
      ...['cublaslt-fp8', 'cublaslt-bf16']
    ])
    for (const { name, kernels } of groups) expect(new Set(kernels)).toEqual(new Set([name]))
    expect(groups.find(({ name }) => name === 'wgmma')!.formats).toEqual([
      ...['mxfp4', 'mixed', 'nvfp4', 'mxfp8']
    ])
    expect(groups.flatMap(({ rows }) => rows)).toHaveLength(lines.length)
  })

  it.each(['best', 'share', 'ratio'] as const)(
    'sort by %s, the most first, references last',
    (sort) => {
      for (const { rows } of rowsOf({ by: 'format', sort })) {
        const own = rows.filter(({ line }) => !line.mark.hollow)
        expect(rows.slice(0, own.length)).toEqual(own)
        const figures = own.map((row) =>
          sort === 'best' ? row.figure.value : ((sort === 'share' ? row.share : row.ratio) ?? -1)
        )
        expect(figures).toEqual([...figures].sort((a, b) => b - a))
      }
    }
  )

  it('sort by name as people count, and by time the least first', () => {
    expect(rowsOf({ by: 'format', sort: 'name' })[0]!.kernels.slice(0, 6)).toEqual([
      ...['triton', 'wgmma', 'wgmma-fp8-p32', 'wgmma-fp8-p64', 'wgmma-fp8-p128', 'wgmma-fp8-p256']
    ])
    expect(rowsOf({ by: 'format', sort: 'best' }, 'time')[0]!.kernels[0]).toBe('wgmma-fp8-p128')
  })

  it('are named in a saved picture by what their group is not', () => {
    const names = dotPlotOption(plotOf({ by: 'kernel', sort: 'best' }), 'tflops', paperTheme).yAxis
      .data
    expect(names[0]).toBe('{head|wgmma-fp8-p128}{name|● mxfp4}')
    expect(names.filter((name) => name.startsWith('{head|wgmma}'))).toEqual([
      '{head|wgmma}{name|● mxfp4}'
    ])
    expect(names).toContain('{head|}{reference|■ mxfp8}')
  })
})
