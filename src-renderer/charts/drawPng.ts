/** A chart as a PNG, drawn by the browser. Always light: it ends in papers and tickets. */
import { LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import type { ChartOption, PictureSize } from '@shared/charts/picture'
import './echarts'

use([LegendComponent, TitleComponent])

export async function drawPng(
  option: ChartOption,
  size: PictureSize
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
