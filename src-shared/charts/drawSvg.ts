/** Options of charts as SVG text, by ECharts' own server-side drawing: no browser and no DOM. */
import { CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import {
  GridComponent,
  LegendComponent,
  TitleComponent,
  VisualMapPiecewiseComponent
} from 'echarts/components'
import { init, use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { SVGRenderer } from 'echarts/renderers'
import type { ChartOption, PictureSize } from './picture'

use([
  CustomChart,
  GridComponent,
  HeatmapChart,
  LabelLayout,
  LegendComponent,
  LineChart,
  ScatterChart,
  SVGRenderer,
  TitleComponent,
  VisualMapPiecewiseComponent
])

export function drawSvg(option: ChartOption, size: PictureSize): string {
  // Nobody points at a picture.
  const shown = { ...option, tooltip: undefined, axisPointer: undefined }
  delete shown.tooltip
  delete shown.axisPointer
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption({ backgroundColor: '#ffffff', ...shown })
    // The style sheet has nothing but how marks look under a pointer.
    return chart.renderToSVGString().replace(/<style[\s\S]*?<\/style>/g, '')
  } finally {
    chart.dispose()
  }
}
