/** The card beside the pointer in a chart over K, M or N: the nearest line first, never over what is pointed at. */
import { band, digits, tick, times } from '../units'
import type { Facets, Panel } from './facets'
import { shareOfAxis, type ValueAxis } from './sweepAxis'
import type { SweepChartChoices } from './sweepChartChoices'
import { limitOf, type Roofs } from './limits'
import {
  figureOf,
  lineName,
  signOf,
  type Figure,
  type SweepLine,
  type SweepPoint
} from './sweepSeries'
import type { ChartTheme } from './theme'

const mostTooltipLines = 8

const cardColour = (theme: ChartTheme) => ({
  backgroundColor: theme.surface,
  borderColor: theme.grid,
  borderWidth: 1,
  textStyle: { color: theme.text, fontSize: 11, fontFamily: theme.font, lineHeight: 17 }
})

/** Signs in the colours of their lines: a card on the panel's own surface, where those colours have their contrast. */
export function tooltipLook(theme: ChartTheme) {
  return { ...cardColour(theme), padding: [8, 10] }
}

/** Right of the pointer, else left, never over what is pointed at. */
export function besidePointer(
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
export interface Hit {
  seriesId: string
  dataIndex: number
  marker?: string
}

export function tooltipText(
  hits: Hit[],
  lines: readonly SweepLine[],
  { metric, roofs, logY, baseline, pointer }: SweepChartChoices,
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
  const pixel = (value: number) => shown.top + shown.height * (1 - shareOfAxis(value, axis, logY))
  const distance = ({ figure }: { figure: Figure }) =>
    at ? Math.abs(pixel(figure.value * factor) - at.y) : -figure.value
  found.sort((a, b) => distance(a) - distance(b))
  const rows = found.slice(0, mostTooltipLines).map(({ line, point, figure, marker }) => {
    // A hollow mark's disc would have the colour of the card.
    const sign = line.mark.hollow || !marker ? `${signOf(line)} ` : marker
    const name = panel
      ? [line.kernel, line.variant].filter(Boolean).join(', ') +
        (line.overlay ? ` (${line.runTitle})` : '')
      : lineName(line)
    const ratio =
      baseline && metric === 'tflops' ? `   ${times(baseline.ratioOf(line, point.step))}` : ''
    return `${sign}${name}  ${digits(figure.value * factor)}${ratio}`
  })
  const [{ line, point, figure }] = found as [(typeof found)[number]]
  const more = found.length - rows.length
  const quartiles = `q1–q3 ${band(figure.low * factor, figure.high * factor)} ${unit}`
  return [
    `${line.over.toUpperCase()} = ${tick(point.at)}   ${panel ? `${panel.format}   ` : ''}${quartiles}`,
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
