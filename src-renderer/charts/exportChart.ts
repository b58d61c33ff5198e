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
const legendHeight = 26

use([LegendComponent])

/** On the page the legend stands beside the chart; a picture has to carry its own. */
export function withLegend(option: EChartsCoreOption): EChartsCoreOption {
  const { series = [], grid = {} } = option as {
    series?: { name?: string }[]
    grid?: { top?: number }
  }
  const names = [...new Set(series.flatMap(({ name }) => (name ? [name] : [])))]
  return {
    ...option,
    legend: { data: names, top: 6, right: 18, textStyle: { fontSize: 11 } },
    grid: { ...grid, top: (grid.top ?? 0) + legendHeight }
  }
}

export function chartSvg(option: EChartsCoreOption, size = defaultSize): string {
  use([SVGRenderer])
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...withLegend(option) })
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
    chart.setOption({ backgroundColor: '#ffffff', ...withLegend(option) })
    const blob = await new Promise<Blob | null>((resolve) =>
      chart.renderToCanvas({ pixelRatio: 2 }).toBlob(resolve)
    )
    if (!blob) throw new Error('The browser could not make a PNG of the chart.')
    return new Uint8Array(await blob.arrayBuffer())
  } finally {
    chart.dispose()
  }
}
