/** The dot plot as one option of a chart, for pictures and reports: the page draws it as a table. */
import { digits, tick } from '../units'
import type { DotPlot } from './dotPlot'
import { lineName, metricTitle, type SweepMetric } from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

const rowHeight = 24
const left = 220

export function dotPlotOption(plot: DotPlot, metric: SweepMetric, theme: ChartTheme) {
  const rows = plot.groups.flatMap(({ rows: of }) => of)
  return {
    ...baseOption(theme),
    grid: { left, right: 90, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      min: 0,
      max: plot.ticks.at(-1),
      name: `${metricTitle[metric]}, ${plot.unit}`,
      nameLocation: 'middle' as const,
      nameGap: 26,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      inverse: true,
      data: rows.map(({ line }) => lineName(line)),
      axisLabel: { color: theme.text, fontSize: 11, interval: 0 },
      splitLine: { show: false }
    },
    series: [
      {
        type: 'custom' as const,
        silent: true,
        encode: { x: [0, 1, 2], y: 3 },
        data: rows.map(({ figure }, index) => [0, figure.low, figure.high, index]),
        renderItem: (params: { dataIndex: number }, api: DotApi) => {
          const { line, figure } = rows[params.dataIndex]!
          const colour = line.mark.colour[theme.look]
          const at = (value: number) => api.coord([value, params.dataIndex])
          const [[zero, y], [end], [low], [high]] = [
            at(0),
            at(figure.value),
            at(figure.low),
            at(figure.high)
          ]
          return {
            type: 'group',
            children: [
              {
                type: 'line',
                shape: { x1: zero, y1: y, x2: end, y2: y },
                style: { stroke: colour, lineWidth: 2, opacity: 0.45 }
              },
              {
                type: 'rect',
                shape: { x: low, y: y - 5, width: Math.max(3, high - low), height: 10 },
                style: { fill: colour, opacity: 0.45 }
              }
            ]
          }
        }
      },
      ...rows.map(({ line, figure }, index) => ({
        type: 'scatter' as const,
        ...markStyle(line.mark, theme),
        symbolSize: 9,
        data: [
          {
            value: [figure.value, index],
            label: {
              show: true,
              position: 'right' as const,
              color: theme.text,
              formatter: digits(figure.value)
            }
          }
        ]
      }))
    ]
  }
}

interface DotApi {
  coord(point: [number, number]): [number, number]
}

export const dotPlotHeight = (plot: DotPlot): number =>
  76 + rowHeight * plot.groups.reduce((sum, { rows }) => sum + rows.length, 0)
