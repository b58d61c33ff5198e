import type { Step } from '@shared/contract/run'
import {
  familyOf,
  formatSymbol,
  hollowCharacters,
  symbolCharacters
} from '@shared/measurement/marks'
import { digits, tick, tickOfK, times } from '../format/units'
import type { RatioOf } from './baseline'
import { facetsOf, placeLabels, standingOut, type Facets, type Panel } from './facets'
import { limitOf, type Roofs } from './limits'
import {
  drawn,
  figureOf,
  lineName,
  metricTitle,
  sweepScale,
  type Figure,
  type SweepLine,
  type SweepMetric,
  type SweepPoint
} from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

export interface KSweepChoices {
  metric: SweepMetric
  logX: boolean
  logY: boolean
  /** For the share of the limit. */
  roofs: Roofs
  /** A panel for each format, which share the y axis. */
  apart?: boolean
  /** Of the chart, in pixels. */
  width?: number
  /** With one, a chart of ratios stands below. */
  baseline?: { short: string; ratioOf: RatioOf }
  /** Where the pointer is, in pixels of the chart: the tooltip names the nearest line first. */
  pointer?: () => { x: number; y: number }
}

const mostSymbols = 40
const mostTooltipLines = 8
/** With more lines than this in a panel, bands are mud: the tooltip has the quartiles. */
const mostBands = 4
export const pictureWidth = 1000

export function kSweepFacets(lines: readonly SweepLine[], choices: KSweepChoices): Facets {
  return facetsOf(lines, {
    width: choices.width ?? pictureWidth,
    apart: choices.apart === true,
    withRatio: choices.baseline !== undefined && choices.metric === 'tflops'
  })
}

/** One metric over K, a line per kernel and format, with the band from q1 to q3 and its name at its end. */
export function kSweepOption(
  lines: readonly SweepLine[],
  choices: KSweepChoices,
  theme: ChartTheme
) {
  const { metric, logX, logY, baseline } = choices
  const scale = sweepScale(lines, metric)
  const figure = (step: Step) => figureOf(step, metric, choices.roofs)
  const facets = kSweepFacets(lines, choices)
  const { panels } = facets
  const axis = valueAxis(lines, figure, scale.factor, logY)
  const ratios = panels.filter(({ ratioHeight }) => ratioHeight > 0)
  const ks = ksOf(lines)
  const mostShownRatio = Math.max(
    1.2,
    1.06 * (baseline ? largestRatio(lines, baseline.ratioOf) : 0)
  )

  const grids = [
    ...panels.map(({ left, width, top, height }) => ({ left, width, top, height })),
    ...ratios.map(({ left, width, ratioTop, ratioHeight }) => ({
      left,
      width,
      top: ratioTop,
      height: ratioHeight
    }))
  ]
  const xAxis = grids.map((grid, gridIndex) => {
    const ticks = kTicks(lines, logX, grid.width)
    return {
      ...axisStyle(theme),
      gridIndex,
      type: logX ? ('log' as const) : ('value' as const),
      logBase: 2,
      ...kRange(ks),
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
      name: ratioTitle(panels, index, baseline!),
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      nameGap: 10
    }))
  ]
  const series = panels.flatMap((panel, index) =>
    panelSeries(panel, index, {
      figure,
      scale,
      axis,
      ks,
      choices,
      theme,
      several: panels.length > 1
    })
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

const isFirstOfRow = (panels: readonly Panel[], index: number) =>
  index === 0 || panels[index]!.left <= panels[0]!.left

function panelTitle(panel: Panel, index: number, panels: readonly Panel[], what: string): string {
  if (panels.length === 1) return what
  const sign = symbolCharacters[formatSymbol(panel.format).symbol]
  const title = `{format|${sign} ${panel.format}}`
  return isFirstOfRow(panels, index) ? `${title}   ${what}` : title
}

function ratioTitle(
  panels: readonly Panel[],
  index: number,
  { short, ratioOf }: NonNullable<KSweepChoices['baseline']>
): string {
  const { format, lines } = panels[index]!
  if (largestRatio(lines, ratioOf) === 0)
    return `no ratio: ${short} was not measured${format === '' ? '' : ` in ${format}`}`
  return isFirstOfRow(panels, index) ? `× ${short} at the same K` : ''
}

const ksOf = (lines: readonly SweepLine[]): number[] =>
  [...new Set(lines.flatMap(({ points }) => points.map(({ k }) => k)))].sort((a, b) => a - b)

/** A single K stands in the middle of its axis. */
function kRange(ks: readonly number[]): { min: number; max: number } {
  const [first, last] = [ks[0], ks.at(-1)]
  if (first === undefined || last === undefined) return { min: 0, max: 1024 }
  return first === last ? { min: first / 2, max: first * 1.5 } : { min: first, max: last }
}

interface ValueAxis {
  min: number
  max: number
  interval?: number
}

/** The same for all panels, with round steps; from 0, or from a power of ten on a logarithmic axis. */
export function valueAxis(
  lines: readonly SweepLine[],
  figure: FigureOfStep,
  factor: number,
  logarithmic: boolean
): ValueAxis {
  let [least, most] = [Infinity, 0]
  for (const line of lines) {
    for (const { step } of line.points) {
      const value = drawn(figure(step)?.value, factor)
      if (value === null || value <= 0) continue
      least = Math.min(least, value)
      most = Math.max(most, value)
    }
  }
  if (most === 0) return { min: logarithmic ? 1 : 0, max: logarithmic ? 10 : 1 }
  if (logarithmic)
    return { min: 10 ** Math.floor(Math.log10(least)), max: 10 ** Math.ceil(Math.log10(most)) }
  const interval = roundStep((most * 1.1) / 4)
  return { min: 0, max: interval * Math.ceil((most * 1.08) / interval), interval }
}

/** 1, 2, 2.5 or 5 times a power of ten, at least as much as asked. */
function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= wanted) ?? 10)
}

/** Pixels a label of K takes with the gap after it. */
const labelWidth = 46

/** Ticks stand at values of K that were measured, as many as there is room for; first and last always. */
export function kTicks(lines: readonly SweepLine[], logX: boolean, width = 900): number[] {
  const ks = ksOf(lines)
  if (ks.length < 2) return ks
  const distance = labelWidth / Math.max(width, labelWidth * 2)
  const place = (k: number) => (logX ? Math.log2(k) : k)
  const [start, end] = [place(ks[0]!), place(ks.at(-1)!)]
  const share = (k: number) => (place(k) - start) / (end - start)
  const ticks: number[] = []
  // Round values first: 2K, 4K, 6K read better than 1536, 3584.
  const isRound = (k: number) => k % 1024 === 0
  const candidates = ks.slice(0, -1).filter((k, index) => index === 0 || isRound(k))
  for (const k of candidates.length > 2 ? candidates : ks.slice(0, -1)) {
    const before = ticks.at(-1)
    const roomBefore = before === undefined || share(k) - share(before) >= distance
    const roomAfter = before === undefined || 1 - share(k) >= distance
    if (roomBefore && roomAfter) ticks.push(k)
  }
  return [...ticks, ks.at(-1)!]
}

type FigureOfStep = (step: Step) => Figure | undefined

interface PanelContext {
  figure: FigureOfStep
  scale: { factor: number; unit: string }
  axis: ValueAxis
  ks: readonly number[]
  choices: KSweepChoices
  theme: ChartTheme
  several: boolean
}

function panelSeries(panel: Panel, index: number, context: PanelContext) {
  const { figure, scale, choices, theme } = context
  const least = choices.metric === 'time'
  const out = standingOut(
    panel.lines,
    (line) => (least ? -1 : 1) * (figure(line.points.at(-1)!.step)?.value ?? 0),
    familyOf
  )
  const lines = panel.lines.map((line) => ({
    ...lineSeries(line, index, figure, scale.factor, theme, out.has(line.id))
  }))
  const bands =
    panel.lines.length <= mostBands
      ? panel.lines.map((line) => bandSeries(line, index, figure, scale.factor, theme))
      : []
  const labels = lines.length > 0 ? [labelSeries(panel, index, out, context)] : []
  return [...bands, ...lines, ...labels]
}

function lineSeries(
  line: SweepLine,
  panel: number,
  figure: FigureOfStep,
  factor: number,
  theme: ChartTheme,
  standsOut: boolean
) {
  const color = standsOut ? line.mark.colour[theme.look] : theme.grid
  return {
    id: line.id,
    name: lineName(line),
    type: 'line' as const,
    xAxisIndex: panel,
    yAxisIndex: panel,
    ...markStyle(line.mark, theme),
    symbolSize: line.overlay ? 5 : 7,
    showSymbol: standsOut && line.points.length <= mostSymbols,
    sampling: line.points.length > 2000 ? ('lttb' as const) : undefined,
    lineStyle: {
      color,
      width: line.overlay ? 1.2 : 1.8,
      type: line.mark.hollow ? [5, 3] : line.overlay ? [2, 3] : ('solid' as const)
    },
    // What steps back comes forward when it is pointed at.
    emphasis: {
      disabled: standsOut,
      lineStyle: { color: line.mark.colour[theme.look], width: 2 }
    },
    z: line.overlay || !standsOut ? 2 : 3,
    data: line.points.map(({ k, step }) => [k, drawn(figure(step)?.value, factor)])
  }
}

/** Names stand at the ends of their lines, inside the panel, each with its sign. */
function labelSeries(
  panel: Panel,
  index: number,
  out: ReadonlySet<string>,
  { figure, scale, axis, theme, choices, several }: PanelContext
) {
  const ends = panel.lines.flatMap((line) => {
    const last = line.points.findLast(({ step }) => drawn(figure(step)?.value) !== null)
    const value = last && drawn(figure(last.step)?.value, scale.factor)
    if (!out.has(line.id) || !last || value === null || value === undefined) return []
    return [{ line, k: last.k, value, y: panel.height * (1 - shareOf(value, axis, choices.logY)) }]
  })
  const labels = placeLabels(ends)
  return {
    id: `labels ${panel.format}`,
    type: 'scatter' as const,
    silent: true,
    xAxisIndex: index,
    yAxisIndex: index,
    symbolSize: 0,
    tooltip: { show: false },
    z: 5,
    data: labels.flatMap(({ line, offset }) => {
      const end = ends.find((one) => one.line === line)!
      if (offset === undefined) return []
      const name = several ? line.kernel : lineName(line)
      const sign = signOf(line)
      return [
        {
          value: [end.k, end.value],
          label: {
            show: true,
            position: 'left' as const,
            offset: [9, offset],
            color: theme.text,
            fontSize: 11,
            textBorderColor: theme.surface,
            textBorderWidth: 2,
            formatter: `{sign|${sign}} ${name}${line.overlay && several ? ` (${line.runTitle})` : ''} {value|${digits(end.value)}}`,
            rich: {
              sign: { color: line.mark.colour[theme.look], fontSize: 11, textBorderWidth: 0 },
              value: { color: theme.text, fontSize: 11, fontWeight: 'bold' as const }
            }
          }
        }
      ]
    })
  }
}

function shareOf(value: number, { min, max }: ValueAxis, logarithmic: boolean): number {
  if (!logarithmic) return (value - min) / (max - min)
  return (Math.log(value) - Math.log(min)) / (Math.log(max) - Math.log(min))
}

const signOf = ({ mark }: SweepLine): string =>
  (mark.hollow ? hollowCharacters : symbolCharacters)[mark.symbol]

function largestRatio(lines: readonly SweepLine[], ratioOf: RatioOf): number {
  let most = 0
  for (const line of lines)
    for (const { step } of line.points) most = Math.max(most, ratioOf(line, step) ?? 0)
  return most
}

/** Rate over the baseline's at the same K; the number at the end of each line stands right of its panel. */
function ratioSeries(
  panel: Panel,
  index: number,
  ratioOf: RatioOf,
  most: number,
  theme: ChartTheme
) {
  // Numbers that would lie on one another are left to the tooltip; references give way first.
  const named = new Set<string>()
  const taken: number[] = []
  const ends = panel.lines.flatMap((line) => {
    const value = ratioOf(line, line.points.at(-1)!.step)
    return value === undefined || value === 1
      ? []
      : [{ line, y: (panel.ratioHeight * value) / most }]
  })
  for (const { line, y } of ends.sort(
    (a, b) => Number(a.line.mark.hollow) - Number(b.line.mark.hollow)
  )) {
    if (taken.some((other) => Math.abs(other - y) < 11)) continue
    taken.push(y)
    named.add(line.id)
  }
  return panel.lines.flatMap((line) => {
    const data = line.points.map(({ k, step }) => [k, drawn(ratioOf(line, step))])
    const last = data.findLast(([, value]) => value !== null)
    if (!last) return []
    const color = line.mark.colour[theme.look]
    return [
      {
        id: `${line.id} ratio`,
        type: 'line' as const,
        xAxisIndex: index,
        yAxisIndex: index,
        showSymbol: false,
        symbol: 'none',
        tooltip: { show: false },
        lineStyle: {
          color,
          width: line.overlay ? 1 : 1.8,
          type: line.mark.hollow ? [5, 3] : line.overlay ? [2, 3] : ('solid' as const)
        },
        endLabel: {
          show: named.has(line.id),
          color: line.mark.hollow ? theme.dim : theme.text,
          fontSize: 11,
          distance: 4,
          formatter: digits(last[1]!)
        },
        data
      }
    ]
  })
}

interface RenderApi {
  coord(point: [number, number]): [number, number]
}

/** The whole band as one polygon, drawn with the first point. */
function bandSeries(
  line: SweepLine,
  panel: number,
  figure: FigureOfStep,
  factor: number,
  theme: ChartTheme
) {
  const data = line.points.flatMap(({ k, step }) => {
    const of = figure(step)
    const [low, high] = [drawn(of?.low, factor), drawn(of?.high, factor)]
    return low === null || high === null ? [] : [[k, low, high]]
  })
  return {
    id: `${line.id} band`,
    type: 'custom' as const,
    xAxisIndex: panel,
    yAxisIndex: panel,
    silent: true,
    z: 1,
    clip: true,
    encode: { x: 0, y: [1, 2] },
    tooltip: { show: false },
    data,
    renderItem: (params: { dataIndex: number }, api: RenderApi) => {
      if (params.dataIndex !== 0 || data.length < 2) return null
      const upper = data.map(([k, , high]) => api.coord([k!, high!]))
      const lower = data.map(([k, low]) => api.coord([k!, low!])).reverse()
      return {
        type: 'polygon',
        shape: { points: [...upper, ...lower] },
        style: { fill: line.mark.colour[theme.look], opacity: line.overlay ? 0.08 : 0.16 }
      }
    }
  }
}

const cardColour = (theme: ChartTheme) => ({
  backgroundColor: theme.surface,
  borderColor: theme.grid,
  borderWidth: 1,
  textStyle: { color: theme.text, fontSize: 11, fontFamily: theme.font, lineHeight: 17 }
})

/** Signs in the colours of their lines: a card on the panel's own surface, where those colours have their contrast. */
function tooltipLook(theme: ChartTheme) {
  return { ...cardColour(theme), padding: [8, 10] }
}

/** Right of the pointer, else left, never over what is pointed at. */
function besidePointer(
  [x, y]: [number, number],
  _params: unknown,
  _element: unknown,
  _rect: unknown,
  { contentSize, viewSize }: { contentSize: [number, number]; viewSize: [number, number] }
): [number, number] {
  const [width, height] = contentSize
  const right = x + 18
  const left = right + width <= viewSize[0] ? right : Math.max(0, x - 18 - width)
  return [left, Math.max(0, Math.min(y - height / 2, viewSize[1] - height))]
}

/** The panel under the pointer, or the first: the axes are linked, so every panel reports its points. */
function panelAt({ panels }: Facets, x: number, y: number): Panel {
  return (
    panels.find(
      ({ left, width, top, ratioTop, height, ratioHeight }) =>
        x >= left - 8 &&
        x <= left + width + 8 &&
        y >= top - 20 &&
        y <= Math.max(top + height, ratioTop + ratioHeight) + 20
    ) ?? panels[0]!
  )
}

/** `marker`: a disc in the colour of the series, as ECharts writes it. */
interface Hit {
  seriesId: string
  dataIndex: number
  marker?: string
}

function tooltipText(
  hits: Hit[],
  lines: readonly SweepLine[],
  { metric, roofs, logY, baseline, pointer }: KSweepChoices,
  facets: Facets,
  axis: ValueAxis,
  { factor, unit }: { factor: number; unit: string }
): string {
  const at = pointer?.()
  const panel = at && facets.panels.length > 1 ? panelAt(facets, at.x, at.y) : undefined
  const byId = new Map((panel?.lines ?? lines).map((line) => [line.id, line]))
  const found = hits.flatMap(({ seriesId, dataIndex, marker }) => {
    const line = byId.get(seriesId)
    const point = line?.points[dataIndex]
    const figure = point && figureOf(point.step, metric, roofs)
    return line && point && figure ? [{ line, point, figure, marker }] : []
  })
  if (found.length === 0) return ''
  const shown = panel ?? facets.panels[0]!
  const pixel = (value: number) => shown.top + shown.height * (1 - shareOf(value, axis, logY))
  const distance = ({ figure }: { figure: Figure }) =>
    at ? Math.abs(pixel(figure.value * factor) - at.y) : -figure.value
  found.sort((a, b) => distance(a) - distance(b))
  const rows = found.slice(0, mostTooltipLines).map(({ line, point, figure, marker }) => {
    // A hollow mark's disc would have the colour of the card.
    const sign = line.mark.hollow || !marker ? `${signOf(line)} ` : marker
    const name = panel ? line.kernel + (line.overlay ? ` (${line.runTitle})` : '') : lineName(line)
    const ratio =
      baseline && metric === 'tflops' ? `   ${times(baseline.ratioOf(line, point.step))}` : ''
    return `${sign}${name}  ${digits(figure.value * factor)}${ratio}`
  })
  const [{ point, figure }] = found as [(typeof found)[number]]
  const more = found.length - rows.length
  const quartiles = `q1–q3 ${digits(figure.low * factor)}–${digits(figure.high * factor)} ${unit}`
  return [
    `K = ${tick(point.k)}   ${panel ? `${panel.format}   ` : ''}${quartiles}`,
    ...rows,
    ...(more > 0 ? [`and ${more} more, in the table`] : []),
    ...(metric === 'share' ? limitsText(found, roofs) : [])
  ].join('\n')
}

/** Which limit binds, and where it is from, once for all lines that share it. */
function limitsText(found: readonly { point: SweepPoint }[], roofs: Roofs): string[] {
  const texts = found.flatMap(({ point }) => {
    const limit = limitOf(point.step, roofs)
    return limit ? [`limit: ${limit.by}, ${limit.source}`] : []
  })
  return [...new Set(texts)]
}
