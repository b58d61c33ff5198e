import { groupsText } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { layersOf, layerName, modelTimesOf, modelTimeText, usesOf } from '../measurement/modelTime'
import { stepLines } from './stepLines'
import { peersOf } from '../measurement/ratios'
import { shareOfRead } from '../measurement/readShare'
import { roofsOfRun } from '../measurement/roofs'
import { columnsOf, heading, type Column } from './table'

function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** RFC 4180, with raw numbers: what a spreadsheet or pandas reads. */
export function runToCsv(run: Run): string {
  const peers = peersOf(run)
  const roofs = roofsOfRun(run)
  const isGrouped = run.steps.some(({ groups }) => groups)
  const header = [
    'format,kernel,provider,level,m,n,k,result,reason,max_abs,max_rel,normwise,elements_outside',
    'stated_error,error_before_rounding',
    'samples,discarded,min_ns,q1_ns,median_ns,q3_ns,p95_ns,max_ns,mean_ns,stdev_ns',
    'tflops,gbytes_per_second,share_of_read,flops,bytes,mean_mhz,mean_watts,sustained_ns,sustained_watts,joules_per_launch,badges,method,source_hash',
    ...peers.map(({ field }) => field),
    ...(isGrouped ? ['groups'] : []),
    ...(run.spec.shapes ? ['layers', 'uses'] : [])
  ].join(',')
  const rows = run.steps.map((step) => {
    const { validation, measurement } = step
    const time = measurement?.timeNs
    const values = [
      step.format,
      step.kernel,
      step.provider,
      step.level,
      step.m,
      step.n,
      step.k,
      step.disposition,
      step.reason,
      validation?.maxAbs,
      validation?.maxRel,
      validation?.normwise,
      validation?.elementsOutside,
      validation?.statedError,
      validation?.errorBeforeRounding,
      time?.samples,
      time?.discarded,
      ...timesOf(step),
      measurement?.tflops,
      measurement?.gbytesPerSecond,
      shareOfRead(step, roofs),
      measurement?.flops,
      measurement?.bytes,
      measurement?.meanMHz,
      measurement?.meanWatts,
      measurement?.sustainedNs || undefined,
      measurement?.sustainedWatts || undefined,
      measurement?.joulesPerLaunch || undefined,
      measurement?.badges.join(' '),
      measurement?.method,
      step.sourceHash,
      ...peers.map(({ ratioOf }) => ratioOf(step)),
      ...(isGrouped ? [step.groups && groupsText(step.groups)] : []),
      ...(run.spec.shapes ? layersAndUses(run.spec, step) : [])
    ]
    return values.map((value) => csvField(String(value ?? ''))).join(',')
  })
  return [header, ...rows].join('\n') + '\n'
}

/** What is not known is empty. */
function timesOf({ measurement }: Step): (number | undefined)[] {
  if (!measurement) return Array<undefined>(8).fill(undefined)
  const { min, q1, median, q3, p95, max, mean, standardDeviation } = measurement.timeNs
  const times = [min, q1, median, q3, p95, max, mean, standardDeviation]
  return times.map((time) => (Number.isNaN(time) ? undefined : time))
}

function layersAndUses(spec: Run['spec'], step: Step): [string, number] {
  const layers = layersOf(spec, step)
  const uses = layers.reduce((sum, row) => sum + usesOf(row), 0)
  return [layers.map(layerName).join('; '), uses]
}

/** A GitHub-flavoured table of the steps. */
export function runToMarkdown(run: Run): string {
  const columns = columnsOf(run)
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return (
    [
      line(columns.map(heading)),
      line(columns.map((column) => (column.align === 'right' ? '---:' : '---'))),
      ...run.steps.map((step) => line(columns.map((column) => cell(column.text(step))))),
      ...[
        ...stepLines(run).flatMap(({ lines }) => lines),
        ...modelTimesOf(run).map(modelTimeText)
      ].flatMap((line) => ['', line])
    ].join('\n') + '\n'
  )
}

/** A table with aligned columns for a terminal; `widths` keeps a live table's columns where they are. */
export function tableLine(columns: Column[], step: Step | undefined, widths: number[]): string {
  return columns
    .map((column, i) => {
      const text = step ? column.text(step) : heading(column)
      return column.align === 'right' ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)
    })
    .join('  ')
    .trimEnd()
}

/** Widths that fit the headings and these steps. */
export function columnWidths(columns: Column[], steps: readonly Step[]): number[] {
  return columns.map((column) =>
    Math.max(heading(column).length, ...steps.map((step) => column.text(step).length))
  )
}
