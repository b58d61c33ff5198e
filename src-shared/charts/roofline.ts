import { shapeKey } from '../contract/groups'
import type { Step } from '../contract/run'
import { intensityOf } from '../measurement/roofs'
import { digits, percent, scaleFor, tick, type Scale } from '../units'
import { limitOf, shareOfStep, type Roofs } from './limits'
import type { PictureSize } from './picture'
import { labelSeries, rooflineLabels } from './rooflineLabels'
import {
  cornersOf,
  dropOf,
  fastestPoint,
  margin,
  placeOf,
  rateRange,
  rooflineRoofs,
  type DrawnRoof,
  type Drop,
  type MeasuredLevel,
  type Plot
} from './rooflinePlot'
import { lineName, type SweepLine } from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

/**
 * Throughput over arithmetic intensity, under one roof for each instruction that the lines multiply with. A line's points
 * are a trail that ends at its last; a ring is hot L2, joined to the same point measured cold. One point is measured up to
 * its roof.
 *
 * @param size of the chart in pixels: names are placed where they meet no other
 * @param measured the step whose point that is; the fastest of the run when not given
 * @param hidden ids of roofs that are left out
 */
export function rooflineOption(
  lines: readonly SweepLine[],
  roofs: Roofs,
  theme: ChartTheme,
  size: PictureSize = { width: 1000, height: 460 },
  measured = fastestPoint(lines, roofs),
  hidden?: ReadonlySet<string>
) {
  const { drawnRoofs, plain, levels, low, high } = rooflineRoofs(lines, roofs, hidden)
  const rates = rateRange(lines, drawnRoofs, low, plain)
  const scale = scaleFor('rate', rates.most)
  const plot: Plot = { low, high, rates, scale, size }
  const drop = measured && dropOf(measured, roofs)
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'item' as const,
      formatter: ({ seriesId, dataIndex }: { seriesId: string; dataIndex: number }) => {
        const line = lines.find(({ id }) => id === seriesId)
        const point = line?.points[dataIndex]
        if (!line || !point) return ''
        const measured = point.step.measurement!
        const limit = limitOf(point.step, roofs)
        const share = shareOfStep(point.step, roofs)
        return [
          `${lineName(line)}, ${line.over.toUpperCase()} = ${point.at}${isHot(point.step) ? ', hot L2' : ''}`,
          `${digits(measured.tflops)} TFLOP/s`,
          `${digits(intensityOf(point.step.work ?? measured))} FLOP/B`,
          ...(limit && 'share' in share
            ? [`${percent(share.share)} of the ${limit.by} limit`]
            : []),
          ...(limit ? [limit.source] : [])
        ].join('\n')
      }
    },
    grid: margin,
    xAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      logBase: 2,
      name: 'Arithmetic intensity, FLOP per byte of packed operands and C',
      nameLocation: 'middle' as const,
      nameGap: 26,
      min: low,
      max: high,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      logBase: 2,
      name: `Throughput, ${scale.unit}`,
      min: rates.low * scale.factor,
      max: rates.high * scale.factor,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    series: [
      ...drawnRoofs.map((roof) => roofSeries(roof, plot, theme)),
      ...(plain ? [plainSeries(plain, plot, theme)] : []),
      ...levels.map((level) => measuredSeries(level, plot, theme)),
      ...(drop ? [dropSeries(drop, plot, theme)] : []),
      ...lines.flatMap((line) => trail(line, scale, theme)),
      ...coldToHot(lines, scale, theme),
      ...lines.map((line) => dots(line, scale, theme)),
      ...lines.flatMap((line) => rings(line, scale, theme)),
      ...rooflineLabels({ lines, drawnRoofs, plain, levels, drop }, roofs, plot).map((label) =>
        labelSeries(label, theme)
      )
    ]
  }
}

function roofSeries(roof: DrawnRoof, plot: Plot, theme: ChartTheme) {
  return {
    id: `roof ${roof.name}`,
    type: 'line' as const,
    silent: true,
    showSymbol: false,
    // Solid: rated; dashed: measured.
    lineStyle: {
      color: theme.dim,
      width: 1.6,
      type: roof.compute?.basis === 'measured' ? [5, 3] : ('solid' as const)
    },
    data: cornersOf(roof, plot).map(([x, rate]) => [x, rate * plot.scale.factor])
  }
}

/** Thin: no point of the chart is held to it. */
function plainSeries(plain: DrawnRoof, plot: Plot, theme: ChartTheme) {
  const { lineStyle, ...series } = roofSeries(plain, plot, theme)
  return { ...series, lineStyle: { ...lineStyle, width: 0.8 } }
}

const dropSeries = ({ intensity, rates }: Drop, { scale }: Plot, theme: ChartTheme) => ({
  id: 'drop',
  type: 'line' as const,
  silent: true,
  symbol: 'rect',
  // A tick where its roof is.
  symbolSize: (_value: unknown, { dataIndex }: { dataIndex: number }) =>
    dataIndex === 0 ? 0 : [12, 2],
  itemStyle: { color: theme.text },
  z: 4,
  lineStyle: { color: theme.text, width: 1.4, type: [2, 3] },
  data: rates.map((rate) => [intensity, rate * scale.factor])
})

const measuredSeries = ({ name, ends }: MeasuredLevel, { scale }: Plot, theme: ChartTheme) => ({
  id: `measured ${name}`,
  type: 'line' as const,
  silent: true,
  showSymbol: false,
  lineStyle: { color: theme.dim, width: 1, type: [5, 3] },
  data: ends.map(([x, rate]) => [x, rate * scale.factor])
})

const isHot = ({ measurement }: Step): boolean => measurement?.cacheMode === 'hot'

function trail(line: SweepLine, scale: Scale, theme: ChartTheme) {
  if (line.points.length < 2) return []
  return [
    {
      id: `${line.id} trail`,
      type: 'line' as const,
      silent: true,
      symbol: 'none',
      lineStyle: {
        color: line.mark.colour[theme.look],
        width: 1.2,
        opacity: 0.7,
        type: line.mark.hollow ? [5, 3] : ('solid' as const)
      },
      data: line.points.map(({ step }) => placeOf(step, scale))
    }
  ]
}

function dots(line: SweepLine, scale: Scale, theme: ChartTheme) {
  const last = line.points.length - 1
  const large = line.overlay ? 7 : 9
  return {
    id: line.id,
    name: lineName(line),
    type: 'scatter' as const,
    ...markStyle(line.mark, theme),
    symbolSize: (_value: unknown, { dataIndex }: { dataIndex: number }) =>
      dataIndex === last ? large : 4,
    data: line.points.map(({ step }) => placeOf(step, scale))
  }
}

function rings(line: SweepLine, scale: Scale, theme: ChartTheme) {
  const hot = line.points.filter(({ step }) => isHot(step))
  if (hot.length === 0) return []
  return [
    {
      id: `${line.id} hot`,
      type: 'scatter' as const,
      silent: true,
      symbol: 'circle',
      symbolSize: 15,
      itemStyle: {
        color: 'transparent',
        borderColor: line.mark.colour[theme.look],
        borderWidth: 1.4
      },
      data: hot.map(({ step }) => placeOf(step, scale))
    }
  ]
}

const pointKey = (step: Step) => [step.format, step.kernel, shapeKey(step)].join(' ')

/** From each point that was measured cold to the same one measured hot. */
function coldToHot(lines: readonly SweepLine[], scale: Scale, theme: ChartTheme) {
  const cold = new Map<string, Step>()
  const points = lines.flatMap((line) => line.points.map(({ step }) => ({ line, step })))
  for (const { step } of points) if (!isHot(step)) cold.set(pointKey(step), step)
  return points.flatMap(({ line, step }) => {
    const twin = isHot(step) ? cold.get(pointKey(step)) : undefined
    if (!twin) return []
    return [
      {
        id: `${line.id} ${step.index} cold to hot`,
        type: 'line' as const,
        silent: true,
        symbol: 'none',
        lineStyle: { color: line.mark.colour[theme.look], width: 1 },
        data: [placeOf(twin, scale), placeOf(step, scale)]
      }
    ]
  })
}
