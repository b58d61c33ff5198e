import type { RatioOf } from './baseline'
import type { Roofs } from './limits'
import type { SweepMetric } from './sweepSeries'

export interface SweepChartChoices {
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
