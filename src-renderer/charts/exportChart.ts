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
    grid?: { top?: number }
  }
  const names = [...new Set(series.flatMap(({ name }) => (name ? [name] : [])))]
  if (names.length === 0) return option
  const rows = legendRows(names, width - legendSides.left - legendSides.right)
  return {
    ...option,
    legend: { data: names, top: 6, ...legendSides, textStyle: { fontSize: 11 } },
    grid: { ...grid, top: (grid.top ?? 0) + 6 + rows * legendRowHeight }
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

export function chartSvg(option: EChartsCoreOption, size = defaultSize): string {
  use([SVGRenderer])
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...withLegend(option, size.width) })
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
  const chart = init(canvas as unknown as HTMLElement, null, { devicePixelRatio: 2, ...size })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...withLegend(option, size.width) })
    const blob = await new Promise<Blob | null>((resolve) =>
      chart.renderToCanvas({ pixelRatio: 2 }).toBlob(resolve)
    )
    if (!blob) throw new Error('The browser could not make a PNG of the chart.')
    return new Uint8Array(await blob.arrayBuffer())
  } finally {
    chart.dispose()
  }
}
