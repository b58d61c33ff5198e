/** Counters of a trace: of events ("ph": "C" of the Trace Event Format) one series for each argument of each name and process. */
import { doubles } from '../tree/growing'
import type { Counter } from '../tree/timeline'
import { isObject, property } from './jsonValue'

class Series {
  readonly ns = doubles()
  readonly values = doubles()

  constructor(
    readonly processId: string,
    readonly name: string
  ) {}

  add(ns: number, value: number): void {
    this.ns.push(ns)
    this.values.push(value)
  }
}

export class TraceCounters {
  private readonly series = new Map<string, Series>()

  /** False where it has no time or no number. `processId` as in the file. */
  take(event: Record<string, unknown>, processId: string): boolean {
    const us = property(event, 'ts')
    const args = property(event, 'args')
    if (typeof us !== 'number' || !Number.isFinite(us) || !isObject(args)) return false
    const of = String(property(event, 'name') ?? '')
    const id = property(event, 'id')
    const own = id === undefined ? of : `${of}[${String(id)}]`
    const numbers = Object.entries(args).filter(
      (pair): pair is [string, number] => typeof pair[1] === 'number' && Number.isFinite(pair[1])
    )
    const isAlone = Object.keys(args).length === 1
    for (const [key, value] of numbers)
      this.of(processId, isAlone ? own : `${own}, ${key}`).add(us * 1000, value)
    return numbers.length > 0
  }

  /** One series, for who has samples of it by the million. */
  of(processId: string, name: string): Pick<Series, 'add'> {
    const key = `${processId}\0${name}`
    let series = this.series.get(key)
    if (!series) this.series.set(key, (series = new Series(processId, name)))
    return series
  }

  /** @param processOf the name of a process by its id */
  finish(processOf: (processId: string) => string): Counter[] {
    const sampled = [...this.series.values()].filter(({ ns }) => ns.length > 0)
    return sampled.map(({ name, processId, ns, values }) => ({
      ...{ name, processId, process: processOf(processId) },
      ...inOrder(ns.trimmed(), values.trimmed())
    }))
  }
}

type Samples = Pick<Counter, 'ns' | 'value'>

function inOrder(ns: Float64Array<ArrayBuffer>, value: Float64Array<ArrayBuffer>): Samples {
  if (ns.every((at, place) => place === 0 || at >= ns[place - 1]!))
    return { ns: ns.slice(), value: value.slice() }
  const order = Uint32Array.from(ns.keys()).sort((a, b) => ns[a]! - ns[b]! || a - b)
  return {
    ns: Float64Array.from(order, (place) => ns[place]!),
    value: Float64Array.from(order, (place) => value[place]!)
  }
}
