/** A chart as a picture. Always light: it ends in papers and tickets. */
import { LegendComponent } from 'echarts/components'
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import './echarts'

export interface PictureSize {
  width: number
  height: number
}

const defaultSize: PictureSize = { width: 1000, height: 560 }
const legendRowHeight = 20
const legendSides = { left: 64, right: 18 }

use([LegendComponent])

/** On the page the legend stands beside the chart; a picture has to carry its own, in as many rows as it takes. */
export function withLegend(
  option: EChartsCoreOption,
  width = defaultSize.width
): EChartsCoreOption {
  const { series = [], grid = {} } = option as {
    series?: { name?: string }[]
    grid?: { top?: number } | { top?: number }[]
  }
  const names = [...new Set(series.flatMap(({ name }) => (name ? [name] : [])))]
  if (names.length === 0) return option
  const rows = legendRows(names, width - legendSides.left - legendSides.right)
  const moved = (one: { top?: number }) => ({
    ...one,
    top: (one.top ?? 0) + 6 + rows * legendRowHeight
  })
  return {
    ...option,
    legend: { data: names, top: 6, ...legendSides, textStyle: { fontSize: 11 } },
    grid: Array.isArray(grid) ? grid.map(moved) : moved(grid)
  }
}

/** The symbol of an entry with the gaps around it, and a generous width of a letter at 11 pixels. */
const entryWidth = (name: string): number => 42 + 6.6 * name.length

function legendRows(names: readonly string[], width: number): number {
  let rows = 1
  let used = 0
  for (const name of names) {
    const wanted = entryWidth(name)
    if (used > 0 && used + wanted > width) {
      rows++
      used = 0
    }
    used += wanted
  }
  return rows
}

/** Panels have heights of their own: what the legend pushes down needs a taller picture. */
function grown(
  size: PictureSize,
  before: EChartsCoreOption,
  after: EChartsCoreOption
): PictureSize {
  const top = (option: EChartsCoreOption) => {
    const { grid } = option as { grid?: unknown }
    return Array.isArray(grid) ? ((grid as { top?: number }[])[0]?.top ?? 0) : 0
  }
  return { ...size, height: size.height + top(after) - top(before) }
}

export function chartSvg(option: EChartsCoreOption, size = defaultSize): string {
  use([SVGRenderer])
  const shown = withLegend(option, size.width)
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...grown(size, option, shown) })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...shown })
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}

export async function chartPng(
  option: EChartsCoreOption,
  size = defaultSize
): Promise<Uint8Array<ArrayBuffer>> {
  const canvas = document.createElement('canvas')
  const shown = withLegend(option, size.width)
  const chart = init(canvas as unknown as HTMLElement, null, {
    devicePixelRatio: 2,
    ...grown(size, option, shown)
  })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...shown })
    const blob = await new Promise<Blob | null>((resolve) =>
      chart.renderToCanvas({ pixelRatio: 2 }).toBlob(resolve)
    )
    if (!blob) throw new Error('The browser could not make a PNG of the chart.')
    return new Uint8Array(await blob.arrayBuffer())
  } finally {
    chart.dispose()
  }
}
