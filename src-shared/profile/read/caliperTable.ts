/** Records of Caliper (https://software.llnl.gov/Caliper/): a path of regions and values, summed over ranks and threads. */
import { PathTree } from '../tree/pathTree'
import { timeMetric, type ProfileTree } from '../tree/profileTree'
import { nanosecondsOf } from './timeUnits'

export interface CaliperColumn {
  /** As in the file: 'sum#time.duration'. */
  name: string
  /** 'sec'; '' where the file has none. */
  unit: string
}

/** Of several records of one path: how a column is put together, by what Caliper calls it. */
type Join = 'sum' | 'min' | 'max'

/** Own time, the best known first: what services and aggregations of all versions call it. */
const ownTime = [
  'sum#time.duration',
  'sum#time.duration.ns',
  'sum#sum#time.duration',
  'sum#sum#time.duration.ns',
  'time.duration',
  'time.duration.ns',
  'time'
]

export class CaliperTable {
  private readonly paths = new PathTree()
  private readonly values = new Map<string, Map<number, { value: number; count: number }>>()
  private readonly units = new Map<string, string>()
  records = 0

  add(path: readonly string[], values: readonly (readonly [CaliperColumn, number])[]): void {
    const node = this.paths.at(path)
    this.records++
    for (const [{ name, unit }, value] of values) {
      let column = this.values.get(name)
      if (!column) this.values.set(name, (column = new Map()))
      this.units.set(name, unit)
      const known = column.get(node)
      if (!known) column.set(node, { value, count: 1 })
      else {
        known.value = joinedBy(joinOf(name), known.value, value)
        known.count++
      }
    }
  }

  finish(): ProfileTree {
    const time = ownTime.find((name) => this.values.has(name))
    const averaged: string[] = []
    for (const [name, column] of this.values) {
      const isTime = name === time
      const factor = isTime ? this.nanoseconds(name) : 1
      const metric = isTime
        ? timeMetric
        : name.startsWith('inclusive#') || /#inclusive#/.test(name)
          ? `${name} (inc)`
          : name
      let isAverage = false
      for (const [node, { value, count }] of column) {
        const isMean = count > 1 && /^(?:avg|mean)#/.test(name)
        isAverage ||= isMean
        const shown = (isMean ? value / count : value) * factor
        this.paths.addNumber(node, metric, shown, !Number.isInteger(shown))
      }
      if (isAverage) averaged.push(name)
    }
    const tree = this.paths.finish('caliper', [], true)
    for (const name of averaged)
      tree.warnings.push(`${name} is the mean of its records where a region has several.`)
    return tree
  }

  /** Caliper's time is in seconds unless its name or unit says otherwise. */
  private nanoseconds(name: string): number {
    const unit = this.units.get(name) || (name.endsWith('.ns') ? 'ns' : 'sec')
    return nanosecondsOf(unit) ?? 1e9
  }
}

function joinOf(name: string): Join {
  if (name.startsWith('min#')) return 'min'
  return name.startsWith('max#') ? 'max' : 'sum'
}

function joinedBy(join: Join, a: number, b: number): number {
  if (join === 'min') return Math.min(a, b)
  return join === 'max' ? Math.max(a, b) : a + b
}
