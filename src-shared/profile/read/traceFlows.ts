/** Arrows from the call that launches to what it launches, as columns: Kineto writes one for each launch. */
import type { Timeline } from '../tree/timeline'
import { doubles, integers } from '../tree/growing'
import type { FinishedColumns } from './traceColumns'

export class TraceFlows {
  /** Of each category, the flow of an id. */
  private readonly starts = new Map<string, Map<number | string, number>>()
  private readonly startLane = integers()
  private readonly startNs = doubles()
  private starting = 0
  private readonly endCategory: string[] = []
  private readonly endId: (number | string)[] = []
  private readonly endLane = integers()
  private readonly endNs = doubles()

  start(category: string, id: number | string, lane: number, ns: number): void {
    let ofCategory = this.starts.get(category)
    if (!ofCategory) this.starts.set(category, (ofCategory = new Map()))
    ofCategory.set(id, this.starting++)
    this.startLane.push(lane)
    this.startNs.push(ns)
  }

  end(category: string, id: number | string, lane: number, ns: number): void {
    this.endCategory.push(category)
    this.endId.push(id)
    this.endLane.push(lane)
    this.endNs.push(ns)
  }

  /** Each flow is between the events that begin where it does. */
  between(columns: FinishedColumns): Timeline['flows'] {
    if (this.endId.length === 0) return []
    const [startLane, startNs] = [this.startLane.trimmed(), this.startNs.trimmed()]
    const [endLane, endNs] = [this.endLane.trimmed(), this.endNs.trimmed()]
    const lanes = new Set([...new Set(startLane), ...new Set(endLane)])
    const events = new EventsByStart(columns, lanes)
    return this.endId.flatMap((id, end) => {
      const start = this.starts.get(this.endCategory[end]!)?.get(id)
      if (start === undefined) return []
      const from = events.find(startLane[start]!, startNs[start]!)
      const to = events.find(endLane[end]!, endNs[end]!)
      return from < 0 || to < 0 ? [] : [{ from, to }]
    })
  }
}

/** Events of some lanes by when they begin. */
class EventsByStart {
  private readonly ofLane = new Map<number, number[]>()

  constructor(
    private readonly columns: FinishedColumns,
    lanes: ReadonlySet<number>
  ) {
    const { lane, startNs } = columns
    for (const index of lanes) this.ofLane.set(index, [])
    for (let event = 0; event < lane.length; event++) this.ofLane.get(lane[event]!)?.push(event)
    for (const events of this.ofLane.values()) events.sort((a, b) => startNs[a]! - startNs[b]!)
  }

  /** -1: none begins there. An annotation begins with the kernel that it surrounds: the flow is the shortest one's. */
  find(lane: number, ns: number): number {
    const { startNs, durationNs } = this.columns
    const events = this.ofLane.get(lane)
    if (!events) return -1
    let low = 0
    let high = events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (startNs[events[middle]!]! < ns) low = middle + 1
      else high = middle
    }
    let found = -1
    for (; low < events.length && startNs[events[low]!] === ns; low++) {
      const event = events[low]!
      if (found < 0 || durationNs[event]! < durationNs[found]!) found = event
    }
    return found
  }
}
