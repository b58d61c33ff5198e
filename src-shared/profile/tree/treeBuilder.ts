/** Grows the columns of a profile while a reader walks it in preorder. */
import { UserError } from '../../errors'
import { profileLimits } from './limits'
import type { ProfileDevice, ProfileFormat, ProfileTree, Samples, Vector } from './profileTree'
import { absent, writtenAsFloat, writtenAsInteger } from './profileTree'
import { StringTable } from './stringTable'

interface GrowingNumbers {
  name: string
  values: Float64Array<ArrayBuffer>
  written: Uint8Array<ArrayBuffer>
  exact: Map<number, bigint>
}

/** Proton 3.1's spelling of the four kernel metrics; every later version writes lower case. */
const titleCaseNames: ReadonlyMap<string, string> = new Map([
  ['Time (ns)', 'time (ns)'],
  ['Count', 'count'],
  ['DeviceId', 'device_id'],
  ['DeviceType', 'device_type']
])

export class TreeBuilder {
  readonly strings = new StringTable()
  readonly devices: ProfileDevice[] = []
  readonly vectors: Vector[] = []
  readonly warnings: string[] = []
  samples: Samples | null = null
  titleCase = false
  hasDeviceElement = true
  count = 0

  private capacity = 1024
  private parent = new Int32Array(this.capacity)
  private end = new Int32Array(this.capacity)
  private depth = new Int32Array(this.capacity)
  private name = new Int32Array(this.capacity)
  private frameType = new Int32Array(this.capacity)
  private current = -1
  private cells = 0
  private readonly numbers: GrowingNumbers[] = []
  private readonly texts: { name: string; values: Int32Array<ArrayBuffer> }[] = []
  /** Column of a metric name, by string id. */
  private readonly numberOf: (GrowingNumbers | undefined)[] = []
  private readonly textOf: ({ name: string; values: Int32Array<ArrayBuffer> } | undefined)[] = []

  /** Starts a child of the node that is open, or a root; returns its number. */
  open(): number {
    const node = this.count
    if (node >= profileLimits.nodes) {
      throw new UserError(
        'usage',
        `The profile has more than ${profileLimits.nodes} nodes, the most that can be opened; split it by phase.`
      )
    }
    if (node === this.capacity) this.grow()
    this.count++
    const parent = this.current
    const depth = parent < 0 ? 0 : this.depth[parent]! + 1
    if (depth > profileLimits.depth) {
      throw new UserError(
        'usage',
        `The profile nests deeper than ${profileLimits.depth} levels, the most that can be opened.`
      )
    }
    this.parent[node] = parent
    this.depth[node] = depth
    this.name[node] = -1
    this.frameType[node] = -1
    this.current = node
    return node
  }

  /** Ends the node that is open and reopens its parent. */
  close(): void {
    this.end[this.current] = this.count
    this.current = this.parent[this.current]!
  }

  get openNode(): number {
    return this.current
  }

  openDepth(): number {
    return this.current < 0 ? 0 : this.depth[this.current]! + 1
  }

  setName(node: number, stringId: number): void {
    this.name[node] = stringId
  }

  nameId(node: number): number {
    return this.name[node]!
  }

  setType(node: number, stringId: number): void {
    this.frameType[node] = stringId
  }

  /** metric is the string id of the metric's name as written in the file. */
  setNumber(node: number, metric: number, value: number, isFloat: boolean): void {
    const column = this.numberOf[metric] ?? this.addNumbers(metric)
    if (node >= column.values.length) this.growColumn(column)
    column.values[node] = value
    column.written[node] = isFloat ? writtenAsFloat : writtenAsInteger
  }

  /** An integer that a double cannot hold. */
  setBigInteger(node: number, metric: number, value: bigint): void {
    this.setNumber(node, metric, Number(value), false)
    this.numberOf[metric]!.exact.set(node, value)
  }

  addNumber(node: number, metric: number, value: number, isFloat: boolean): void {
    const column = this.numberOf[metric]
    const before = column?.written[node] ? column.values[node]! : 0
    this.setNumber(
      node,
      metric,
      before + value,
      isFloat || column?.written[node] === writtenAsFloat
    )
  }

  setText(node: number, metric: number, value: number): void {
    const column = this.textOf[metric] ?? this.addTexts(metric)
    if (node >= column.values.length) {
      const grown = new Int32Array(this.capacity).fill(-1)
      grown.set(column.values)
      this.reserve(grown.length - column.values.length)
      column.values = grown
    }
    column.values[node] = value
  }

  finish(format: ProfileFormat): ProfileTree {
    const count = this.count
    return {
      count,
      parent: this.parent.slice(0, count),
      end: this.end.slice(0, count),
      depth: this.depth.slice(0, count),
      name: this.name.slice(0, count),
      frameType: this.frameType.slice(0, count),
      strings: this.strings,
      numbers: this.numbers.map((column) => ({
        name: column.name,
        values: fit(column.values, count, new Float64Array(count)),
        written: fit(column.written, count, new Uint8Array(count)),
        exact: column.exact
      })),
      texts: this.texts.map((column) => ({
        name: column.name,
        values: fit(column.values, count, new Int32Array(count).fill(-1))
      })),
      vectors: this.vectors,
      samples: this.samples,
      devices: this.devices,
      format,
      titleCase: this.titleCase,
      hasDeviceElement: this.hasDeviceElement,
      warnings: this.warnings
    }
  }

  /** Today's spelling of a metric name. */
  private metricName(metric: number): string {
    const written = this.strings.text(metric)
    const current = titleCaseNames.get(written)
    if (current) this.titleCase = true
    return current ?? written
  }

  private addNumbers(metric: number): GrowingNumbers {
    const name = this.metricName(metric)
    let column = this.numbers.find((known) => known.name === name)
    if (!column) {
      this.checkColumns()
      column = { name, values: new Float64Array(0), written: new Uint8Array(0), exact: new Map() }
      this.numbers.push(column)
    }
    this.numberOf[metric] = column
    return column
  }

  private addTexts(metric: number) {
    const name = this.metricName(metric)
    let column = this.texts.find((known) => known.name === name)
    if (!column) {
      this.checkColumns()
      column = { name, values: new Int32Array(0) }
      this.texts.push(column)
    }
    this.textOf[metric] = column
    return column
  }

  private checkColumns(): void {
    if (this.numbers.length + this.texts.length >= profileLimits.columns) {
      throw new UserError(
        'usage',
        `The profile has more than ${profileLimits.columns} metric names, the most that can be opened.`
      )
    }
  }

  private reserve(cells: number): void {
    this.cells += cells
    if (this.cells > profileLimits.cells) {
      throw new UserError(
        'usage',
        `The profile has too many metric names for its ${this.count} nodes: more than ${profileLimits.cells} values.`
      )
    }
  }

  private growColumn(column: GrowingNumbers): void {
    const values = new Float64Array(this.capacity)
    const written = new Uint8Array(this.capacity).fill(absent)
    this.reserve(values.length - column.values.length)
    values.set(column.values)
    written.set(column.written)
    column.values = values
    column.written = written
  }

  private grow(): void {
    this.capacity *= 2
    this.parent = grownTo(this.parent, this.capacity)
    this.end = grownTo(this.end, this.capacity)
    this.depth = grownTo(this.depth, this.capacity)
    this.name = grownTo(this.name, this.capacity)
    this.frameType = grownTo(this.frameType, this.capacity)
  }
}

function grownTo(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(length)
  grown.set(array)
  return grown
}

/** Exactly count elements of a column that may have stopped short of, or grown past, the last node. */
function fit<T extends Float64Array | Uint8Array | Int32Array>(
  array: T,
  count: number,
  blank: T
): T {
  if (array.length >= count) return array.slice(0, count) as T
  blank.set(array)
  return blank
}
