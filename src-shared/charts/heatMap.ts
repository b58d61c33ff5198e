/** A heat map of a sweep over two dimensions: M or N over K, or the kernels over the shapes. */
import type { Step } from '../contract/run'
import { channelsOf, luminance } from '../measurement/pictureColours'
import { cutInTheMiddle, digits, tick } from '../units'
import type { Roofs } from './limits'
import {
  figureOf,
  lineName,
  metricTitle,
  sweepScale,
  type Dimension,
  type SweepLine,
  type SweepMetric
} from './sweepSeries'
import { axisStyle, baseOption, type ChartTheme } from './theme'

export interface HeatCell {
  column: number
  row: number
  lineId: string
  /** Index of the point in its line. */
  point: number
  /** In the unit of the map. */
  value: number
}

export interface HeatMap {
  /** What the columns are: 'K'. */
  dimension: 'K' | 'M' | 'N'
  columns: readonly number[]
  rows: readonly string[]
  cells: readonly HeatCell[]
  unit: string
  /** Least and largest value, for the colours. */
  range: readonly [number, number]
}

/** Every other dimension that varies is told in the rows, as is the kernel; over M of listed shapes, the layer. */
export function heatMap(lines: readonly SweepLine[], metric: SweepMetric, roofs: Roofs): HeatMap {
  const { unit, factor } = sweepScale(lines, metric)
  const across = columnsOf(lines)
  const steps = lines.flatMap(({ points }) => points.map(({ step }) => step))
  const others = dimensions.filter((of) => of !== across.of && valuesOf(steps, of).length > 1)
  const nameOf = (line: SweepLine) => lineName({ ...line, variant: '' })
  const names = [...new Set(lines.map(nameOf))]
  // A kernel's rows stand together, in order of what tells them apart.
  const placed = lines.flatMap((line) =>
    line.points.flatMap(({ step }, point) => {
      const figure = figureOf(step, metric, roofs)
      if (!figure || !Number.isFinite(figure.value)) return []
      const order = [names.indexOf(nameOf(line)), ...others.map((of) => step[of])]
      const told =
        line.over === across.of
          ? [line.variant].filter(Boolean)
          : others.map((of) => `${of.toUpperCase()} = ${tick(step[of])}`)
      const isNamed = names.length > 1 || told.length === 0
      const row = [...(isNamed ? [nameOf(line)] : []), ...told].join(', ')
      return [{ line, step, point, order, row, value: figure.value * factor }]
    })
  )
  placed.sort((a, b) => byOrder(a.order, b.order))
  const rows = [...new Set(placed.map(({ row }) => row))]
  const cells = placed.map(({ line, step, point, row, value }): HeatCell => {
    const column = across.found.indexOf(step[across.of])
    return { column, row: rows.indexOf(row), lineId: line.id, point, value }
  })
  const found = cells.map(({ value }) => value)
  return {
    dimension: across.of.toUpperCase() as HeatMap['dimension'],
    columns: across.found,
    rows,
    cells,
    unit,
    range: found.length > 0 ? [Math.min(...found), Math.max(...found)] : [0, 1]
  }
}

const dimensions = ['k', 'm', 'n'] as const

const valuesOf = (steps: readonly Step[], of: Dimension): number[] =>
  [...new Set(steps.map((step) => step[of]))].sort((a, b) => a - b)

/** The dimension whose columns leave the fewest cells empty, a list of shapes being no grid; of those, the one with the most values. */
function columnsOf(lines: readonly SweepLine[]): { of: Dimension; found: number[] } {
  const steps = lines.flatMap(({ points }) => points.map(({ step }) => step))
  const shapes = [...new Map(steps.map((step) => [`${step.m} ${step.n} ${step.k}`, step])).values()]
  const candidates = dimensions.map((of) => {
    const found = valuesOf(steps, of)
    const rows = new Set(
      shapes.map((shape) => dimensions.map((each) => (each === of ? '' : shape[each])).join(' '))
    )
    return { of, found, filled: shapes.length / (rows.size * found.length || 1) }
  })
  return candidates.reduce((best, one) => {
    const isFuller = one.filled - best.filled
    if (one.found.length > 1 && best.found.length > 1 && isFuller !== 0)
      return isFuller > 0 ? one : best
    return one.found.length > best.found.length ? one : best
  })
}

function byOrder(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}

/** Whether there are two dimensions to look at. */
export const hasTwoDimensions = ({ columns, rows }: HeatMap): boolean =>
  columns.length > 1 && rows.length > 1

const rowHeight = 24
/** Below this width the rows' names are cut, and what the colours mean stands in lines of its own. */
const wideEnough = 560
const letterWidth = 6.2
const isNarrow = (width: number) => width < wideEnough

/** Room for the longest name of a row, up to two fifths of the width. */
const marginFor = ({ rows }: HeatMap, width: number) => ({
  left: Math.min(
    Math.ceil(Math.max(...rows.map(({ length }) => length), 0) * letterWidth) + 20,
    Math.round(width * 0.4)
  ),
  right: isNarrow(width) ? 12 : 24,
  top: isNarrow(width) ? 66 : 44,
  bottom: 12
})

/** `width` of the chart in pixels. */
export function heatMapHeight(map: HeatMap, width: number): number {
  const { top, bottom } = marginFor(map, width)
  return top + bottom + rowHeight * Math.max(1, map.rows.length)
}

/** Between the stops of the theme's ramp; 0 and 1 are its ends. */
export function heatColour(share: number, ramp: readonly string[]): string {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1)
  const low = Math.min(ramp.length - 2, Math.floor(place))
  const [from, to] = [channelsOf(ramp[low]!), channelsOf(ramp[low + 1]!)]
  const mixed = from.map((value, index) => Math.round(value + (to[index]! - value) * (place - low)))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

const contrast = (a: string, b: string): number => {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

/** Black or white, whichever is read better on the fill. */
export const inkOn = (fill: string): string =>
  contrast(fill, '#000000') >= contrast(fill, '#ffffff') ? '#000000' : '#ffffff'

/** `width` of the chart in pixels: numbers stand in the cells where there is room for them. */
export function heatMapOption(map: HeatMap, metric: SweepMetric, theme: ChartTheme, width: number) {
  const [low, high] = map.range
  const margin = marginFor(map, width)
  const letters = Math.floor((margin.left - 16) / letterWidth)
  const meaning = `${metricTitle[metric]}, ${digits(low)} to ${digits(high)} ${map.unit}`
  const room = (width - margin.left - margin.right) / Math.max(1, map.columns.length)
  const fills = map.cells.map(({ value }) =>
    heatColour(high > low ? (value - low) / (high - low) : 1, theme.heat)
  )
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const cell = map.cells[dataIndex]
        if (!cell) return ''
        return `${map.rows[cell.row]}\n${map.dimension} = ${tick(map.columns[cell.column]!)}\n${digits(cell.value)} ${map.unit}`
      }
    },
    grid: margin,
    xAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      // Above the rows, which may be more than a window shows.
      position: 'top' as const,
      data: map.columns.map(tick),
      name: `${map.dimension}${isNarrow(width) ? '\ncolour:\n' : '; colour: '}${meaning}`,
      nameLocation: 'middle' as const,
      nameGap: 28,
      nameTextStyle: { ...axisStyle(theme).nameTextStyle, lineHeight: 13 },
      splitLine: { show: false }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'category' as const,
      inverse: true,
      data: [...map.rows],
      axisLabel: {
        color: theme.text,
        fontSize: 11,
        interval: 0,
        formatter: (name: string) => cutInTheMiddle(name, letters)
      },
      splitLine: { show: false }
    },
    series: [
      {
        id: 'cells',
        type: 'custom' as const,
        encode: { x: 0, y: 1 },
        data: map.cells.map(({ column, row, value }) => [column, row, value]),
        renderItem: ({ dataIndex }: { dataIndex: number }, api: CellApi) => {
          const cell = map.cells[dataIndex]!
          const [x, y] = api.coord([cell.column, cell.row])
          const [cellWidth, cellHeight] = api.size([1, 1])
          const fill = fills[dataIndex]!
          return {
            type: 'group',
            children: [
              {
                type: 'rect',
                shape: {
                  x: x - cellWidth / 2 + 0.5,
                  y: y - cellHeight / 2 + 0.5,
                  width: cellWidth - 1,
                  height: cellHeight - 1
                },
                style: { fill }
              },
              ...(room < 40
                ? []
                : [
                    {
                      type: 'text',
                      style: {
                        text: digits(cell.value),
                        x,
                        y,
                        align: 'center',
                        verticalAlign: 'middle',
                        fontSize: 11,
                        fill: inkOn(fill)
                      }
                    }
                  ])
            ]
          }
        }
      }
    ]
  }
}

interface CellApi {
  coord(point: [number, number]): [number, number]
  size(size: [number, number]): [number, number]
}
