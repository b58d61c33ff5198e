/** What the parts of a chart over K, M or N know of the whole. */
import type { FigureOfStep, ValueAxis } from './sweepAxis'
import type { SweepChartChoices } from './sweepChartChoices'
import type { RatedRoof } from './ratedRoofs'
import type { SweepLine } from './sweepSeries'
import type { ChartTheme } from './theme'

export interface PanelContext {
  figure: FigureOfStep
  scale: { factor: number; unit: string }
  axis: ValueAxis
  choices: SweepChartChoices
  theme: ChartTheme
  several: boolean
  /** What all panels run over. */
  places: readonly number[]
  /** Pixels beside each panel in which its names stand; 0: they stand at the ends of its lines. */
  nameColumn: number
  /** What each instruction reaches, on the value axis; none of other metrics than rates. */
  roofsOf: (lines: readonly SweepLine[]) => readonly RatedRoof[]
}

/** Of ECharts: from data to pixels. */
export interface RenderApi {
  coord(point: [number, number]): [number, number]
}
