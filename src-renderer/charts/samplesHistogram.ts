import type { Statistics } from '@shared/contract/run'
import { digits, scaleFor, counted, tick } from '@shared/units'
import { axisStyle, baseOption, type ChartTheme } from '@shared/charts/theme'

export interface Bin {
  from: number
  to: number
  count: number
}

const fewestBins = 8
const mostBins = 60

/** Bins of equal width, as wide as Freedman and Diaconis have it: 2 IQR n^(-1/3). */
export function binSamples(
  samples: readonly number[],
  quartiles: { q1: number; q3: number }
): Bin[] {
  if (samples.length === 0) return []
  let low = Infinity
  let high = -Infinity
  for (const value of samples) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (low === high) return [{ from: low, to: high, count: samples.length }]
  const ideal = (2 * (quartiles.q3 - quartiles.q1)) / Math.cbrt(samples.length)
  const wanted = ideal > 0 ? Math.ceil((high - low) / ideal) : fewestBins
  const bins = Math.min(mostBins, Math.max(fewestBins, wanted))
  const width = (high - low) / bins
  const counts = new Array<number>(bins).fill(0)
  for (const value of samples) counts[Math.min(bins - 1, Math.floor((value - low) / width))]!++
  return counts.map((count, index) => ({
    from: low + index * width,
    to: low + (index + 1) * width,
    count
  }))
}

/** Every sample of one point; the median is a line, the quartiles are dashed. */
export function samplesHistogramOption(
  samples: readonly number[],
  statistics: Statistics,
  theme: ChartTheme
) {
  const bins = binSamples(samples, statistics)
  const { unit, factor } = scaleFor('time', statistics.median)
  const width = bins.length > 0 ? (bins[0]!.to - bins[0]!.from) * factor : 0
  // Only the median is named: quartiles may stand so near that words would lie on each other.
  const mark = (value: number, name: string) => ({
    xAxis: value * factor,
    label: { formatter: name, color: theme.text, fontSize: 11 },
    lineStyle: { color: theme.text, width: name ? 1.5 : 1, type: name ? 'solid' : 'dashed' }
  })
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const bin = bins[dataIndex]
        if (!bin) return ''
        const range = `${digits(bin.from * factor)} to ${digits(bin.to * factor)} ${unit}`
        return `${range}\n${bin.count} of ${counted(samples.length, 'sample')}`
      }
    },
    grid: { left: 44, right: 16, top: 26, bottom: 40 },
    xAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      name: `time per operation, ${unit}`,
      nameLocation: 'middle' as const,
      nameGap: 24,
      min: (bins[0]?.from ?? 0) * factor - width,
      max: (bins.at(-1)?.to ?? 1) * factor + width,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: tick
      },
      splitLine: { show: false }
    },
    yAxis: { ...axisStyle(theme), type: 'value' as const, minInterval: 1 },
    series: [
      {
        type: 'custom' as const,
        clip: true,
        encode: { x: [0, 1], y: 2 },
        itemStyle: { color: theme.series[0] },
        data: bins.map(({ from, to, count }) => [from * factor, to * factor, count]),
        renderItem: (_params: unknown, api: BarApi) => {
          const [left, top] = api.coord([api.value(0), api.value(2)])
          const [right, bottom] = api.coord([api.value(1), 0])
          const shape = {
            x: left,
            y: top,
            width: Math.max(1, right - left - 1),
            height: bottom - top
          }
          return { type: 'rect', shape, style: { fill: theme.series[0] } }
        },
        markLine: {
          silent: true,
          symbol: 'none',
          data: [
            mark(statistics.q1, ''),
            mark(statistics.median, 'median'),
            mark(statistics.q3, '')
          ]
        }
      }
    ]
  }
}

interface BarApi {
  coord(point: [number, number]): [number, number]
  value(dimension: number): number
}
