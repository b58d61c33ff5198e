import type { Step, Validation } from '../contract/run'
import { digits, precise, tick } from '../units'
import { axisStyle, baseOption, type ChartTheme } from './theme'

type MapData = Pick<Validation, 'errorMap' | 'mapRows' | 'mapCols' | 'tileRows' | 'tileCols'>

/**
 * Where the errors are: the largest error / tolerance of each tile of C (m x n); above 1 is outside. Tiles at the lower
 * and right edges may be cut off. Colours run from 0 to 1, or over the map's own `range`.
 * @param width of the chart in pixels: where it is small, the colours are named at their two ends.
 */
export function errorMapOption(
  map: MapData,
  theme: ChartTheme,
  c?: Pick<Step, 'm' | 'n'>,
  range?: readonly [number, number],
  width = Infinity
) {
  const pieces = range ? ownPieces(theme, range) : fixedPieces(theme)
  const isNarrow = width < roomForLegend
  const span = (tile: number, size: number, end = Infinity) =>
    `${tick(tile * size)}–${tick(Math.min((tile + 1) * size, end) - 1)}`
  const cells = map.errorMap.map((value, index) => [
    index % map.mapCols,
    Math.floor(index / map.mapCols),
    // NaN is as far outside as can be.
    Number.isFinite(value) ? value : 1e9
  ])
  const starts = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => tick(index * size))
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      formatter: ({ value }: { value: number[] }) => {
        const [col = 0, row = 0, ratio = 0] = value
        const rows = `rows ${span(row, map.tileRows, c?.m)}`
        const cols = `columns ${span(col, map.tileCols, c?.n)}`
        const shown = ratio >= 1e9 ? 'not finite' : digits(ratio)
        return `${rows}\n${cols}\nerror / tolerance: ${shown}${ratio > 1 ? ', outside' : ''}`
      }
    },
    grid: { left: 46, right: 10, top: 22, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      data: starts(map.mapCols, map.tileCols),
      position: 'top' as const,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        interval: labelEvery(map.mapCols, isNarrow ? 4 : 8)
      },
      splitLine: { show: false }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      data: starts(map.mapRows, map.tileRows),
      inverse: true,
      axisLabel: { color: theme.dim, fontSize: 11, interval: labelEvery(map.mapRows, 8) },
      splitLine: { show: false }
    },
    visualMap: {
      type: 'piecewise' as const,
      orient: 'horizontal' as const,
      left: 'center',
      bottom: 0,
      itemWidth: 14,
      itemHeight: 10,
      textStyle: { color: theme.dim, fontSize: 11 },
      ...(isNarrow
        ? { itemGap: 2, text: [pieces.at(-1)!.label, pieces[0]!.label] }
        : { itemGap: 16 }),
      pieces
    },
    series: [
      {
        type: 'heatmap' as const,
        data: cells,
        itemStyle: { borderColor: theme.surface, borderWidth: map.mapCols > 32 ? 0 : 1 },
        progressive: 0
      }
    ]
  }
}

/** Of a word beside each of its colours, pixels. */
const roomForLegend = 430

function fixedPieces({ heat, over }: ChartTheme) {
  const step = 1 / (heat.length - 1)
  const pieces = heat.slice(1).map((color, index) => ({
    gt: index * step,
    lte: (index + 1) * step,
    color,
    label: `≤ ${(index + 1) * step}`
  }))
  return [
    { lte: 0, color: heat[0], label: '0' },
    ...pieces,
    { gt: 1, color: over, label: '> 1, outside' }
  ]
}

function ownPieces({ heat }: ChartTheme, [low, high]: readonly [number, number]) {
  const step = (high - low) / heat.length
  return heat.map((color, index) => ({
    gt: index === 0 ? -Infinity : low + index * step,
    lte: index === heat.length - 1 ? high : low + (index + 1) * step,
    color,
    label: `≤ ${precise(Math.round(1e4 * (low + (index + 1) * step)) / 1e4)}`
  }))
}

/** Of the errors of a map that has several and none outside; undefined of any other, which stands on 0 to 1. */
export function ownRange({ errorMap }: MapData): [number, number] | undefined {
  const [low, high] = [Math.min(...errorMap), Math.max(...errorMap)]
  return errorMap.length > 1 && high <= 1 && low < high ? [low, high] : undefined
}

/** So many labels fit along an axis. */
const labelEvery = (tiles: number, most: number) => Math.max(0, Math.ceil(tiles / most) - 1)

/** For the table twin and a screen reader: the worst tiles. */
export function worstTiles(map: MapData, limit: number) {
  return map.errorMap
    .map((value, index) => ({
      row: Math.floor(index / map.mapCols) * map.tileRows,
      col: (index % map.mapCols) * map.tileCols,
      value: Number.isFinite(value) ? value : Infinity
    }))
    .sort((a, b) => b.value - a.value)
    .slice(0, limit)
}
