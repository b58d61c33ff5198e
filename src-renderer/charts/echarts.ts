/** The parts of ECharts that charts here use; loaded with the first chart. */
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, MarkLineComponent, TooltipComponent } from 'echarts/components'
import { VisualMapPiecewiseComponent } from 'echarts/components'
import { use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { CanvasRenderer } from 'echarts/renderers'

use([
  BarChart,
  CanvasRenderer,
  CustomChart,
  GridComponent,
  HeatmapChart,
  LabelLayout,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
  VisualMapPiecewiseComponent
])
