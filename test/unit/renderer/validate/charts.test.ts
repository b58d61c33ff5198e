/** The two charts of a validated cell, as pure options: data in, what is drawn out. */
import { describe, expect, it } from 'vitest'
import { errorMapOption, ownRange, worstTiles } from '@shared/charts/errorMap'
import type { ChartTheme } from '@shared/charts/theme'
import { ulpBuckets, ulpHistogramOption } from '../../../../src-renderer/charts/ulpHistogram'
import { blindness, difference, lab } from '../support/colourVision'
import { themesFromTokens } from './themes'

const themes = themesFromTokens()
const light = themes.light
const map = (errorMap: number[], mapCols: number) => ({
  errorMap,
  mapRows: mapCols === 0 ? 0 : errorMap.length / mapCols,
  mapCols,
  tileRows: 64,
  tileCols: 32
})

/** How a cell of this value is coloured, by the pieces of the visual map. */
function colourOf(value: number, theme: ChartTheme): string | undefined {
  const [cell] = errorMapOption(map([value], 1), theme).series[0]!.data
  const shown = cell![2]!
  const pieces: { gt?: number; lte?: number; color?: string }[] = errorMapOption(
    map([value], 1),
    theme
  ).visualMap.pieces
  const piece = pieces.find(({ gt = -Infinity, lte = Infinity }) => shown > gt && shown <= lte)
  return piece?.color
}

describe('the ulp histogram', () => {
  it('names each distance once, without gaps, the last one open', () => {
    const names = ulpBuckets(13)
    expect(names.slice(0, 5)).toEqual(['0', '1', '2', '3–4', '5–8'])
    expect(names.at(-1)).toBe('≥ 1,025')
    const ends = names.slice(3, -1).map((name) => name.replaceAll(',', '').split('–').map(Number))
    ends.slice(1).forEach(([low], index) => expect(low).toBe(ends[index]![1]! + 1))
  })

  it('draws one element among millions, and no bar where there is none', () => {
    const { series, yAxis } = ulpHistogramOption([4_194_303, 0, 1], light)
    expect(series[0]!.data).toEqual([4_194_303, null, 1])
    expect(yAxis.min).toBeLessThan(1)
    expect([0.5, 1, 100, 1000, 1e6].map(yAxis.axisLabel.formatter)).toEqual([
      '',
      '1',
      '100',
      '1e3',
      '1e6'
    ])
  })

  it('draws nothing for no buckets, empty buckets and NaN, and its tip stays readable', () => {
    expect(ulpHistogramOption([], light).series[0]!.data).toEqual([])
    const { series, tooltip } = ulpHistogramOption([NaN, 0], light)
    expect(series[0]!.data).toEqual([null, null])
    expect(tooltip.formatter([{ dataIndex: 1 }])).toBe('1 ulp\n0 elements (–)')
    expect(tooltip.formatter([])).toContain('0 ulp')
  })

  it('says how many elements, and their share', () => {
    const { tooltip } = ulpHistogramOption([75, 20, 5], light)
    expect(tooltip.formatter([{ dataIndex: 1 }])).toBe('1 ulp\n20 elements (20 %)')
    expect(tooltip.renderMode).toBe('richText')
  })
})

describe('the error map', () => {
  it('places tiles by row and column, the first row on top', () => {
    const { series, yAxis, xAxis } = errorMapOption(map([0, 0.1, 0.2, 0.3, 0.4, 2], 3), light)
    expect(series[0]!.data).toEqual([
      [0, 0, 0],
      [1, 0, 0.1],
      [2, 0, 0.2],
      [0, 1, 0.3],
      [1, 1, 0.4],
      [2, 1, 2]
    ])
    expect(yAxis.inverse).toBe(true)
    expect([xAxis.data, yAxis.data]).toEqual([
      ['0', '32', '64'],
      ['0', '64']
    ])
  })

  it('gives every value a colour: zero, the limit itself, past it, infinite and NaN', () => {
    for (const theme of [themes.light, themes.dark]) {
      expect(colourOf(0, theme)).toBe(theme.heat[0])
      expect(colourOf(1e-30, theme)).toBe(theme.heat[1])
      expect(colourOf(1, theme)).toBe(theme.heat[4])
      for (const outside of [1.0000001, 88, Infinity, NaN])
        expect(colourOf(outside, theme)).toBe(theme.over)
    }
  })

  it('says where a tile is, cut off at the edge of C, and that it is outside', () => {
    const { tooltip } = errorMapOption(map([0, 0.5, 0, 2], 2), light, { m: 100, n: 40 })
    expect(tooltip.formatter({ value: [1, 1, 2] })).toBe(
      'rows 64–99\ncolumns 32–39\nerror / tolerance: 2.00, outside'
    )
    expect(tooltip.formatter({ value: [0, 0, 1] })).not.toContain('outside')
    expect(tooltip.formatter({ value: [0, 0, 1e9] })).toContain('not finite')
  })

  it('takes one tile, none at all, and labels at most eight of many', () => {
    expect(errorMapOption(map([0.5], 1), light).series[0]!.data).toEqual([[0, 0, 0.5]])
    const empty = errorMapOption(map([], 0), light)
    expect(empty.series[0]!.data).toEqual([])
    expect(empty.xAxis.axisLabel.interval).toBe(0)
    const { interval } = errorMapOption(map(Array<number>(64).fill(0), 64), light).xAxis.axisLabel
    expect(Math.ceil(64 / (interval + 1))).toBe(8)
  })

  it('names only the ends of its colours, and half as many columns, where there is little room', () => {
    const many = map(Array<number>(64).fill(0), 64)
    const [wide, narrow] = [430, 300].map((width) =>
      errorMapOption(many, light, undefined, undefined, width)
    ) as [ReturnType<typeof errorMapOption>, ReturnType<typeof errorMapOption>]
    expect(wide.visualMap).not.toHaveProperty('text')
    expect(narrow.visualMap).toMatchObject({ text: ['> 1, outside', '0'] })
    expect(narrow.visualMap.pieces).toEqual(wide.visualMap.pieces)
    expect(narrow.xAxis.axisLabel.interval).toBe(15)
    expect(narrow.yAxis).toEqual(wide.yAxis)
  })

  it('lists the worst tiles first, NaN as the worst', () => {
    expect(worstTiles(map([0.5, 3, NaN, 1], 2), 2)).toEqual([
      { row: 64, col: 0, value: Infinity },
      { row: 0, col: 32, value: 3 }
    ])
    expect(worstTiles(map([], 0), 3)).toEqual([])
  })
})

describe('a map on a range of its own', () => {
  it('tells errors apart that lie close, each in one colour', () => {
    const close = map([0.481, 0.483, 0.486, 0.4855], 2)
    const range = ownRange(close)!
    expect(range).toEqual([0.481, 0.486])
    const { pieces } = errorMapOption(close, light, undefined, range).visualMap
    for (const value of close.errorMap)
      expect(
        (pieces as { gt: number; lte: number }[]).filter(
          ({ gt, lte }) => value > gt && value <= lte
        ),
        String(value)
      ).toHaveLength(1)
    expect(pieces.map(({ color }) => color)).toEqual([...light.heat])
  })

  it('is not offered where errors are outside, or all alike', () => {
    expect(ownRange(map([0.5, 1.5], 2))).toBeUndefined()
    expect(ownRange(map([0.5, 0.5], 2))).toBeUndefined()
    expect(ownRange(map([0.5, NaN], 2))).toBeUndefined()
    expect(ownRange(map([], 0))).toBeUndefined()
  })
})

describe('the colours of errors', () => {
  it.each(['light', 'dark'] as const)(
    '%s: a monotone ramp, told from "outside" by people who see no red or no green',
    (name) => {
      const { heat, over } = themes[name]
      const lightness = heat.map((colour) => lab(colour)[0])
      const steps = lightness.slice(1).map((value, index) => value - lightness[index]!)
      expect(new Set(steps.map(Math.sign)).size).toBe(1)
      for (const [kind, matrix] of Object.entries(blindness)) {
        for (const colour of heat) {
          expect(difference(colour, over, matrix), `${colour} ${over} ${kind}`).toBeGreaterThan(20)
        }
      }
    }
  )
})
