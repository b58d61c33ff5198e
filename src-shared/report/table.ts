import { groupsText } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { dispositionWords } from '../measurement/outcome'
import { layerName, layersOf, usesOf } from '../measurement/modelTime'
import { peersOf, sustainedRate } from '../measurement/ratios'
import { isLedByRead, shareOfRead } from '../measurement/readShare'
import { roofsOfRun } from '../measurement/roofs'
import { ownLaunchNs, passedByAllowance, ulpsAboveRounding } from '../measurement/validationFigures'

/** One column of a run's table: the same in the terminal, in CSV, in Markdown and in the HTML report. */
export interface Column {
  title: string
  /** Unit, empty for text and counts. */
  unit: string
  text(step: Step): string
  align: 'left' | 'right'
}

const left = (title: string, text: (step: Step) => string): Column => ({
  title,
  unit: '',
  text,
  align: 'left'
})
const right = (title: string, unit: string, text: (step: Step) => string): Column => ({
  title,
  unit,
  text,
  align: 'right'
})

/** Three significant digits, scientific where that is shorter; '-' when there is no value. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '-'
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return '0'
  const magnitude = Math.abs(value)
  return magnitude >= 0.01 && magnitude < 1e6
    ? String(Number(value.toPrecision(4)))
    : value.toExponential(2)
}

const problem: Column[] = [
  left('format', (step) => step.format),
  left('kernel', (step) => step.kernel),
  right('M', '', (step) => String(step.m)),
  right('N', '', (step) => String(step.n)),
  right('K', '', (step) => String(step.k)),
  left('result', (step) => dispositionWords[step.disposition])
]

export const validateColumns: Column[] = [
  ...problem,
  right('max abs', '', (step) => figure(step.validation?.maxAbs)),
  right('max rel', '', (step) => figure(step.validation?.maxRel)),
  right('norm-wise', '', (step) => figure(step.validation?.normwise)),
  right('outside', '', (step) => figure(step.validation?.elementsOutside)),
  right('of tolerance', '%', (step) => percentOf(step.validation?.maxToleranceShare)),
  right('above rounding', 'ulp', (step) => figure(ulpsAboveRounding(step))),
  right('by allowance', '', (step) =>
    figure(step.validation && passedByAllowance(step.validation))
  ),
  // What the kernel's own launches took; the step has operands, reference, comparison and scale checks too.
  right('kernel', 'us', (step) => microseconds(ownLaunchNs(step.validation))),
  right('step', 's', (step) => step.seconds.toFixed(2))
]

const rate = right('rate', 'TFLOP/s', (step) => figure(step.measurement?.tflops))
const memory = right('memory', 'GB/s', (step) => figure(step.measurement?.gbytesPerSecond))

export const sweepColumns: Column[] = [
  ...problem,
  right('median', 'us', (step) => microseconds(step.measurement?.timeNs.median)),
  right('q1', 'us', (step) => microseconds(step.measurement?.timeNs.q1)),
  right('q3', 'us', (step) => microseconds(step.measurement?.timeNs.q3)),
  right('n', '', (step) => figure(step.measurement?.timeNs.samples)),
  rate,
  memory,
  left('notes', (step) => step.measurement?.badges.join(', ') ?? step.reason)
]

const percentOf = (share: number | undefined) =>
  figure(share === undefined ? undefined : share * 100)

function microseconds(ns: number | undefined): string {
  return ns === undefined || Number.isNaN(ns) ? '-' : (ns / 1e3).toFixed(2)
}

type Tabled = Pick<Run, 'kind' | 'steps' | 'spec' | 'device' | 'roofs'>

/** A sweep is compared with the peers that were timed in it (src-shared/measurement/ratios.ts). */
export function columnsOf(run: Tabled): Column[] {
  const { shapes } = run.spec
  const plain = run.kind === 'validate' ? validateColumns : sweepColumnsOf(run)
  const chosen = run.steps.some(({ choice }) => choice) ? withChoice(plain) : plain
  const columns = run.steps.some(({ groups }) => groups) ? withGroups(chosen) : chosen
  if (!shapes) return columns
  const layers = left('layer', (step) => layersOf(run.spec, step).map(layerName).join(', '))
  const uses = right('uses', '', (step) =>
    figure(layersOf(run.spec, step).reduce((sum, row) => sum + usesOf(row), 0))
  )
  return [columns[0]!, layers, uses, ...columns.slice(1)]
}

/** Behind K: '4 groups of 8,192 rows, contiguous'. */
const withGroups = (columns: readonly Column[]): Column[] =>
  columns.toSpliced(
    columns.findIndex(({ title }) => title === 'K') + 1,
    0,
    left('groups', ({ groups }) => (groups ? groupsText(groups) : ''))
  )

/** Behind the kernel: what `auto` expected of the one it chose. */
const withChoice = (columns: readonly Column[]): Column[] =>
  columns.toSpliced(
    columns.findIndex(({ title }) => title === 'kernel') + 1,
    0,
    right('auto predicts', 'us', ({ choice }) => microseconds(choice?.predictedNs))
  )

/** With few rows of A bandwidth comes first, and what it is of a plain read. */
function sweepColumnsOf(run: Tabled): Column[] {
  const ratios = ratioColumns(peersOf(run))
  const [before, after] = [
    sweepColumns.slice(0, -3),
    [...sustainedColumns(run), ...sweepColumns.slice(-1)]
  ]
  if (!isLedByRead(run.steps, run.device)) return [...before, rate, ...ratios, memory, ...after]
  const roofs = roofsOfRun(run)
  const ofRead = right('of read', '%', (step) => percentOf(shareOfRead(step, roofs)))
  return [...before, memory, ofRead, rate, ...ratios, ...after]
}

const ratioColumns = (peers: ReturnType<typeof peersOf>): Column[] =>
  peers
    .filter(({ isThere }) => isThere)
    .map(({ title, ratioOf }) => right(title, '', (step) => ratioText(ratioOf(step))))

/** Where the sweep ran kernels back to back too: what they reach at the power that the device keeps up. */
function sustainedColumns(run: Tabled): Column[] {
  if (!run.steps.some((step) => sustainedRate(step) !== undefined)) return []
  const hasPower = run.steps.some(({ measurement }) => measurement?.sustainedWatts)
  const power = right('power', 'W', ({ measurement }) =>
    figure(measurement?.sustainedWatts || undefined)
  )
  return [
    right('sustained', 'TFLOP/s', (step) => figure(sustainedRate(step))),
    ...ratioColumns(peersOf(run, sustainedRate)).map((column) => ({
      ...column,
      title: `sustained ${column.title}`
    })),
    ...(hasPower ? [power] : [])
  ]
}

const ratioText = (ratio: number | undefined) => (ratio === undefined ? '-' : ratio.toFixed(2))

export function heading(column: Column): string {
  return column.unit ? `${column.title} (${column.unit})` : column.title
}
