/** One metric of a sweep over K, M or N: panels, axes and what stands in them, as one option of a chart. */
import type { Step } from '../contract/run'
import { formatSymbol, symbolCharacters } from '../measurement/marks'
import { tick, tickOfK } from '../units'
import { facetsOf, type Facets, type Panel } from './facets'
import { ratedRoofs } from './ratedRoofs'
import { dimensionOf, placeRange, placesOf, placeTicks, valueAxis } from './sweepAxis'
import type { SweepChartChoices } from './sweepChartChoices'
import { commonKernel, nameColumnOf } from './lineNames'
import { largestRatio, namedLines, panelSeries, ratioSeries } from './sweepChartLines'
import { besidePointer, tooltipLook, tooltipText, type Hit } from './sweepChartTooltip'
import { figureOf, metricTitle, sweepScale, type Dimension, type SweepLine } from './sweepSeries'
import { axisStyle, baseOption, type ChartTheme } from './theme'

export type { SweepChartChoices } from './sweepChartChoices'

export const pictureWidth = 1000

const facetsFor = (
  lines: readonly SweepLine[],
  { metric, baseline, apart, width = pictureWidth }: SweepChartChoices,
  most?: number
): Facets =>
  facetsOf(lines, {
    ...{ width, apart: apart === true, most },
    withRatio: baseline !== undefined && metric === 'tflops'
  })

/**
 * As many panels side by side as fit; fewer where names of lines would else stand nowhere: wider ones have room for a column
 * of names.
 */
export function laidOutSweep(lines: readonly SweepLine[], choices: SweepChartChoices) {
  const { metric, logY } = choices
  const scale = sweepScale(lines, metric)
  const figure = (step: Step) => figureOf(step, metric, choices.roofs)
  const roofsOf = (of: readonly SweepLine[]) =>
    metric === 'tflops' ? ratedRoofs(of, choices.roofs, scale.factor) : []
  const shared = {
    ...{ figure, scale, choices, roofsOf, places: placesOf(lines) },
    axis: valueAxis(lines, figure, scale.factor, logY)
  }
  const layOut = (most?: number) => {
    const facets = facetsFor(lines, choices, most)
    const context = { ...shared, several: facets.panels.length > 1 }
    const names = nameColumnOf(facets.panels, (panel) => namedLines(panel, context), context)
    return { facets, context, nameColumn: names.column, lost: names.lost }
  }
  let laid = layOut()
  while (laid.lost && laid.facets.columns > 1) laid = layOut(laid.facets.columns - 1)
  return laid
}

/** One metric over the dimension of the lines, a line per kernel and format, with the band from q1 to q3 and its name at its end. */
export function sweepChartOption(
  lines: readonly SweepLine[],
  choices: SweepChartChoices,
  theme: ChartTheme,
  { facets: whole, context, nameColumn } = laidOutSweep(lines, choices)
) {
  const { metric, logX, logY, baseline } = choices
  const { scale, axis, places } = context
  const panels = whole.panels.map((panel) => ({ ...panel, width: panel.width - nameColumn }))
  const facets: Facets = { ...whole, panels }
  const ratios = panels.filter(({ ratioHeight }) => ratioHeight > 0)
  const mostShownRatio = Math.max(
    1.2,
    1.06 * (baseline ? largestRatio(lines, baseline.ratioOf) : 0)
  )

  const grids = [
    ...panels.map(({ left, width, top, height }) => ({ left, width, top, height, ...asTold })),
    ...ratios.map(({ left, width, ratioTop, ratioHeight }) => ({
      left,
      width,
      top: ratioTop,
      height: ratioHeight,
      ...asTold
    }))
  ]
  const xAxis = grids.map((grid, gridIndex) => {
    const ticks = placeTicks(lines, logX, grid.width)
    return {
      ...axisStyle(theme),
      gridIndex,
      type: logX ? ('log' as const) : ('value' as const),
      logBase: 2,
      ...placeRange(places),
      axisLabel: { color: theme.dim, fontSize: 11, customValues: ticks, formatter: tickOfK },
      axisTick: { show: true, customValues: ticks, lineStyle: { color: theme.grid } },
      splitLine: { show: false }
    }
  })
  const yAxis = [
    ...panels.map((panel, gridIndex) => ({
      ...axisStyle(theme),
      gridIndex,
      type: logY ? ('log' as const) : ('value' as const),
      ...axis,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        formatter: tick,
        show: isFirstOfRow(panels, gridIndex)
      },
      name: panelTitle(panel, gridIndex, panels, `${metricTitle[metric]}, ${scale.unit}`),
      nameTextStyle: {
        color: theme.dim,
        fontSize: 11,
        align: 'left' as const,
        rich: { format: { color: theme.text, fontSize: 12, fontWeight: 'bold' as const } }
      },
      nameGap: 14
    })),
    ...ratios.map((_panel, index) => ({
      ...axisStyle(theme),
      gridIndex: panels.length + index,
      type: 'value' as const,
      min: 0,
      max: mostShownRatio,
      splitNumber: 3,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        showMaxLabel: false,
        formatter: (value: number) => `${tick(value)} ×`,
        show: isFirstOfRow(panels, index)
      },
      name: ratioTitle(panels, index, baseline!, dimensionOf(lines)),
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      nameGap: 10
    }))
  ]
  const series = panels.flatMap((panel, index) =>
    panelSeries(panel, index, { ...context, theme, nameColumn })
  )
  return {
    ...baseOption(theme),
    axisPointer: { link: [{ xAxisIndex: 'all' as const }] },
    tooltip: {
      ...baseOption(theme).tooltip,
      ...tooltipLook(theme),
      trigger: 'axis' as const,
      axisPointer: { type: 'line' as const, lineStyle: { color: theme.dim, type: 'dashed' } },
      position: besidePointer,
      formatter: (hits: Hit[]) => tooltipText(hits, lines, choices, facets, axis, scale)
    },
    grid: grids,
    xAxis,
    yAxis,
    series: [
      ...series,
      ...ratios.flatMap((panel, index) =>
        ratioSeries(panel, panels.length + index, baseline!.ratioOf, mostShownRatio, theme)
      )
    ]
  }
}

/** Panels have room for their labels: ECharts would else measure every one of them twice to see that. */
const asTold = { outerBoundsMode: 'none' as const }

const isFirstOfRow = (panels: readonly Panel[], index: number) =>
  index === 0 || panels[index]!.left <= panels[0]!.left

function panelTitle(panel: Panel, index: number, panels: readonly Panel[], what: string): string {
  if (panels.length === 1) return what
  const sign = symbolCharacters[formatSymbol(panel.format).symbol]
  const kernel = commonKernel(panel.lines)
  const title = `{format|${sign} ${panel.format}}${kernel === '' ? '' : ` ${kernel}`}`
  return isFirstOfRow(panels, index) ? `${title}   ${what}` : title
}

function ratioTitle(
  panels: readonly Panel[],
  index: number,
  { short, ratioOf }: NonNullable<SweepChartChoices['baseline']>,
  over: Dimension
): string {
  const { format, lines } = panels[index]!
  if (largestRatio(lines, ratioOf) === 0)
    return `no ratio: ${short} was not measured${format === '' ? '' : ` in ${format}`}`
  return isFirstOfRow(panels, index) ? `× ${short} at the same ${over.toUpperCase()}` : ''
}
