/** A chart as a picture. Always light: it ends in papers and tickets. */
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import './echarts'

export interface PictureSize {
  width: number
  height: number
}

const defaultSize: PictureSize = { width: 1000, height: 560 }

export function chartSvg(option: EChartsCoreOption, size = defaultSize): string {
  use([SVGRenderer])
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...option })
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
    chart.setOption({ backgroundColor: '#ffffff', ...option })
    const blob = await new Promise<Blob | null>((resolve) =>
      chart.renderToCanvas({ pixelRatio: 2 }).toBlob(resolve)
    )
    if (!blob) throw new Error('The browser could not make a PNG of the chart.')
    return new Uint8Array(await blob.arrayBuffer())
  } finally {
    chart.dispose()
  }
}
