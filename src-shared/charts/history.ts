/** The history of a point: a dot and its quartiles for each run, a wide stroke between two changes, the baseline across. */
import type { HistoryEntry } from '../contract/history'
import { deviceChanges, leastChange, levelsOf } from '../measurement/history'
import type { Mark } from '../measurement/marks'
import { digits, percent, tick } from '../units'
import { labelWidth } from './placeLabels'
import { roundStep } from './ticks'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

export const historyHeight = 340

/** The axis is cut where the rates lie close together; the name says so. */
function axisOf(entries: readonly HistoryEntry[]): { min: number; max: number; interval: number } {
  const most = Math.max(...entries.map((one) => one.most))
  const least = Math.min(...entries.map((one) => one.least))
  const interval = roundStep(Math.max(most - least, most * 0.05) / 4)
  const min = least > most / 2 ? Math.max(0, Math.floor(least / interval - 0.5) * interval) : 0
  return { min, max: Math.ceil((most * 1.02) / interval) * interval, interval }
}

/** `by`: one step for each run, or where each stands in time. */
export interface HistoryChoices {
  baselineId: string
  by: 'run' | 'date'
}

export function historyOption(
  entries: readonly HistoryEntry[],
  mark: Mark,
  theme: ChartTheme,
  { baselineId, by }: HistoryChoices = { baselineId: '', by: 'run' }
) {
  const colour = mark.colour[theme.look]
  const axis = entries.length > 0 ? axisOf(entries) : { min: 0, max: 1, interval: 1 }
  const baseline = entries.find(({ runId }) => runId === baselineId)
  const changes = deviceChanges(entries)
  const xOf = (place: number) => (by === 'run' ? place : Date.parse(entries[place]!.createdAt))
  const times = entries.map((_, place) => xOf(place))
  const pad = 0.04 * ((times.at(-1) ?? 0) - (times[0] ?? 0)) || 43_200_000
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
    grid: { left: 56, right: baseline ? 96 : 24, top: 48, bottom: changes.length > 0 ? 62 : 44 },
    xAxis: {
      ...axisStyle(theme),
      ...(by === 'run'
        ? {
            type: 'category' as const,
            data: entries.map(
              ({ createdAt, sourceHash }) => `${createdAt.slice(5, 10)}\n${sourceHash.slice(0, 7)}`
            )
          }
        : { type: 'time' as const, min: times[0]! - pad, max: times.at(-1)! + pad }),
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        lineHeight: 14,
        hideOverlap: true,
        ...(by === 'date' && { formatter: dayOf })
      },
      splitLine: { show: false }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'value' as const,
      ...axis,
      name: `TFLOP/s${axis.min > 0 ? `; the axis starts at ${tick(axis.min)}` : ''}`,
      nameGap: 26,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const }
    },
    series: [
      ...(baseline ? [bandSeries(baseline, xOf(0), axis, theme)] : []),
      levelSeries(entries, xOf, colour),
      spreadSeries(entries, xOf, colour),
      {
        id: 'medians',
        type: 'line' as const,
        ...markStyle(mark, theme),
        symbolSize: 9,
        showAllSymbol: true,
        lineStyle: { color: colour, width: 1, opacity: 0.6 },
        data: entries.map(({ median, verdict }, place) => ({
          value: [xOf(place), median],
          ...(verdict === 'noisy' && {
            itemStyle: { color: theme.surface, borderColor: colour, borderWidth: 1.6 }
          })
        })),
        markLine: {
          symbol: 'none',
          silent: true,
          animation: false,
          data: baseline
            ? [
                {
                  yAxis: baseline.median,
                  lineStyle: { color: theme.text, type: [5, 3] },
                  label: {
                    formatter: `baseline ${digits(baseline.median)}\n±1 % band`,
                    color: theme.text,
                    fontSize: 11,
                    lineHeight: 14
                  }
                }
              ]
            : []
        }
      },
      changeSeries(entries, xOf, theme),
      deviceSeries(changes, entries.length, xOf, theme)
    ]
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(5, 10)

interface CoordSys {
  coordSys: { x: number; y: number; width: number; height: number }
}

interface RowParams extends CoordSys {
  dataIndex: number
}

interface HistoryApi {
  coord(point: [number, number]): [number, number]
}

type PlaceToX = (place: number) => number

const silentCustom = { type: 'custom' as const, silent: true, tooltip: { show: false } }

/** Around the baseline, what is no change. */
function bandSeries(
  { median }: HistoryEntry,
  x: number,
  { min, max }: { min: number; max: number },
  theme: ChartTheme
) {
  const ends = [-leastChange, leastChange].map((share) =>
    Math.min(max, Math.max(min, median * (1 + share)))
  )
  return {
    ...silentCustom,
    id: 'band',
    z: 0,
    data: [[x, median]],
    renderItem: ({ coordSys }: CoordSys, api: HistoryApi) => {
      const [bottom, top] = ends.map((value) => api.coord([x, value])[1])
      return {
        type: 'rect',
        shape: { x: coordSys.x, y: top!, width: coordSys.width, height: bottom! - top! },
        style: { fill: theme.track }
      }
    }
  }
}

/** A wide stroke over the runs between two changes, at the median of their medians. */
function levelSeries(entries: readonly HistoryEntry[], xOf: PlaceToX, colour: string) {
  const levels = levelsOf(entries)
  return {
    ...silentCustom,
    id: 'levels',
    z: 1,
    data: levels.map(({ from, median }) => [xOf(from), median]),
    renderItem: ({ dataIndex, coordSys }: RowParams, api: HistoryApi) => {
      // A little beyond its runs, and never to the next one.
      const over = Math.min(22, (0.4 * coordSys.width) / entries.length)
      const { from, to, median } = levels[dataIndex]!
      const [left, y] = api.coord([xOf(from), median])
      const [right] = api.coord([xOf(to), median])
      return {
        type: 'rect',
        shape: { x: left - over, y: y - 4, width: right - left + 2 * over, height: 8, r: 4 },
        style: { fill: colour, opacity: 0.2 }
      }
    }
  }
}

function spreadSeries(entries: readonly HistoryEntry[], xOf: PlaceToX, colour: string) {
  return {
    ...silentCustom,
    id: 'spread',
    encode: { x: 0, y: [1, 2, 3, 4] },
    data: entries.map(({ least, q1, q3, most }, place) => [xOf(place), least, q1, q3, most]),
    renderItem: ({ dataIndex }: { dataIndex: number }, api: HistoryApi) => {
      const { least, q1, q3, most } = entries[dataIndex]!
      const at = (value: number) => api.coord([xOf(dataIndex), value])
      const [[x, low], [, bottom], [, top], [, high]] = [at(least), at(q1), at(q3), at(most)]
      return {
        type: 'group',
        children: [
          { type: 'line', shape: { x1: x, y1: low, x2: x, y2: high }, style: { stroke: colour } },
          {
            type: 'rect',
            shape: { x: x - 4, y: top, width: 8, height: Math.max(3, bottom - top) },
            style: { fill: colour, opacity: 0.4 }
          }
        ]
      }
    }
  }
}

/** Of a sign alone, and with the size of the change behind it, pixels. */
const pill = { sign: 20, whole: 68 }

/** Between the two runs that a change lies between: its sign and size over a dashed line; the sign alone where they crowd. */
function changeSeries(entries: readonly HistoryEntry[], xOf: PlaceToX, theme: ChartTheme) {
  const changes = entries.flatMap(({ verdict, change, median }, place) =>
    verdict === 'faster' || verdict === 'slower' ? [{ place, verdict, change, median }] : []
  )
  return {
    ...silentCustom,
    id: 'changes',
    z: 3,
    data: changes.map(({ place, median, change }) => [xOf(place), median, change]),
    renderItem: ({ dataIndex, coordSys }: RowParams, api: HistoryApi) => {
      const xs = changes.map(
        ({ place, median }) =>
          (api.coord([xOf(place - 1), median])[0] + api.coord([xOf(place), median])[0]) / 2
      )
      const crowded = xs.some((one, at) => at > 0 && one - xs[at - 1]! < pill.whole + 2)
      const x = xs[dataIndex]!
      const { verdict, change } = changes[dataIndex]!
      const stroke = theme[verdict]
      const sign = verdict === 'faster' ? '▲' : '▼'
      const width = crowded ? pill.sign : pill.whole
      return {
        type: 'group',
        children: [
          {
            type: 'line',
            shape: { x1: x, y1: coordSys.y, x2: x, y2: coordSys.y + coordSys.height },
            style: { stroke, lineDash: [3, 3] }
          },
          {
            type: 'rect',
            shape: { x: x - width / 2, y: coordSys.y - 20, width, height: 18, r: 9 },
            style: { fill: theme.surface, stroke }
          },
          {
            type: 'text',
            style: {
              ...{ text: crowded ? sign : `${sign} ${signed(change)}`, x, y: coordSys.y - 11 },
              ...{ fill: stroke, fontSize: 11, fontWeight: 'bold', fontFamily: theme.font },
              ...{ align: 'center', verticalAlign: 'middle' }
            }
          }
        ]
      }
    }
  }
}

/** Below the axis, a triangle at each run on a device that was another than before, and what changed where that has room. */
function deviceSeries(
  changes: readonly { place: number; text: string }[],
  runs: number,
  xOf: PlaceToX,
  theme: ChartTheme
) {
  const sideOf = (place: number) => (place > runs / 2 ? -1 : 1)
  return {
    ...silentCustom,
    id: 'device changes',
    clip: false,
    data: changes.map(({ place }) => [xOf(place), 0]),
    renderItem: ({ dataIndex, coordSys }: RowParams, api: HistoryApi) => {
      const xs = changes.map(({ place }) => api.coord([xOf(place), 0])[0])
      const { place, text } = changes[dataIndex]!
      const x = xs[dataIndex]!
      const y = coordSys.y + coordSys.height + 50
      // Towards the middle, as far as the next triangle on that side.
      const side = sideOf(place)
      const next = xs[dataIndex + side] ?? (side > 0 ? coordSys.x + coordSys.width : coordSys.x)
      const beside = changes[dataIndex + side]
      // Two that face one another share what is between them.
      const room = (Math.abs(next - x) - 20) / (beside && sideOf(beside.place) !== side ? 2 : 1)
      return {
        type: 'group',
        children: [
          {
            type: 'polygon',
            shape: {
              points: [
                [x, y - 4],
                [x + 4, y + 4],
                [x - 4, y + 4]
              ]
            },
            style: { fill: theme.dim }
          },
          ...(labelWidth(text) > room
            ? []
            : [
                {
                  type: 'text',
                  style: {
                    ...{ text, x: x + 9 * side, y, fill: theme.dim, fontSize: 11 },
                    ...{ fontFamily: theme.font, verticalAlign: 'middle' },
                    align: side > 0 ? 'left' : 'right'
                  }
                }
              ])
        ]
      }
    }
  }
}

/** '+14 %', '−5.0 %' */
export const signed = (change: number): string =>
  change < 0 ? `−${percent(-change)}` : `+${percent(change)}`
