/**
 * Nsight Compute's CSV: `ncu --csv --page raw` (a column per metric, units in the row below the header) and the page
 * "details" (a row per metric). One node per launch, under its kernel's name: launches of one kernel stay apart, because
 * their shares and averages do not add up; "top" puts together what does.
 */
import { UserError } from '../../errors'
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileDevice } from '../tree/profileTree'
import { CsvRows } from './csvRows'
import type { FileHead } from './fileHead'
import type { OpenedProfile, Parser } from './reader'

/** What a launch was; every other column is a metric. */
const facts: ReadonlyMap<string, string> = new Map([
  ['ID', 'launch'],
  ['Block Size', 'block'],
  ['Grid Size', 'grid'],
  ['Device', 'device_id'],
  ['Stream', 'stream'],
  ['Context', 'context']
])
const identity = [
  'ID',
  'Process ID',
  'Process Name',
  'Host Name',
  'Kernel Name',
  'CC',
  ...facts.keys()
]
const perRow = ['Section Name', 'Metric Name', 'Metric Unit', 'Metric Value']
const headerStart = /^"?ID"?,"?Process ID"?,"?Process Name"?/m
const longestText = 200

/** ncu prints what the program prints, and its own progress, before the table. */
export function isNcuCsv(head: FileHead): boolean {
  return head.kind === 'other' && headerStart.test(head.text) && head.text.includes('Kernel Name')
}

interface Launch {
  kernel: string
  texts: Map<string, string>
  numbers: Map<string, number>
}

const nanoseconds: ReadonlyMap<string, number> = new Map([
  ...['ns', 'nsecond'].map((unit) => [unit, 1] as const),
  ...['us', 'usecond'].map((unit) => [unit, 1e3] as const),
  ...['ms', 'msecond'].map((unit) => [unit, 1e6] as const),
  ...['s', 'sec', 'second'].map((unit) => [unit, 1e9] as const)
])
const byteUnits: ReadonlyMap<string, number> = new Map([
  ['byte', 1],
  ['Kbyte', 1e3],
  ['Mbyte', 1e6],
  ['Gbyte', 1e9],
  ['Tbyte', 1e12]
])

export class NcuCsvParser implements Parser {
  private readonly rows: CsvRows
  private columns: string[] | null = null
  private units: string[] | null = null
  private isPerRow = false
  private readonly launches = new Map<string, Launch>()
  private readonly devices = new Map<string, ProfileDevice>()
  private unsupported = 0

  constructor(private readonly fileName: string) {
    this.rows = new CsvRows(fileName, (cells, line) => this.take(cells, line))
  }

  write(chunk: Uint8Array): void {
    this.rows.write(chunk)
  }

  finish(): OpenedProfile {
    this.rows.finish()
    if (this.launches.size === 0)
      throw new UserError(
        'usage',
        `${this.fileName} is a table of Nsight Compute without a kernel: was any profiled?`
      )
    const tree = new PathTree()
    for (const launch of this.launches.values())
      this.fill(tree, tree.newChild(0, launch.kernel), launch)
    const made = tree.finish('ncu', [...this.devices.values()], true)
    if (this.unsupported > 0)
      made.warnings.push(`${this.unsupported} values that ncu gives as n/a were passed over.`)
    return { tree: made, timeline: null }
  }

  private fill(tree: PathTree, node: number, { numbers, texts }: Launch): void {
    tree.addNumber(node, countMetric, 1, false)
    for (const [name, value] of numbers) tree.addNumber(node, name, value, !Number.isInteger(value))
    const ns = numbers.get(timeMetric)
    if (ns !== undefined) tree.addSample(node, ns)
    for (const [name, value] of texts) tree.setText(node, name, value)
    tree.setText(node, 'device_type', 'CUDA')
    // What the launch moved to and from DRAM, for rates: recorded as one metric or as two.
    const whole = numbers.get('dram__bytes.sum (byte)')
    const read = numbers.get('dram__bytes_read.sum (byte)')
    const written = numbers.get('dram__bytes_write.sum (byte)')
    const moved =
      whole ?? (read !== undefined && written !== undefined ? read + written : undefined)
    if (moved !== undefined) tree.addNumber(node, 'bytes', Math.round(moved), false)
  }

  private take(cells: string[], line: number): void {
    if (!this.columns) {
      if (cells[0] !== 'ID' || cells[1] !== 'Process ID') return
      this.columns = cells
      this.isPerRow = perRow.every((column) => cells.includes(column))
      return
    }
    const { columns } = this
    // ncu ends with lines of its own: '==PROF== Disconnected from process 4711'.
    if (cells.length === 1 && cells[0]!.startsWith('==')) return
    if (!this.isPerRow && !this.units) {
      this.units = cells
      return
    }
    // Rows of metrics end early where no rule follows.
    if (cells.length > columns.length || cells.length < identity.length)
      throw new UserError(
        'usage',
        `${this.fileName}: line ${line}: expected ${columns.length} values, found ${cells.length}.`
      )
    const cell = (column: string) => cells[columns.indexOf(column)] ?? ''
    const launch = this.launchOf(cell)
    if (this.isPerRow)
      return this.measure(
        launch,
        cell('Metric Name'),
        cell('Metric Unit'),
        cell('Metric Value'),
        line
      )
    columns.forEach((column, at) => {
      if (!identity.includes(column))
        this.measure(launch, column, this.units![at] ?? '', cells[at] ?? '', line)
    })
  }

  private launchOf(cell: (column: string) => string): Launch {
    const id = cell('ID')
    const key = `${cell('Process ID')}\0${id}`
    let launch = this.launches.get(key)
    if (!launch) {
      launch = { kernel: cell('Kernel Name'), texts: new Map(), numbers: new Map() }
      this.launches.set(key, launch)
      for (const [column, property] of facts) {
        const value = extents(cell(column))
        if (value !== '') launch.texts.set(property, value)
      }
      const device = cell('Device')
      const arch = cell('CC').replace('.', '')
      if (!this.devices.has(device))
        this.devices.set(device, {
          ...{ type: 'CUDA', id: device, arch, busWidthBits: 0, clockRateKHz: 0 },
          ...{ memoryClockRateKHz: 0, multiprocessors: 0 }
        })
    }
    return launch
  }

  private measure(launch: Launch, metric: string, unit: string, text: string, line: number): void {
    if (metric === '' || text === '') return
    if (text === 'n/a' || text === 'nan') {
      this.unsupported++
      return
    }
    const value = this.number(text, line)
    if (Number.isNaN(value)) {
      if (text.length <= longestText) launch.texts.set(metric, text)
      return
    }
    if (metric === 'device__attribute_multiprocessor_count') {
      const device = this.devices.get(launch.texts.get('device_id') ?? '')
      if (device) device.multiprocessors = value
    }
    // Hundreds of columns on the device, the same for every launch.
    if (metric.startsWith('device__attribute')) return
    const ns = nanoseconds.get(unit)
    if (ns !== undefined && (metric === 'gpu__time_duration.sum' || metric === 'Duration')) {
      launch.numbers.set(timeMetric, value * ns)
      return
    }
    const bytes = byteUnits.get(unit)
    if (bytes !== undefined) launch.numbers.set(`${metric} (byte)`, value * bytes)
    else launch.numbers.set(unitName(metric, unit), value)
  }

  /**
   * '1,234.5'. NaN: no number at all.
   * @throws UserError where a number is written for another country: 117.344 could be either there.
   */
  private number(text: string, line: number): number {
    if (/^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?(e[+-]?\d+)?$/i.test(text))
      return Number(text.replaceAll(',', ''))
    if (/^-?\d{1,3}(\.\d{3})*,\d+$|^-?\d{1,3}(\.\d{3}){2,}$/.test(text))
      throw new UserError(
        'usage',
        `${this.fileName}: line ${line}: '${text}' is a number with a decimal comma: run ncu with LC_ALL=C.`
      )
    return NaN
  }
}

/** Of a launch's own figures nothing is summed: those without a unit say so. Names with a dot or __ are ncu's own. */
function unitName(metric: string, unit: string): string {
  if (unit !== '') return `${metric} (${unit === 'hz' ? 'cycle/s' : unit})`
  return /__|\./.test(metric) ? metric : `${metric} (per launch)`
}

/** '(8, 4, 1)' -> '8 x 4 x 1' */
function extents(text: string): string {
  const sizes = /^\((\d+), ?(\d+), ?(\d+)\)$/.exec(text)
  return sizes ? sizes.slice(1).join(' x ') : text
}
