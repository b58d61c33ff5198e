import { count, percent, powerOfTen, tick } from '@shared/units'
import { axisStyle, baseOption, type ChartTheme } from '@shared/charts/theme'

/** Distances in units in the last place: 0, 1, 2, 3..4, 5..8, ...; the last bucket is open. */
export function ulpBuckets(buckets: number): string[] {
  return Array.from({ length: buckets }, (_, index) => {
    if (index <= 2) return String(index)
    const low = 2 ** (index - 2) + 1
    return index === buckets - 1 ? `≥ ${tick(low)}` : `${tick(low)}–${tick(2 ** (index - 1))}`
  })
}

/** Elements per distance, on a log axis: one element among millions must be seen. */
export function ulpHistogramOption(histogram: readonly number[], theme: ChartTheme) {
  const names = ulpBuckets(histogram.length)
  const total = histogram.reduce((sum, value) => sum + value, 0)
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'axis' as const,
      axisPointer: { type: 'shadow' as const },
      formatter: (points: { dataIndex: number }[]) => {
        const index = points[0]?.dataIndex ?? 0
        const value = histogram[index] ?? 0
        return `${names[index] ?? '–'} ulp\n${count(value)} elements (${percent(value / total)})`
      }
    },
    grid: { left: 52, right: 8, top: 12, bottom: 38 },
    xAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      data: names,
      name: 'ulp of the output type',
      nameLocation: 'middle' as const,
      nameGap: 22
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      min: 0.5,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        // The axis begins below 1 so that a bar of one element has a height.
        formatter: (value: number) => (value < 1 ? '' : powerOfTen(value))
      }
    },
    series: [
      {
        type: 'bar' as const,
        // A log axis has no zero: empty buckets get no bar.
        data: histogram.map((value) => (value > 0 ? value : null)),
        itemStyle: { color: theme.series[0], borderRadius: [2, 2, 0, 0] },
        barCategoryGap: '18%'
      }
    ]
  }
}
