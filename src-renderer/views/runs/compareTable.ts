/** Two or more runs point by point: the first is the baseline. */
import type { Run } from '@shared/contract/run'
import { compareRuns, comparisonDoubts, type ComparedPoint } from '@shared/measurement/compareRuns'
import type { Verdict } from '@shared/measurement/verdict'
import type { Column } from '../../components/tableColumns'
import { digits, ratio, scaleFor, shape } from '@shared/units'

export interface ComparedRow extends ComparedPoint {
  runId: string
  runTitle: string
}

export interface Compared {
  rows: ComparedRow[]
  summaries: ComparedSummary[]
}

export interface ComparedSummary {
  runId: string
  runTitle: string
  verdicts: Record<Verdict, number>
  /** Geometric mean of the time ratios: below 1 is faster. NaN without common points. */
  meanRatio: number
  onlyBaseline: number
  onlyTested: number
  /** Why the numbers may not be comparable. */
  doubts: string[]
}

interface Named {
  run: Run
  title: string
}

export function compareAll(baseline: Named, tested: readonly Named[]): Compared {
  const rows: ComparedRow[] = []
  const summaries = tested.map(({ run, title }) => {
    const points = compareRuns(baseline.run, run)
    rows.push(...points.map((point) => ({ ...point, runId: run.id, runTitle: title })))
    return summarize(baseline.run, run, title, points)
  })
  return { rows, summaries }
}

function summarize(
  baseline: Run,
  run: Run,
  runTitle: string,
  points: readonly ComparedPoint[]
): ComparedSummary {
  const verdicts: Record<Verdict, number> = { fast: 0, slow: 0, same: 0, ambiguous: 0 }
  for (const { verdict } of points) verdicts[verdict]++
  const logs = points.reduce((sum, { ratio }) => sum + Math.log(ratio), 0)
  const measured = (of: Run) => of.steps.filter(({ measurement }) => measurement).length
  return {
    runId: run.id,
    runTitle,
    verdicts,
    meanRatio: points.length > 0 ? Math.exp(logs / points.length) : NaN,
    onlyBaseline: measured(baseline) - points.length,
    onlyTested: measured(run) - points.length,
    doubts: comparisonDoubts(baseline, run)
  }
}

const order: Record<Verdict, number> = { slow: 0, ambiguous: 1, same: 2, fast: 3 }

export function compareColumns(
  rows: readonly ComparedRow[],
  withRun: boolean
): Column<ComparedRow>[] {
  const time = scaleFor('time', Math.max(0, ...rows.map(({ baselineNs }) => baselineNs)))
  const columns: (Column<ComparedRow> | false)[] = [
    withRun && { id: 'run', title: 'Run', value: ({ runTitle }) => runTitle },
    { id: 'format', title: 'Format', value: ({ format }) => format, width: 'minmax(90px, 0.8fr)' },
    { id: 'kernel', title: 'Kernel', value: ({ kernel }) => kernel },
    {
      id: 'shape',
      title: 'M × N × K',
      value: ({ m, n, k }) => `${m}x${n}x${k}`,
      text: ({ m, n, k }) => shape(m, n, k),
      width: 'minmax(140px, 1fr)'
    },
    {
      id: 'baseline',
      title: 'Baseline',
      unit: time.unit,
      numeric: true,
      value: ({ baselineNs }) => baselineNs * time.factor,
      text: ({ baselineNs }) => digits(baselineNs * time.factor)
    },
    {
      id: 'tested',
      title: 'Tested',
      unit: time.unit,
      numeric: true,
      value: ({ testedNs }) => testedNs * time.factor,
      text: ({ testedNs }) => digits(testedNs * time.factor)
    },
    {
      id: 'ratio',
      title: 'Time ratio',
      numeric: true,
      width: 'minmax(150px, 0.9fr)',
      value: ({ ratio }) => ratio,
      text: (row) => ratio(row.ratio)
    },
    {
      id: 'verdict',
      title: 'Verdict',
      width: '128px',
      value: ({ verdict }) => order[verdict],
      text: ({ verdict }) => verdict.toUpperCase()
    },
    { id: 'reason', title: 'Reason', value: ({ reason }) => reason, width: 'minmax(220px, 2fr)' }
  ]
  return columns.filter((column) => column !== false)
}
