/** The history of a point: a dot and its quartiles for each run, steps where it changed, the baseline across. */
import type { HistoryEntry } from '../contract/history'
import type { Mark } from '../measurement/marks'
import { digits, percent, tick } from '../units'
import { roundStep } from './ticks'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

export const historyHeight = 320

/** The axis is cut where the rates lie close together; the name says so. */
function axisOf(entries: readonly HistoryEntry[]): { min: number; max: number; interval: number } {
  const most = Math.max(...entries.map((one) => one.most))
  const least = Math.min(...entries.map((one) => one.least))
  const interval = roundStep(Math.max(most - least, most * 0.05) / 4)
  const min = least > most / 2 ? Math.max(0, Math.floor(least / interval - 0.5) * interval) : 0
  return { min, max: Math.ceil((most * 1.02) / interval) * interval, interval }
}

export function historyOption(
  entries: readonly HistoryEntry[],
  mark: Mark,
  theme: ChartTheme,
  baselineId = ''
) {
  const colour = mark.colour[theme.look]
  const axis = entries.length > 0 ? axisOf(entries) : { min: 0, max: 1, interval: 1 }
  const baseline = entries.find(({ runId }) => runId === baselineId)
  const changes = entries.flatMap((entry, index) =>
    entry.verdict === 'faster' || entry.verdict === 'slower' ? [{ entry, index }] : []
  )
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'item' as const,
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const entry = entries[dataIndex]
        if (!entry) return ''
        return [
          entry.title,
          entry.createdAt.slice(0, 16).replace('T', ' '),
          `${digits(entry.median)} TFLOP/s, q1–q3 ${digits(entry.q1)}–${digits(entry.q3)}`,
          ...entry.badges
        ].join('\n')
      }
    },
    grid: { left: 56, right: 96, top: 40, bottom: 46 },
    xAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      data: entries.map(({ createdAt }) => createdAt.slice(5, 10)),
      axisLabel: { color: theme.dim, fontSize: 11, hideOverlap: true },
      name: 'one step per run',
      nameLocation: 'middle' as const,
      nameGap: 26
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      ...axis,
      name: `TFLOP/s${axis.min > 0 ? `; the axis starts at ${tick(axis.min)}` : ''}`,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const }
    },
    series: [
      {
        id: 'spread',
        type: 'custom' as const,
        silent: true,
        encode: { x: 0, y: [1, 2, 3, 4] },
        data: entries.map(({ least, q1, q3, most }, index) => [index, least, q1, q3, most]),
        renderItem: ({ dataIndex }: { dataIndex: number }, api: HistoryApi) => {
          const { least, q1, q3, most } = entries[dataIndex]!
          const at = (value: number) => api.coord([dataIndex, value])
          const [[x, low], [, bottom], [, top], [, high]] = [at(least), at(q1), at(q3), at(most)]
          return {
            type: 'group',
            children: [
              {
                type: 'line',
                shape: { x1: x, y1: low, x2: x, y2: high },
                style: { stroke: colour }
              },
              {
                type: 'rect',
                shape: { x: x - 4, y: top, width: 8, height: Math.max(3, bottom - top) },
                style: { fill: colour, opacity: 0.4 }
              }
            ]
          }
        }
      },
      {
        id: 'medians',
        type: 'line' as const,
        ...markStyle(mark, theme),
        symbolSize: 9,
        lineStyle: { color: colour, width: 1, opacity: 0.6 },
        data: entries.map(({ median, verdict }) => ({
          value: median,
          ...(verdict === 'noisy' && {
            itemStyle: { color: theme.surface, borderColor: colour, borderWidth: 1.6 }
          })
        })),
        markLine: {
          symbol: 'none',
          silent: true,
          animation: false,
          data: [
            ...(baseline
              ? [
                  {
                    yAxis: baseline.median,
                    lineStyle: { color: theme.text, type: [5, 3] },
                    label: {
                      formatter: `baseline ${digits(baseline.median)}`,
                      color: theme.text,
                      fontSize: 11
                    }
                  }
                ]
              : []),
            ...changes.map(({ entry, index }) => ({
              xAxis: index,
              lineStyle: { color: theme.dim, type: [2, 3] },
              label: {
                formatter: `${entry.verdict === 'faster' ? '▲' : '▼'} ${signed(entry.change)}`,
                color: theme.text,
                fontSize: 11
              }
            }))
          ]
        }
      }
    ]
  }
}

/** '+14 %', '−5.0 %' */
export const signed = (change: number): string =>
  change < 0 ? `−${percent(-change)}` : `+${percent(change)}`

interface HistoryApi {
  coord(point: [number, number]): [number, number]
}
