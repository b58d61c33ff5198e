import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import { axisStyle, baseOption, seriesSymbols, type ChartTheme } from './theme'

/** Finite values of each format on one line each. On a log axis only what is above zero can be shown. */
export function numberLineOption(
  formats: readonly NumberFormat[],
  { log }: { log: boolean },
  theme: ChartTheme
) {
  const names = formats.map(({ name }) => name)
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      formatter: ({ data }: { data: [number, number, number] }) =>
        `${names[data[1]]} code 0x${data[2].toString(16).toUpperCase()}\n${data[0]}`
    },
    grid: { left: 64, right: 24, top: 12, bottom: 40 },
    xAxis: {
      ...axisStyle(theme),
      type: log ? ('log' as const) : ('value' as const),
      logBase: 2,
      name: log ? 'value, log scale, above 0' : 'value',
      nameLocation: 'middle' as const,
      nameGap: 26
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      data: names,
      inverse: true,
      splitLine: { show: true, lineStyle: { color: theme.grid } }
    },
    series: formats.map((format, index) => ({
      id: format.name,
      name: format.name,
      type: 'scatter' as const,
      symbol: seriesSymbols[index % seriesSymbols.length],
      symbolSize: 6,
      itemStyle: { color: theme.series[index % theme.series.length], opacity: 0.75 },
      data: [...decodeTable(format)].flatMap((value, code) =>
        Number.isFinite(value) && (!log || value > 0) ? [[value, index, code]] : []
      )
    }))
  }
}
