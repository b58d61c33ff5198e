/** The charts of a report: the same that the page shows of the run, as SVG. */
import { baselineChoices, ratioTo, usualBaseline } from '../charts/baseline'
import { dotPlot, hasOnePlace } from '../charts/dotPlot'
import { dotPlotHeight, dotPlotOption } from '../charts/dotPlotOption'
import { drawSvg } from '../charts/drawSvg'
import { errorMapOption } from '../charts/errorMap'
import { laidOutSweep, sweepChartOption } from '../charts/sweepChart'
import { paperTheme } from '../charts/paperTheme'
import { asPicture, type ChartOption } from '../charts/picture'
import { rooflineOption } from '../charts/roofline'
import { dimensionOf, isGeometric } from '../charts/sweepAxis'
import { sweepLines } from '../charts/sweepSeries'
import type { Run, Step } from '../contract/run'
import { isLedByRead } from '../measurement/readShare'
import { roofsOfRun } from '../measurement/roofs'
import { toleranceShareOf } from '../measurement/validationFigures'

export interface ReportChart {
  title: string
  /** How to read it. */
  note: string
  svg: string
}

/** In pixels: letters of 11 are read on A4 still. */
const width = 820
const rooflineHeight = 380

/** Throughput and roofline of what was timed; none of a validation. */
export function speedCharts(run: Run): ReportChart[] {
  const lines = sweepLines([{ run, title: '', overlay: false }])
  if (lines.length === 0) return []
  const roofs = { ...roofsOfRun(run), entered: {} }
  const choices = baselineChoices(lines)
  const baseline = choices.find(({ id }) => id === usualBaseline(choices))
  const ratioOf = ratioTo(baseline?.id ?? '', lines)
  const isLed = isLedByRead(run.steps, run.device)
  const metric = isLed ? ('bandwidth' as const) : ('tflops' as const)
  /** Ratios are of rates. */
  const compared = isLed ? undefined : baseline
  const draw = (option: ChartOption, height: number, legend = true) => {
    const picture = asPicture(option, { width, height }, { legend })
    return drawSvg(picture.option, picture.size)
  }
  const roofline = {
    title: 'Roofline',
    note: 'a point is judged by the lowest roof over it: the peak of its instruction, or bandwidth times its intensity',
    svg: draw(
      rooflineOption(lines, roofs, paperTheme, { width, height: rooflineHeight }),
      rooflineHeight,
      false
    )
  }
  if (hasOnePlace(lines)) {
    const plot = dotPlot(lines, metric, roofs, compared && ratioOf)
    const option = dotPlotOption(plot, metric, paperTheme, compared?.short)
    const speed = {
      title: `Speed, ${plot.unit}`,
      note: 'dot: median, bar: quartiles, tick: what the roofline allows, hollow: reference only',
      svg: draw(option, dotPlotHeight(plot))
    }
    return [speed, roofline]
  }
  const chartChoices = {
    metric,
    logX: isGeometric(lines),
    logY: false,
    roofs,
    apart: true,
    width,
    baseline: compared && { short: compared.short, ratioOf }
  }
  const speed = {
    title: `Speed over ${dimensionOf(lines).toUpperCase()}`,
    note: 'line: median, band: quartiles, dashed: reference only',
    svg: draw(
      sweepChartOption(lines, chartChoices, paperTheme),
      laidOutSweep(lines, chartChoices).facets.height
    )
  }
  return [speed, roofline]
}

const mostMaps = 6
const mapSize = { width: 320, height: 280 }

/** Where in C the errors of a validation are: what failed first, then what came nearest to its tolerance. */
export function errorMaps(run: Run): ReportChart[] {
  if (run.kind !== 'validate') return []
  const share = ({ validation }: Step) => toleranceShareOf(validation!) ?? 0
  const failed = ({ disposition }: Step) => Number(disposition === 'incorrect')
  return run.steps
    .filter(({ validation, baseline }) => validation && !baseline && validation.errorMap.length > 0)
    .sort((a, b) => failed(b) - failed(a) || share(b) - share(a))
    .slice(0, mostMaps)
    .map((step) => ({
      title: `${step.format} ${step.kernel}`,
      note: `tiles of ${step.validation!.tileRows} × ${step.validation!.tileCols}`,
      svg: drawSvg(errorMapOption(step.validation!, paperTheme, step), mapSize)
    }))
}
