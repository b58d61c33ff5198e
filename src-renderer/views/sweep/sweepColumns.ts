import type { Run, Step } from '@shared/contract/run'
import type { RatioOf } from '@shared/charts/baseline'
import { shareOfStep, type Roofs } from '@shared/charts/limits'
import { figureOf, sweepScale, type SweepLine } from '@shared/charts/sweepSeries'
import { layerName, layersOf } from '@shared/measurement/modelTime'
import { isLedByRead, readText, shareOfRead } from '@shared/measurement/readShare'
import { sustainedRate } from '@shared/measurement/ratios'
import type { Column } from '../../components/tableColumns'
import { band, count, digits, errorFigure, percent, quantity, text, times } from '@shared/units'

export interface SweepRow {
  run: Run
  runTitle: string
  step: Step
}

/** Columns of the table twin; units are chosen once for all rows. */
export function sweepColumns(
  lines: readonly SweepLine[],
  roofs: Roofs,
  withRun: boolean,
  baseline: { short: string; ratioOf: RatioOf } = { short: '', ratioOf: () => undefined },
  /** Whether a run is of a model's shapes. */
  withLayers = false
): Column<SweepRow>[] {
  const rate = sweepScale(lines, 'tflops')
  const time = sweepScale(lines, 'time')
  const bandwidth = sweepScale(lines, 'bandwidth')
  const lineOf = new Map(lines.flatMap((line) => line.points.map(({ step }) => [step, line])))
  const ratio = (step: Step) => {
    const line = lineOf.get(step)
    return line && baseline.ratioOf(line, step)
  }
  const steps = lines.flatMap(({ points }) => points.map(({ step }) => step))
  const shown = (['m', 'n', 'k'] as const).filter(
    (of) => of === 'k' || new Set(steps.map((step) => step[of])).size > 1
  )
  const number = (value: number | undefined) => (value === undefined ? '–' : digits(value))
  const bandwidthColumn: Column<SweepRow> = {
    id: 'bandwidth',
    title: 'Bandwidth',
    unit: bandwidth.unit,
    numeric: true,
    width: 'minmax(116px, 0.7fr)',
    value: ({ step }) => scaled(figureOf(step, 'bandwidth')?.value, bandwidth.factor),
    text: ({ step }) => number(scaled(figureOf(step, 'bandwidth')?.value, bandwidth.factor))
  }
  const readColumn: Column<SweepRow> = {
    id: 'read',
    title: 'Of read',
    unit: '%',
    numeric: true,
    width: '86px',
    hint: readText(roofs),
    value: ({ step }) => scaled(shareOfRead(step, roofs), 100),
    text: ({ step }) => {
      const share = shareOfRead(step, roofs)
      return share === undefined ? '–' : percent(share).replace(' %', '')
    }
  }
  const isLed = isLedByRead(steps, roofs.device)
  const columns: (Column<SweepRow> | false)[] = [
    withRun && { id: 'run', title: 'Run', value: ({ runTitle }) => runTitle },
    {
      id: 'format',
      title: 'Format',
      value: ({ step }) => step.format,
      width: 'minmax(80px, 0.8fr)'
    },
    {
      id: 'kernel',
      title: 'Kernel',
      value: ({ step }) => step.kernel,
      width: 'minmax(164px, 1.2fr)'
    },
    withLayers && {
      id: 'layer',
      title: 'Layer',
      value: ({ run, step }) => layersOf(run.spec, step).map(layerName).join(', '),
      width: 'minmax(184px, 1.4fr)'
    },
    ...shown.map((of): Column<SweepRow> => ({
      id: of,
      title: of.toUpperCase(),
      numeric: true,
      // '131,072'
      width: '76px',
      value: ({ step }) => step[of],
      text: ({ step }) => count(step[of])
    })),
    ...(isLed ? [bandwidthColumn, readColumn] : []),
    {
      id: 'rate',
      title: 'Rate',
      unit: rate.unit,
      numeric: true,
      width: 'minmax(100px, 0.7fr)',
      value: ({ step }) => scaled(figureOf(step, 'tflops')?.value, rate.factor),
      text: ({ step }) => number(scaled(figureOf(step, 'tflops')?.value, rate.factor))
    },
    {
      id: 'band',
      title: 'q1–q3',
      unit: rate.unit,
      numeric: true,
      width: 'minmax(120px, 0.8fr)',
      value: ({ step }) => {
        const figure = figureOf(step, 'tflops')
        return figure && (figure.high - figure.low) * rate.factor
      },
      text: ({ step }) => {
        const figure = figureOf(step, 'tflops')
        return figure ? band(figure.low * rate.factor, figure.high * rate.factor) : '–'
      }
    },
    baseline.short !== '' && {
      id: 'ratio',
      title: `× ${baseline.short}`,
      numeric: true,
      width: 'minmax(80px, 0.6fr)',
      hint: 'Rate over the baseline at the same format, M, N and K',
      value: ({ step }) => ratio(step),
      text: ({ step }) => times(ratio(step)).replace(' ×', '')
    },
    steps.some((step) => sustainedRate(step) !== undefined) && {
      id: 'sustained',
      title: 'Sustained',
      unit: rate.unit,
      numeric: true,
      width: 'minmax(132px, 0.7fr)',
      hint: 'Back to back for half a second: the rate at the power that the device keeps up',
      value: ({ step }) => scaled(sustainedRate(step), rate.factor),
      text: ({ step }) => number(scaled(sustainedRate(step), rate.factor))
    },
    {
      id: 'share',
      title: 'Of limit',
      unit: '%',
      numeric: true,
      width: '86px',
      hint: "Share of what the kernel's own instruction and memory allow at this arithmetic intensity",
      value: ({ step }) => scaled(figureOf(step, 'share', roofs)?.value, 100),
      text: ({ step }) => {
        const share = figureOf(step, 'share', roofs)?.value
        return share === undefined ? '–' : percent(share).replace(' %', '')
      }
    },
    {
      id: 'time',
      title: 'Time',
      unit: time.unit,
      numeric: true,
      width: 'minmax(72px, 0.6fr)',
      value: ({ step }) => scaled(figureOf(step, 'time')?.value, time.factor),
      text: ({ step }) => number(scaled(figureOf(step, 'time')?.value, time.factor))
    },
    !isLed && bandwidthColumn,
    {
      id: 'error',
      title: 'Error',
      numeric: true,
      width: 'minmax(76px, 0.6fr)',
      hint: 'Norm-wise error against the float64 reference',
      value: ({ step }) => step.validation?.normwise,
      text: ({ step }) => (step.validation ? errorFigure(step.validation.normwise) : '–')
    },
    { id: 'level', title: 'How', value: ({ step }) => step.level, width: '90px' },
    {
      id: 'state',
      title: 'State',
      value: ({ step }) => [step.disposition, ...(step.measurement?.badges ?? [])].join(', '),
      width: 'minmax(124px, 1.2fr)'
    }
  ]
  return columns.filter((column) => column !== false)
}

/** '45 %', 'of 1.98 PFLOP/s by compute; data sheet ...': the share, and what it is a share of. */
export function shareOfLimit(step: Step, roofs: Roofs): { text: string; source: string } {
  const found = shareOfStep(step, roofs)
  if (!('share' in found)) return { text: '–', source: found.reason }
  const { rate, by, source } = found.limit
  return {
    text: percent(found.share),
    source: `of ${text(quantity('rate', rate / 1e12))} by ${by}; ${source}`
  }
}

const scaled = (value: number | undefined, factor: number) =>
  value === undefined ? undefined : value * factor
